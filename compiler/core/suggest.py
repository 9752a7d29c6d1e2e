"""The name that a wrong one was meant to be: the nearest of those that exist."""

import difflib
from collections.abc import Iterable

LEAST = 0.6
"""How alike two names are at least, of 0 to 1, to be told as one that was meant: what `difflib`
itself takes."""


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean reshape?`, or "" where no known name is like `name`."""
    plain = {each.replace("_", "").lower(): each for each in sorted(known, reverse=True)}
    meant = name.replace("_", "").lower()
    found = plain.get(meant) or next(
        (plain[each] for each in difflib.get_close_matches(meant, plain, 1, LEAST)), None
    )
    return f"did you mean {found}?" if found else ""
