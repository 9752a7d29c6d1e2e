"""A plugin of pytest: after SVODVIZ_DEADLINE, in seconds since the epoch, no further test begins.

    pytest -p tools.deadline

Those are skipped, with the reason: who reads the report sees that they did not run.
"""

import os
import time

import pytest

VARIABLE = "SVODVIZ_DEADLINE"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that would begin too late."""
    if 0.0 < float(os.environ.get(VARIABLE, "0")) < time.time():
        pytest.skip("the time was up")
