"""Each test of an importer reaches the operators that a `reached.json` names it for."""

from collections.abc import Iterator

import pytest

from tests.imported import reached


@pytest.fixture(autouse=True)
def reaches_its_operators(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    reached.check(request.node.nodeid.removeprefix("tests/imported/"))
