"""The values of literals: exact numbers, strings, dates, durations, and SPARQL's comparison and arithmetic over them.

>>> from scepter.rdf.terms import Literal, XSD
>>> equals(Literal("2", XSD + "integer"), Literal("2.0E0", XSD + "double"))
True
"""

from scepter.rdf.values.arithmetic import arithmetic, calculate, negated
from scepter.rdf.values.comparison import (
    OrderKey,
    effective_boolean_value,
    equal_values,
    equals,
    less,
    less_or_equal,
    less_values,
    order_key,
)
from scepter.rdf.values.literals import (
    BOOLEAN,
    CASTS,
    DATETIME,
    DECIMAL,
    DOUBLE,
    FALSE,
    FLOAT,
    INTEGER,
    INTEGER_TYPES,
    NUMERIC_TYPES,
    TRUE,
    LangString,
    Value,
    boolean,
    number_of,
    to_literal,
    value_of,
    value_or_none,
)
from scepter.rdf.values.numeric import ExpressionError, Number, Single
from scepter.rdf.values.temporal import Date, DateTime, Duration, DurationKind, Time

__all__ = [
    "BOOLEAN",
    "CASTS",
    "DATETIME",
    "DECIMAL",
    "DOUBLE",
    "FALSE",
    "FLOAT",
    "INTEGER",
    "INTEGER_TYPES",
    "NUMERIC_TYPES",
    "TRUE",
    "Date",
    "DateTime",
    "Duration",
    "DurationKind",
    "ExpressionError",
    "LangString",
    "Number",
    "OrderKey",
    "Single",
    "Time",
    "Value",
    "arithmetic",
    "boolean",
    "calculate",
    "effective_boolean_value",
    "equal_values",
    "equals",
    "less",
    "less_or_equal",
    "less_values",
    "negated",
    "number_of",
    "order_key",
    "to_literal",
    "value_of",
    "value_or_none",
]
