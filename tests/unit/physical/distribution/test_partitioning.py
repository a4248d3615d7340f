"""One test per way to divide the work, and per thing that stands in its way."""

from __future__ import annotations

import pytest

from scepter.algebra.query import Query
from scepter.algebra.walk import find
from scepter.lower import lower
from scepter.physical.distribution.partitioning import Partitioning, PartitionKind, begins_only, partitioning, sequence_division
from scepter.physical.planning.sequence_planner import plan_query
from scepter.physical.sequence_plan import QueryPlan

GPMS = {
    "A": "?c :price ?p1",
    "B": "?c :price ?p2",
    "C": "?c :price ?p3",
    "D": "?d :other ?x",
    "N": "?c :halted ?h",
    "M": "?m :closed true",
    "O": "?s :volume ?v OPTIONAL { ?s :of ?c }",
    "K": "?c :price ?k . ?c :in ?country",
    "L": "?c :in ?country",
}


def planned(sequence: str, within: str = "WITHIN 10", select: str = "SELECT ?c") -> QueryPlan:
    used = [name for name in GPMS if name in sequence]
    definitions = "\n".join(f"DEFINE GPM {name} ON S {{ {GPMS[name]} }}" for name in used)
    text = f"""PREFIX : <http://e/>
    {select} {within} FROM STREAM S <http://e/s> WHERE {{ SEQ ({sequence}) {definitions} }}"""
    (query,) = find(lower(text, "spaseq").program, Query)
    return plan_query(query)


def divided(sequence: str, within: str = "WITHIN 10", select: str = "SELECT ?c") -> Partitioning:
    return partitioning(planned(sequence, within, select))


@pytest.mark.parametrize("within", ["", "WITHIN 10", "WITHIN 10 SLIDING"])
@pytest.mark.parametrize("sequence", ["A; B", "A : B; C", "A; B?; C", "A; N!; B", "N!; A; B", "(A & L); (B | C)"])
def test_a_variable_that_every_step_joins_on_is_the_key(sequence: str, within: str) -> None:
    found = divided(sequence, within)
    assert found.kind is PartitionKind.KEY
    assert found.variables == ("c",)
    assert "each part binds ?c" in found.why


def test_all_such_variables_make_the_key() -> None:
    assert divided("K; L").variables == ("c", "country")
    assert "?c and ?country" in divided("K; L").why


def test_the_slots_are_those_of_the_variables() -> None:
    found = divided("L; K")
    assert len(found.slots) == len(found.variables) == 2


@pytest.mark.parametrize("sequence", ["A, B", "A; B+", "A; B, C", "A; B?, C", "A; N!, B"])
def test_strict_contiguity_over_the_streamset_forbids_a_key(sequence: str) -> None:
    assert divided(sequence).kind is PartitionKind.TUMBLING
    assert divided(sequence, "WITHIN 10 SLIDING").kind is PartitionKind.SLICES
    assert "',' looks at every event of the streamset" in divided(sequence).why


@pytest.mark.parametrize("sequence", ["A; M!; B", "M!; A; B", "A; B; M!"])
def test_a_negation_without_the_variable_forbids_a_key(sequence: str) -> None:
    found = divided(sequence)
    assert found.kind is PartitionKind.TUMBLING
    assert "M! looks at events that do not bind ?c" in found.why


def test_a_first_iteration_that_binds_it_anew_forbids_a_key() -> None:
    found = divided("B+; C")
    assert found.kind is PartitionKind.TUMBLING
    assert "B+ binds ?c" in found.why


def test_a_variable_that_is_not_certain_is_no_key() -> None:
    found = divided("A; O")
    assert found.kind is PartitionKind.TUMBLING
    assert "no variable is bound by every GPM" in found.why


def test_one_scan_of_a_conjunction_without_it_is_enough_to_forbid_it() -> None:
    assert divided("(A & D); B").kind is PartitionKind.TUMBLING


def test_windows_divide_what_no_key_does() -> None:
    assert divided("A; D").kind is PartitionKind.TUMBLING
    assert "one window of 10 time units" in divided("A; D").why


@pytest.mark.parametrize(("sequence", "look_back"), [("A; D", False), ("N!; D; A", True), ("A; D; N!", False)])
def test_a_sliding_window_gives_slices(sequence: str, look_back: bool) -> None:
    found = divided(sequence, "WITHIN 10 SECONDS SLIDING")
    assert found.kind is PartitionKind.SLICES
    assert found.look_back is look_back
    assert "10 s" in found.why


def test_without_key_and_window_matches_are_divided_by_their_first_event() -> None:
    found = divided("A; D", "")
    assert found.kind is PartitionKind.GRID and found.variables == ("the first event",)


@pytest.mark.parametrize(
    ("select", "sequence", "within", "history", "live"),
    [
        ("SELECT ?p1", "A; D", "WITHIN 10 SLIDING", PartitionKind.SLICES, PartitionKind.GRID),
        ("SELECT DISTINCT ?p1", "A; D", "WITHIN 10 SLIDING", PartitionKind.SLICES, PartitionKind.GRID),
        ("ASK", "A; D", "WITHIN 10 SLIDING", PartitionKind.SLICES, PartitionKind.GRID),
        ("SELECT ?p1", "A; D", "WITHIN 10", PartitionKind.TUMBLING, PartitionKind.TUMBLING),
        ("SELECT ?p1", "A; B", "WITHIN 10", PartitionKind.KEY, PartitionKind.KEY),
        ("SELECT DISTINCT ?p1", "A; D", "", PartitionKind.GRID, PartitionKind.GRID),
        ("SELECT ?p1", "A; D", "AFTER MATCH SKIP TO NEXT", PartitionKind.ONE, PartitionKind.ONE),
    ],
)
def test_live_there_are_no_slices(select: str, sequence: str, within: str, history: PartitionKind, live: PartitionKind) -> None:
    plan = planned(sequence, within, select)
    assert (sequence_division(plan, live=False), sequence_division(plan, live=True)) == (history, live)


@pytest.mark.parametrize(
    ("sequence", "begins"),
    [
        ("A; D", "A"),
        ("A; D; B", "A"),
        ("A; D; A", ""),
        ("A+; D", ""),
        ("N!; A; D", "A"),
        ("(A & L); D", "AL"),
        ("A?; D; B", ""),
        ("A; D; A!", ""),
    ],
)
def test_what_begins_matches_and_does_nothing_else_goes_to_one_bucket(sequence: str, begins: str) -> None:
    plan = planned(sequence, "WITHIN 10 SLIDING")
    assert [plan.scans[scan].label for scan in sorted(begins_only(plan))] == list(begins)


def test_counted_events_are_those_of_the_whole_streamset() -> None:
    found = divided("A; B", "WITHIN 10 EVENTS")
    assert found.kind is PartitionKind.GRID
    assert "WITHIN 10 EVENTS counts the events of the whole streamset" in found.why


@pytest.mark.parametrize("within", ["WITHIN 10", "WITHIN 10 SLIDING", "WITHIN 10 EVENTS"])
@pytest.mark.parametrize("sequence", ["A; B", "A, B", "A; N!, B", "B+; C"])
def test_partition_by_decides(sequence: str, within: str) -> None:
    found = divided(sequence, f"{within} PARTITION BY (?c)")
    assert found.kind is PartitionKind.KEY
    assert found.variables == ("c",)
    assert "PARTITION BY" in found.why


@pytest.mark.parametrize(
    ("select", "merges"),
    [
        ("SELECT ?c", False),
        ("SELECT ?p1", False),
        ("SELECT DISTINCT ?c ?p1", False),
        ("SELECT DISTINCT ?p1", True),
        ("SELECT DISTINCT (STR(?c) AS ?t)", True),
        ("ASK", True),
        ("CONSTRUCT { ?c a :X }", False),
    ],
)
def test_rows_of_two_keys_may_be_one_row_of_the_answer(select: str, merges: bool) -> None:
    assert divided("A; B", select=select).merges is merges


def test_windows_never_share_a_row_but_share_the_first_answer() -> None:
    assert not divided("A; D", select="SELECT DISTINCT ?p1").merges
    assert divided("A; D", select="ASK").merges
