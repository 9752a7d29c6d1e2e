"""The one place where text from a user's program becomes fit to be printed.

Names of tensors and files, lines of source and texts of errors may hold anything: characters that
a terminal obeys, that end a line early, or that turn the words around them the other way. They are
kept as they are given, and shown as their escapes: `printable("a\\x1bb")` is the text `a\\x1bb`.
"""

import re
from collections.abc import Iterable
from typing import Any

# Control characters but the tab, Unicode's ends of lines, marks of direction, halves of characters,
# and the two that XML does not know.
_HIDDEN = re.compile(
    "[\x00-\x08\n-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\ufffe\uffff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r"}


class ShownAsText:
    """A thing with a printed form, which a notebook's cell that ends in it shows."""

    __slots__ = ()

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        # IPython takes the first of this and `__repr__` that it meets: each class has its own.
        cls._repr_pretty_ = ShownAsText._repr_pretty_  # type: ignore[method-assign]

    def _repr_pretty_(self, printer: Any, is_cycle: bool) -> None:
        """IPython asks for this instead of `repr`, which tells all fields and is for tests."""
        printer.text(str(self))


def printable(text: str) -> str:
    """One line that does nothing but show: tabs stay, what cannot be seen becomes its escape."""
    return text if text.isprintable() else _HIDDEN.sub(_escape, text)


def printout(lines: Iterable[str]) -> str:
    """Lines below each other, as many as there are, each printable."""
    return "\n".join(map(printable, lines))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return _SHORT.get(match[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
