"""What tests and notebooks run in, also a notebook that is tried alone: the environment."""

import os
import tempfile

import pytest

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
