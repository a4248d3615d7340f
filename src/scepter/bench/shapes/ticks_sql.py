"""The ticks' text as tables of other systems: what every hand-written query begins with.

A tick's name ends in its time, so that nothing but the line of its price has to be read: that is in favour of the yardsticks,
which are spared to join each event with the line that tells its time.
"""

from __future__ import annotations

from typing import Final

TICKS: Final = """
WITH ticks AS MATERIALIZED (
  SELECT s AS company, CAST(g[26:-2] AS BIGINT) AS t,
         CAST(replace(o[2:strpos(o, '^') - 2], '.', '') AS BIGINT) AS cents
  FROM read_csv('{0}', delim = ' ', header = false, quote = '', escape = '', auto_detect = false, null_padding = true,
                columns = {{'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR', 'g': 'VARCHAR', 'dot': 'VARCHAR'}})
  WHERE p = '<http://example.org/stock#price>'
)
"""
"""For DuckDB: company, time in milliseconds, price in cents."""

_BLOCK: Final = 24

_V_SHAPE: Final = """, numbered AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY company ORDER BY t) AS n FROM ticks
), blocks AS MATERIALIZED (
  SELECT company, n // {block} AS block, max(cents) AS high, min(cents) AS low, min(t) AS first
  FROM numbered GROUP BY ALL
), rise_block AS (  -- the first block after its own in which a price is high enough
  SELECT a.company, a.n, min(b.block) AS block
  FROM numbered a JOIN blocks b ON a.company = b.company AND b.block > a.n // {block} AND b.first <= a.t + {window}
   AND 100 * b.high >= 102 * a.cents
  GROUP BY ALL
), rise AS MATERIALIZED (  -- the first tick 2 % above
  SELECT a.company, a.n, any_value(a.t) AS t, min(b.n) AS next
  FROM numbered a LEFT JOIN rise_block r ON a.company = r.company AND a.n = r.n
  JOIN numbered b ON b.company = a.company AND b.n // {block} IN (a.n // {block}, r.block)
   AND b.n > a.n AND 100 * b.cents >= 102 * a.cents AND b.t <= a.t + {window}
  GROUP BY ALL
), top AS MATERIALIZED (
  SELECT r.company, r.n, r.t, r.next, b.cents FROM rise r JOIN numbered b ON r.company = b.company AND r.next = b.n
), fall_block AS (
  SELECT a.company, a.n, min(b.block) AS block
  FROM top a JOIN blocks b ON a.company = b.company AND b.block > a.next // {block} AND b.first <= a.t + {window}
   AND 100 * b.low <= 98 * a.cents
  GROUP BY ALL
)
SELECT count(*) FROM (  -- whether any tick 2 % below that one is within the window
  SELECT DISTINCT a.company, a.n
  FROM top a LEFT JOIN fall_block f ON a.company = f.company AND a.n = f.n
  JOIN numbered c ON c.company = a.company AND c.n // {block} IN (a.next // {block}, f.block)
   AND c.n > a.next AND 100 * c.cents <= 98 * a.cents AND c.t <= a.t + {window})
"""


def v_shape(window: int) -> str:
    """2 % up, then 2 % down, skip-till-next, which SQL has no operator for: blocks of ticks with their highest and lowest price
    keep the joins small."""
    return TICKS + _V_SHAPE.replace("{block}", str(_BLOCK)).replace("{window}", str(window))


# Flink leaves out what is exactly as long as the interval, hence a millisecond more below.
_FLINK_TICKS: Final = """
CREATE TEMPORARY TABLE lines (line STRING) WITH ('connector' = 'filesystem', 'path' = '{0}', 'format' = 'raw');
CREATE TEMPORARY VIEW prices AS SELECT SPLIT_INDEX(line, ' ', 0) AS company,
  TO_TIMESTAMP_LTZ(CAST(REGEXP_EXTRACT(line, '/tick/([0-9]+)', 1) AS BIGINT), 3) AS ts,
  CAST(REPLACE(REGEXP_EXTRACT(line, '"([0-9.]+)"', 1), '.', '') AS BIGINT) AS cents
  FROM lines WHERE SPLIT_INDEX(line, ' ', 1) = '<http://example.org/stock#price>';
"""


def flink_v_shape(seconds: int) -> str:
    """The same as MATCH_RECOGNIZE: what is skipped is what would not have been taken, else it tries later ticks too."""
    return (
        _FLINK_TICKS
        + f"""SELECT COUNT(*) FROM prices MATCH_RECOGNIZE (
PARTITION BY company ORDER BY ts MEASURES A.cents AS p1, B.cents AS p2, C.cents AS p3
ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
PATTERN (A X* B Y* C) WITHIN INTERVAL '{seconds}.001' SECOND(4, 3)
DEFINE X AS 100 * X.cents < 102 * A.cents, B AS 100 * B.cents >= 102 * A.cents,
 Y AS 100 * Y.cents > 98 * B.cents, C AS 100 * C.cents <= 98 * B.cents)"""
    )


def strict(window: int, conditions: str, clauses: int) -> str:
    """Ticks of a company that follow each other at once: p1, p2, … are their prices, t1 and the last t their times."""
    leads = ", ".join(f"lead(cents, {n}) OVER w AS p{n + 1}, lead(t, {n}) OVER w AS t{n + 1}" for n in range(1, clauses))
    return (
        TICKS
        + f"SELECT count(*) FROM (SELECT cents AS p1, t AS t1, {leads} FROM ticks "
        + f"WINDOW w AS (PARTITION BY company ORDER BY t)) WHERE {conditions} AND t{clauses} - t1 <= {window}"
    )


def strict_rows(window: int, conditions: str, clauses: int) -> str:
    """The same as rows: the company, the prices, the first time and the last."""
    leads = ", ".join(f"lead(cents, {n}) OVER w AS p{n + 1}, lead(t, {n}) OVER w AS t{n + 1}" for n in range(1, clauses))
    shown = ", ".join(f"p{n} / 100 AS p{n}" for n in range(1, clauses + 1))
    return (
        TICKS
        + f"SELECT t1, t{clauses}, company, {shown} FROM (SELECT company, cents AS p1, t AS t1, {leads} FROM ticks "
        + f"WINDOW w AS (PARTITION BY company ORDER BY t)) WHERE {conditions} AND t{clauses} - t1 <= {window} "
        + f"ORDER BY t{clauses}, t1"
    )


def flink_strict(seconds: int, define: str, clauses: int) -> str:
    """The same as MATCH_RECOGNIZE over the letters A, B, …"""
    letters = "ABCDEFGHI"[:clauses]
    return (
        _FLINK_TICKS
        + f"""SELECT COUNT(*) FROM prices MATCH_RECOGNIZE (
PARTITION BY company ORDER BY ts MEASURES A.cents AS p1
ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
PATTERN ({" ".join(letters)}) WITHIN INTERVAL '{seconds}.001' SECOND(4, 3) DEFINE {define})"""
    )


def any_pairs(window: int) -> str:
    """Skip-till-any is a join: buckets of time as wide as the window make it an equality."""
    return (
        TICKS
        + f""", later AS (SELECT *, t // {window} AS bucket FROM ticks UNION ALL SELECT *, t // {window} - 1 FROM ticks)
SELECT count(*) FROM ticks a JOIN later b ON a.company = b.company AND a.t // {window} = b.bucket
 AND b.t > a.t AND b.t - a.t <= {window} AND 100 * b.cents < 97 * a.cents"""
    )


def pair_rows(window: int) -> str:
    """The same as rows."""
    return (
        TICKS
        + f""", later AS (SELECT *, t // {window} AS bucket FROM ticks UNION ALL SELECT *, t // {window} - 1 FROM ticks)
SELECT a.t AS t1, b.t AS t2, a.company AS company, a.cents / 100 AS p1, b.cents / 100 AS p2
 FROM ticks a JOIN later b ON a.company = b.company AND a.t // {window} = b.bucket
 AND b.t > a.t AND b.t - a.t <= {window} AND 100 * b.cents < 97 * a.cents ORDER BY b.t, a.t"""
    )


def spark_pairs(seconds: int) -> str:
    """The same as a join of the stream with itself."""
    parts = """regexp_extract(value, '^(\\\\S+)', 1) AS {0}_company,
  cast(regexp_extract(value, '"([0-9.]+)"', 1) AS decimal(18, 2)) AS {0}_price,
  timestamp_millis(cast(regexp_extract(value, '/tick/([0-9]+)', 1) AS bigint)) AS {0}_time
  FROM lines WHERE value LIKE '%stock#price>%'"""
    return f"""CREATE OR REPLACE TEMPORARY VIEW a AS SELECT {parts.format("a")};
CREATE OR REPLACE TEMPORARY VIEW b AS SELECT {parts.format("b")};
SELECT a_company, a_price, b_price FROM a WATERMARK a_time DELAY OF INTERVAL 0 SECONDS AS x
JOIN b WATERMARK b_time DELAY OF INTERVAL 0 SECONDS AS y ON a_company = b_company AND b_time > a_time
 AND b_time <= a_time + INTERVAL {seconds} SECONDS AND b_price < a_price * 0.97"""
