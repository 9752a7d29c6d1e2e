"""Settings of tests and notebooks, also of a notebook that is run alone: the environment, and which
tests run."""

import os
import tempfile

import pytest

from tests.sample import COLLECTED, part_of, sampled, seconds

SURROUNDINGS = {"SVODVIZ_DROPPED": "error", "SVODVIZ_MACHINE": "x86-avx512"}
"""What the compiler is told here, in processes that tests start and in notebooks: a choice of its
own that does not apply is an error, and loops are chosen for the same machine everywhere, unless
whoever runs the tests names another: `make aarch64` does."""


def pytest_configure(config: pytest.Config) -> None:
    """Notebooks have no fixtures, so the environment is set here; nothing is kept in the caches of
    whoever runs the tests."""
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    caches = tempfile.TemporaryDirectory(prefix="svodviz-caches-", ignore_cleanup_errors=True)
    config.add_cleanup(caches.cleanup)
    patch.setenv("XDG_CACHE_HOME", caches.name)
    for name, value in SURROUNDINGS.items():
        if name != "SVODVIZ_MACHINE" or name not in os.environ:
            patch.setenv(name, value)


def pytest_addoption(parser: pytest.Parser) -> None:
    """See `sample.py`."""
    group = parser.getgroup("svodviz")
    group.addoption("--sample", type=int, metavar="SEED", help="each value of each parameter once")
    group.addoption("--part", metavar="K/N", help="a part of all tests, without the sample")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Says which tests run, so that the same ones can be run again."""
    seed, part = config.getoption("sample"), config.getoption("part")
    if seed is None:
        return None
    left_out = "" if part is None else f"; part {part} of all tests, without it"
    return f"sample of tests: TEST_SEED={seed} repeats it{left_out}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the sample that is asked for, or a part of the rest."""
    names = [item.nodeid for item in items]
    config.stash[COLLECTED] = frozenset(names)
    seed, part = config.getoption("sample"), config.getoption("part")
    if seed is None:
        return
    times = seconds()
    chosen = sampled(names, seed, times) if part is None else part_of(names, seed, part, times)
    config.hook.pytest_deselected(items=[it for n, it in enumerate(items) if n not in chosen])
    items[:] = [item for n, item in enumerate(items) if n in chosen]
