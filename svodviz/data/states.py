"""The choices of a page's reader, which page and Python share. Each name stands here once:
`tools.wire_types` makes of it what the modules of js/ know.
"""

from typing import TypedDict

State = TypedDict(
    "State",
    {
        "stage": str,
        "unit": int,
        "view": str,
        "pass": int,
        "step": int,
        "selected": str,
        "path": str,
        "columns": list[str],
        "shares": list[float],
        "panels": dict[str, bool],
        "sizes": dict[str, float],
        "folding": str,
        "open": list[str],
        "only": list[str],
        "filtered": bool,
        "across": bool,
        "overlay": str,
        "critical": bool,
        "machine": str,
        "level": int,
        "llvm_pass": int,
    },
    total=False,
)
"""The state of an explorer; a missing field takes the program's default."""


class SidesState(TypedDict, total=False):
    """The state of two compilations side by side."""

    tab: str
    stage: str
    unit: int
    selected: str


class QuizState(TypedDict):
    """The state of a quiz: the position of the question on screen; for each question the
    positions of the choices that were tried, in order, with -1 at the end if the answer was
    requested; the seconds until each was answered; and the name of the person who answers."""

    at: int
    answers: list[list[int]]
    seconds: list[float]
    student: str


def names_of(state: type) -> tuple[str, ...]:
    """The names of a state, in their order."""
    return tuple(state.__annotations__)
