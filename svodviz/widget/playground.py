"""playground: an explorer in which choices of loops are tried; in Python, one point at a time.

    svodviz.playground(x)                            opens there, with the first points tried
    svodviz.try_loops(x, "tile i0 16", kernel="k0")  one point, printed
    svodviz.simulate_cache(x, kernel="k0")           what its accesses find in the caches
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from svodviz.foundation.subject import compilation_of
from svodviz.widget.explorer import Explorer, explore
from svodviz.wire.grounds import grounds_of

if TYPE_CHECKING:
    from compiler.playground.caches import CacheReport
    from compiler.playground.point import Point

USUAL = ("plain", "own")
"""The points tried first: the loops as they are, and what the compiler chose."""


def playground(
    subject: object, *inputs: object, kernel: str = "", choices: Sequence[str] = (),
    check: bool = False, machine_code: bool = False, measure: bool | float = False,
    **state: object,
) -> Explorer:  # fmt: skip
    """An explorer that opens in the playground of a kernel: that which takes longest, or `kernel`.

    The plain loops, the compiler's own choices and each of `choices` are tried at once and kept, so
    that an export shows them. Other arguments are those of `explore`. Raises TypeError where there
    is nothing to explore, `DataError` where there is no such kernel.
    """
    compilation = compilation_of(subject, *inputs, by="playground")
    grounds = grounds_of(compilation)
    play = grounds.of(kernel)
    for each in (*USUAL, *choices):
        grounds.trace(play, play.attempt(each))
    for threads in sorted({1, play.space.cores}):
        grounds.measure(threads)
    unit = [loops.name for loops in compilation.loops].index(play.name)
    opened = {"stage": "loops", "view": "playground", "unit": unit}
    shown = explore(
        compilation, check=check, machine_code=machine_code, measure=measure, **(opened | state)
    )
    assert isinstance(shown, Explorer)
    return shown


def try_loops(subject: object, choices: str, kernel: str = "") -> "Point":
    """One kernel with other choices: whether they are legal, its time, its code, what it touches.

    `subject` is what `explore` takes; the kernel is the one that takes longest, unless named.
    `.refused` states why a choice is impossible.
    """
    from compiler.playground.playground import Playground

    return Playground(compilation_of(subject, by="try_loops"), kernel).attempt(choices)


def simulate_cache(
    subject: object, kernel: str = "", choices: str = "own", limit: int | None = None
) -> "CacheReport":
    """The report of a kernel's accesses to the caches of `Options.model`, simulated: nothing runs.

    Of very many accesses the first 40 million, or `limit`, are simulated. Raises `CompileError`
    where the choices are not possible, or data decide what is accessed.
    """
    from compiler.playground.playground import LIMIT, Playground
    from compiler.playground.simulate_cache import simulate_cache as simulated

    play = Playground(compilation_of(subject, by="simulate_cache"), kernel)
    rows = play.compiled(play.parsed(choices)).linear.instructions
    return simulated(play.name, rows, play.caches, None, limit or LIMIT)
