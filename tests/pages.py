"""The error message for a user's mistake, in tests."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler import DataError


def without_calls(message: str) -> str:
    """A message less the calls that led to the user's line: here, those of the test itself."""
    return re.sub(r"\n  calls: .*(\n {12}.*)*", "", message)


def page(call: Callable[[], object], kind: type[Exception] = DataError) -> list[str]:
    """The rows of the page but the user's line, which is one, in the file of `call`."""
    with pytest.raises(kind) as caught:
        call()
    rows = without_calls(str(caught.value)).splitlines()
    place = Path(call.__code__.co_filename).name
    assert sum(row.startswith("  line:     ") and place in row for row in rows) == 1
    return [row for row in rows if not row.startswith("  line:")]
