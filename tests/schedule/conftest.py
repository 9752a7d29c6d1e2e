"""A builder of kernel graphs for each test."""

import pytest

from compiler.schedule.strict.builder import KernelGraphBuilder


@pytest.fixture
def b() -> KernelGraphBuilder:
    """A builder that has made nothing yet."""
    return KernelGraphBuilder()
