"""Settings for every test: how Hypothesis draws, and when a browser test may be skipped."""

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

# The first call of a compiled program includes its compilation, so no example has a deadline.
settings.register_profile("svodviz", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("svodviz")


@pytest.fixture(scope="session", autouse=True)
def own_caches(tmp_path_factory: pytest.TempPathFactory) -> Generator[None, None, None]:
    """Tests and the processes they start keep nothing in the caches of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))
        yield


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
