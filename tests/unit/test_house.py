"""The house itself: where tests stand, what modules are called, how long files and argument lists may be."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "scepter"
UNIT = ROOT / "tests" / "unit"
ROOMS = ("kernel", "optimizer", "physical", "runtime")
"""The rooms from algebra to matches, in which a module's name alone has to say what it is."""
BESIDE = {"naive": ROOT / "tests" / "naive", "tools": ROOT / "tools"}
"""Folders of tests of what does not stand in `src`."""
MOST_LINES = 450
MOST_ARGUMENTS = 12
_COMPILES = re.compile(r"\b(njit|inner|inlined|shared|_near)\b")


def modules(*rooms: str) -> Iterator[Path]:
    for room in rooms:
        yield from (path for path in sorted((SOURCE / room).rglob("*.py")) if path.stem != "__init__")


def test_unit_tests_mirror_the_source() -> None:
    """A test stands in its module's folder, or in the folder of what it tests under a name that no module has."""
    folders = defaultdict(set)
    for path in modules("."):
        folders[path.stem].add(path.parent.relative_to(SOURCE))
        if path.parent != SOURCE:
            folders[path.parent.name].add(path.parent.parent.relative_to(SOURCE))
    wrong = []
    for test in sorted(UNIT.rglob("test_*.py")):
        folder, name = test.parent.relative_to(UNIT), test.stem.removeprefix("test_")
        if folder.parts and folder.parts[0] in BESIDE:
            continue
        if not (SOURCE / folder).is_dir() or (name in folders and folder not in folders[name]):
            wrong.append(str(test.relative_to(ROOT)))
    assert not wrong, f"these tests stand elsewhere than what they are named after: {wrong}"


def test_no_two_modules_of_the_rooms_share_a_name() -> None:
    found = defaultdict(list)
    for path in modules(*ROOMS):
        found[path.stem].append(str(path.relative_to(SOURCE)))
    assert not {name: paths for name, paths in found.items() if len(paths) > 1}


def test_modules_of_the_rooms_are_named_after_what_they_do() -> None:
    """Not after the language that needed them first."""
    words = ("timed", "windowed", "continuous", "spaseq", "epsparql", "obep", "rsepql", "sparkwave")
    assert not [str(path.relative_to(SOURCE)) for path in modules(*ROOMS) if set(path.stem.split("_")) & {*words}]


def test_no_file_is_long() -> None:
    lengths = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in modules(*ROOMS, "rdf")}
    assert not {path: length for path, length in lengths.items() if length > MOST_LINES}


def test_public_methods_are_told() -> None:
    """By a docstring of their own, or by the contract that they fulfil: a Protocol of the rooms, or a class they inherit from.
    What a contract says is not said again (decision 0650)."""
    told: defaultdict[str, set[str]] = defaultdict(set)
    bases: defaultdict[str, set[str]] = defaultdict(set)
    methods: list[tuple[str, str, str]] = []
    for path in modules(*ROOMS):
        for each in ast.parse(path.read_text()).body:
            if not isinstance(each, ast.ClassDef):
                continue
            bases[each.name] |= {ast.unparse(base).split("[")[0].split(".")[-1] for base in each.bases}
            for method in each.body:
                if isinstance(method, ast.FunctionDef) and (ast.get_docstring(method) or "Protocol" in bases[each.name]):
                    told[each.name].add(method.name)
                elif isinstance(method, ast.FunctionDef) and not each.name.startswith("_"):
                    methods.append((str(path.relative_to(SOURCE)), each.name, method.name))
    contracts = set().union(*(told[name] for name, above in bases.items() if "Protocol" in above))

    def inherited(name: str, below: frozenset[str] = frozenset()) -> set[str]:
        above = bases[name] - below  # a class may have the name of the one that it inherits from, in another module
        return told[name].union(*(inherited(base, below | {name}) for base in above))

    untold = [each for each in methods if not each[2].startswith("_") and each[2] not in contracts | inherited(each[1])]
    assert len(methods) > 50 and {"process", "dump", "save"} <= contracts
    assert not untold, f"no docstring, and no contract that has one: {untold}"


def test_compiled_functions_take_few_arguments() -> None:
    """Many arrays that belong together are a NamedTuple, which numba takes as it is."""
    found = {}
    for path in modules("kernel"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and _COMPILES.search(" ".join(map(ast.unparse, node.decorator_list))):
                count = len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
                found[f"{path.relative_to(SOURCE)}:{node.name}"] = count
    assert len(found) > 50, "the search for compiled functions finds none"
    assert not {name: count for name, count in found.items() if count > MOST_ARGUMENTS}


def test_compiled_functions_make_columns_by_the_allocator() -> None:
    """Numba compiles functions of its own for each kind and shape of `np.empty`, `np.zeros` and `np.full` (decision 0295)."""
    found = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in modules("kernel", "lift", "rdf", "runtime")
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef) and any(_COMPILES.search(ast.unparse(d)) for d in function.decorator_list)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("np.empty", "np.zeros", "np.full")
    ]
    assert not found, f"use `fresh`, `zeroed` or `filled` instead: {found}"


def test_tests_that_need_a_jvm_stand_where_make_looks_for_them() -> None:
    """`make test` runs its second half over these folders alone, and leaves what is marked out of the first."""
    (folders,) = re.findall(r"pytest -m spark (.+)", (ROOT / "Makefile").read_text("utf-8"))
    marks = re.compile(r"mark" + r"\.spark\b")
    marked = {path for path in (ROOT / "tests").rglob("*.py") if marks.search(path.read_text("utf-8"))}
    assert marked and {path.relative_to(ROOT).parts[1] for path in marked} <= {Path(each).name for each in folders.split()}
