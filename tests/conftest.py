from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# No test is timed, nor is what draws its examples: the machine may be busy. In continuous integration the random tests always
# draw the same examples: a failure is a change's doing.
settings.register_profile(
    "scepter", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("scepter")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-fixtures",
        action="store_true",
        help="write what the code gives into the fixture files instead of comparing; then read the diff",
    )


@pytest.fixture
def update_fixtures(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-fixtures"))
