"""The page of a user's mistake, as a test holds it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler import DataError


def page(call: Callable[[], object], kind: type[Exception] = DataError) -> list[str]:
    """The rows of the page but the user's line, which is one, in the file of `call`."""
    with pytest.raises(kind) as caught:
        call()
    rows = str(caught.value).splitlines()
    place = Path(call.__code__.co_filename).name
    assert sum(row.startswith("  line:     ") and place in row for row in rows) == 1
    return [row for row in rows if not row.startswith("  line:")]
