"""What there is to run."""

from __future__ import annotations

import pytest

from scepter.bench.workloads import every, selected
from scepter.errors import OptionError


def test_every_workload_says_what_it_follows() -> None:
    found = every()
    assert "spaseq-v-shape" in found
    for name, workload in found.items():
        assert workload.name == name
        assert workload.follows and workload.axis, name


def test_names_and_what_they_begin_with() -> None:
    assert selected([]) == list(every().values())
    assert [w.name for w in selected(["spaseq-v-shape-3"])] == ["spaseq-v-shape-3"]
    assert [w.name for w in selected(["spaseq-v-shape"])] == ["spaseq-v-shape", "spaseq-v-shape-3"]


def test_an_unknown_workload() -> None:
    with pytest.raises(OptionError, match="there is no workload 'spaseq-v-shap'; did you mean spaseq-v-shape"):
        selected(["spaseq-v-shap"])
    with pytest.raises(OptionError, match=r"there is no workload 'xyz'\n"):
        selected(["xyz"])
