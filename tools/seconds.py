"""A plugin of pytest: writes how long tests take into `tests/seconds.json`, for the sample.

    make test-all PYTEST_ARGS="-p tools.seconds"

Functions that did not run keep their time, those that are gone go.
"""

import json
from pathlib import Path
from statistics import fmean

import pytest

from tests.sample import LONG, TABLE, function_of, seconds

_took: dict[str, list[float]] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the time of a test, without what it shares with its module."""
    if report.when == "call" and report.passed and ".ipynb" not in report.nodeid:
        _took.setdefault(function_of(report.nodeid), []).append(report.duration)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the table; what a worker of pytest-xdist ran is written by the process that asked."""
    if hasattr(session.config, "workerinput"):
        return
    times = seconds() | {name: float(f"{fmean(took):.2g}") for name, took in _took.items()}
    kept = {name: time for name, time in sorted(times.items()) if time > LONG and _exists(name)}
    TABLE.write_text(json.dumps(kept, indent=0) + "\n", "utf-8")


def _exists(name: str) -> bool:
    file, _, function = name.partition("::")
    path = Path(TABLE.parent.parent, file)
    return path.is_file() and f"def {function.rpartition('::')[2]}(" in path.read_text("utf-8")
