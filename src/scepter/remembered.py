"""What is made of large things again and again, made once.

A program's units all ask for the schema of one ontology, and a plan is made twice: with 40,000 classes each asking would cost
a second. Equality of such things costs as much again, so that they are told apart by what they are, not by what they hold.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def remembered(most: int) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Keep the results of the last few calls, by the identity of their arguments, which nobody may change afterwards. The
    arguments are kept too, so that nothing else can have their place in memory.

    >>> @remembered(most=2)
    ... def doubled(things: list[int]) -> list[int]:
    ...     return things * 2
    >>> given = [1]
    >>> doubled(given) is doubled(given), doubled(given) is doubled([1])
    (True, False)
    """

    def remembering(make: Callable[_P, _T]) -> Callable[_P, _T]:
        kept: OrderedDict[tuple[object, ...], tuple[object, _T]] = OrderedDict()

        @wraps(make)
        def made(*given: _P.args, **named: _P.kwargs) -> _T:
            key = (*map(id, given), *((name, id(each)) for name, each in named.items()))
            if key not in kept:
                kept[key] = (given, named), make(*given, **named)
                while len(kept) > most:
                    kept.popitem(last=False)
            return kept[key][1]

        return made

    return remembering
