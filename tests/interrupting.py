"""An exception at any call of a function: a Ctrl-C of a user, at the same place each time."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

KEPT: list[BaseException] = []
"""The exceptions, as a notebook keeps the last one: what their frames hold stays alive."""


def interrupted(step: Callable[[], Any], at: int) -> bool:
    """Runs `step`, which is interrupted at its call of that number; False where it has fewer. An
    interrupt of what Python collects meanwhile ends nothing: Python prints it."""
    seen = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal seen
        if event in ("call", "c_return"):
            seen += 1
            if seen == at:
                sys.setprofile(None)
                raise KeyboardInterrupt

    held = sys.getprofile()
    try:
        sys.setprofile(count)
        step()
    except KeyboardInterrupt as error:
        KEPT.append(error)
    finally:
        sys.setprofile(held)
    return seen >= at
