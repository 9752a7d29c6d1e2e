"""Playgrounds of a compilation: choices tried from the page or from Python, kept for exports.

What a search over loop choices tried is here too, by name of kernel.
"""

from typing import TYPE_CHECKING

from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Arguments, Asked, Progress, request, whole

# The compiler is imported where it is used, as everywhere in this package: pages open sooner.
if TYPE_CHECKING:
    from compiler.playground.access_trace import AccessTrace
    from compiler.playground.playground import Playground
    from compiler.playground.point import Point
    from compiler.program.compilation import Compilation
    from compiler.tune.trials import Trial
    from svodviz.data import answers


TRIES = 4
"""Repeated measurements of the machine's limits when a kernel is faster than they allow. A
choice, not measured."""


class Grounds:
    """The playgrounds of one compilation, one for each kernel, and the traces recorded so far."""

    def __init__(self, compilation: "Compilation") -> None:
        self.compilation = compilation
        self.by_kernel: dict[str, Playground] = {}
        self.traces: dict[tuple[str, int], AccessTrace | None] = {}
        self.roofs: dict[int, answers.Roofs] = {}

    def of(self, kernel: str) -> "Playground":
        """The playground of a kernel; "" is the one that takes longest."""
        from compiler.playground.playground import Playground

        playground = self.by_kernel.get(kernel) or Playground(self.compilation, kernel)
        return self.by_kernel.setdefault(playground.name, playground)

    def trace(self, play: "Playground", point: "Point") -> "AccessTrace | None":
        """The trace of a point's accesses, recorded once."""
        key = play.name, point.number
        if key not in self.traces:
            self.traces[key] = play.trace(point)
        return self.traces[key]

    def measure(self, threads: int) -> "answers.Roofs":
        """The limits of the machine with so many threads."""
        from compiler.playground.roofs import measure_roofs
        from svodviz.wire.playpoints import roofs_row

        roofs = measure_roofs(threads)
        for _ in range(TRIES):
            if roofs.peak >= self._fastest(threads):
                break
            roofs = measure_roofs(threads)
        self.roofs[threads] = roofs_row(roofs)
        return self.roofs[threads]

    def _fastest(self, threads: int) -> float:
        """The most operations per ns of all points on so many threads."""
        points = (point for play in self.by_kernel.values() for point in play.points)
        return max((it.speed for it in points if it.cache and it.cache.tasks == threads), default=0)

    def recorded(self) -> "answers.Playground":
        """All that was tried, for pages without a kernel."""
        rows = {name: self._row(play) for name, play in self.by_kernel.items()}
        return {
            "kernels": rows,
            "roofs": {str(n): row for n, row in self.roofs.items()},
            "tunings": tuning_rows(self.compilation),
        }

    def _row(self, play: "Playground") -> "answers.TriedKernel":
        from svodviz.wire.playpoints import kernel_row, point_row

        points = [
            point_row(play, point, self.traces.get((play.name, point.number)))
            for point in play.points
        ]
        return {**kernel_row(play, with_points=False), "points": points}


KEPT_AS = "_svodviz_grounds"
"""The attribute of a compilation that holds its playgrounds: they live as long as it does."""


def grounds_of(compilation: "Compilation") -> Grounds:
    """The playgrounds of a compilation, shared by its explorers."""
    grounds: Grounds = vars(compilation).setdefault(KEPT_AS, Grounds(compilation))
    return grounds


def recorded(compilation: "Compilation") -> "answers.Playground":
    """The points tried so far."""
    held: Grounds = vars(compilation).get(KEPT_AS) or Grounds(compilation)
    return held.recorded()


# -- what the page asks ------------------------------------------------------------------------


@request("playground: kernel")
def open_kernel(explorer: Asked, arguments: Arguments, progress: Progress) -> "answers.TriedKernel":
    """The choices there are for a kernel, and its points so far."""
    grounds = grounds_of(explorer.compilation)
    progress("looking at the kernel's loops")
    name = str(arguments["kernel"])
    grounds.of(name)
    return grounds.recorded()["kernels"][name]


@request("playground: try")
def attempt(explorer: Asked, arguments: Arguments, progress: Progress) -> "answers.TriedPoint":
    """A point: compiled, run, checked, timed, its accesses simulated."""
    from svodviz.wire.playpoints import point_row

    grounds = grounds_of(explorer.compilation)
    play = grounds.of(str(arguments["kernel"]))
    again = bool(arguments.get("again"))
    point = play.attempt(str(arguments["choices"]), again=again, report=progress)
    return point_row(play, point, grounds.traces.get((play.name, point.number)))


@request("playground: trace")
def traced(
    explorer: Asked, arguments: Arguments, progress: Progress
) -> "answers.AccessTrace | None":
    """The trace of the accesses of a point that was tried."""
    from svodviz.wire.playpoints import trace_row

    grounds = grounds_of(explorer.compilation)
    play = grounds.of(str(arguments["kernel"]))
    point = play.points[whole(arguments, "point")]
    progress("recording its accesses")
    return trace_row(play, grounds.trace(play, point))


@request("playground: roofs")
def limits(explorer: Asked, arguments: Arguments, progress: Progress) -> "answers.Roofs":
    """The limits of this machine."""
    threads = max(1, min(whole(arguments, "threads"), 256))
    progress("measuring what this machine can do at most")
    return grounds_of(explorer.compilation).measure(threads)


def tuning_rows(compilation: "Compilation") -> "dict[str, answers.Tuning]":
    """The search of each kernel that was tuned, or that could not be."""
    return {
        visible(tuning.name): {
            "words": visible(tuning.words),
            "best": tuning.best.number,
            "trials": [_trial(trial) for trial in tuning.tried],
        }
        for tuning in compilation.tuning
    }


def _trial(trial: "Trial") -> "answers.TrialRow":
    from compiler.loops.choices import text

    parent = -1 if trial.parent is None else trial.parent
    choices = text(trial.choices) or "plain"
    refused = visible(trial.refused)
    return trial.number, parent, visible(trial.change), trial.seconds, refused, visible(choices)
