"""Faults planted in the compiler, to check that tests find them."""

from typing import Any

import pytest

from compiler.loops import index


def unflip(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on `index` reads what is flipped in the order in which it lies."""
    usual = index.move

    def unflipped(node: Any, indices: Any) -> Any:
        return indices if type(node).__name__ == "Flip" else usual(node, indices)

    monkeypatch.setattr(index, "move", unflipped)
