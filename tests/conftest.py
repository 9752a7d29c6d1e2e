"""Settings for every test: the order, how Hypothesis draws, when a browser test may be skipped."""

import gc
import os
from collections.abc import Generator, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from compiler.core import garbage
from compiler.distributed.local import describe_main
from tests.sample import IN_ORDER, function_of, seconds

# Modules of one server and one page of JupyterLab, which takes ten seconds of a processor to open.
TOGETHER = (IN_ORDER,)

# The first call of a compiled program includes its compilation, so no example has a deadline.
settings.register_profile("svodviz", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("svodviz")


_begun: dict[str, dict[str, Any]] = {}


@pytest.fixture(autouse=True)
def _the_same_numbers(request: pytest.FixtureRequest) -> None:
    """Each test draws from `RNG` of its module what it draws when it is run alone; so the engines
    of one test are given the same program, which is then compiled once (`evaluate.py`)."""
    numbers = getattr(request.module, "RNG", None)
    if isinstance(numbers, np.random.Generator):
        begun = _begun.setdefault(request.module.__name__, numbers.bit_generator.state)
        numbers.bit_generator.state = begun


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """The client of a cluster of two processes, one thread each, for all tests that ask for it.

    They leave it as they find it: who kills a worker has a cluster of its own.
    """
    from distributed import Client

    from compiler.distributed.local import local_cluster

    with local_cluster(2, threads=1) as cluster, Client(cluster) as made:
        yield made


def pytest_runtest_setup() -> None:
    """Tests start processes by `spawn`, also after one that opened a shell of IPython, which
    replaces the main module."""
    describe_main()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One worker more than there are processors: who drives a browser often waits for it."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist's own answer
    return 1 + (os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A module is one worker's, so that it makes what its tests share once; so is a folder whose
    modules share what is most expensive."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            module: str = super()._split_scope(nodeid)
            return next((it for it in TOGETHER if module.startswith(it)), module)

    return Scheduling(config, log) if config.getvalue("dist") == "loadscope" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Objects made here stay to the end: the garbage collector need not look at them again."""
    with garbage.put_off():
        try:
            return (yield)
        finally:
            gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Brings forward what takes long: a module is one worker's, and none is to be left with a long
    one when the others are through."""
    modules: dict[str, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.nodeid.partition("::")[0], []).append(item)
    times = seconds()

    def length(module: Sequence[pytest.Item]) -> tuple[bool, float, int]:
        took = sum(times.get(function_of(item.nodeid), 0.0) for item in module)
        return module[0].path.suffix == ".ipynb", took, len(module)

    items[:] = chain.from_iterable(sorted(modules.values(), key=length, reverse=True))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fails a skipped browser test where SVODVIZ_BROWSER_TESTS=required (see .ci/run)."""
    report = yield
    is_required = os.environ.get("SVODVIZ_BROWSER_TESTS") == "required"
    if is_required and report.skipped and item.get_closest_marker("browser"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, but a browser is required here"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what tests that passed have to say, e.g. the seed of what they tried at random."""
    for report in terminalreporter.stats.get("passed", ()):
        for name, value in report.user_properties:
            if name == "printed":
                terminalreporter.write_line(str(value))
