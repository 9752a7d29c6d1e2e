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
"""Of an explorer; what is not named is what suits the program."""


class SidesState(TypedDict, total=False):
    """Of two compilations side by side."""

    tab: str
    stage: str
    unit: int
    selected: str


class QuizState(TypedDict):
    """Of a quiz: the position of the question on screen, and of each the positions of the choices
    that were tried, in order, with -1 at the end where the answer was asked for; the seconds that
    each took until it was answered; and who answers."""

    at: int
    answers: list[list[int]]
    seconds: list[float]
    student: str


def names_of(state: type) -> tuple[str, ...]:
    """The names of a state, in their order."""
    return tuple(state.__annotations__)
