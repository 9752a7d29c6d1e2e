"""The results of random shapes, their figures, their file, and the report."""

import json
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from benchmarks.bars import Check
from benchmarks.report import bars
from compiler.core.text import aligned, counted

SMALL = 50e-6
"""Seconds of PyTorch's below which a shape is a small one: most of it is the call."""
SLOW = 0.5
WORST = 20
MEAN_SMALL = 0.9
"""The target for small ones."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One case: seconds of ours and of PyTorch's, the least of each round; `failed` says why there
    are none."""

    number: int
    kind: str
    text: str
    ours: tuple[float, ...] = ()
    torch: tuple[float, ...] = ()
    failed: str = ""
    why: str = ""

    @property
    def ratio(self) -> float:
        """How many times faster than PyTorch ours is: the median over rounds."""
        return statistics.median(t / o for t, o in zip(self.torch, self.ours, strict=True))

    @property
    def is_small(self) -> bool:
        """True if PyTorch takes less than `SMALL`."""
        return statistics.median(self.torch) < SMALL


@dataclass(frozen=True, slots=True)
class Figures:
    """Of some shapes: their ratios in a few numbers."""

    count: int
    mean: float
    fifth: float
    slow: float

    @classmethod
    def of(cls, shapes: Sequence[Shape]) -> "Figures":
        """The geometric mean, the 5th percentile, the share below `SLOW`; NaN of nothing."""
        ratios = sorted(shape.ratio for shape in shapes)
        if not ratios:
            return cls(0, math.nan, math.nan, math.nan)
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        slow = sum(ratio < SLOW for ratio in ratios) / len(ratios)
        return cls(len(ratios), mean, ratios[int(0.05 * len(ratios))], slow)


@dataclass(frozen=True, slots=True)
class Results:
    """A run of one seed."""

    seed: int
    threads: int
    shapes: tuple[Shape, ...] = field(default=())

    @property
    def measured(self) -> list[Shape]:
        """Those that are right on both sides."""
        return [shape for shape in self.shapes if not shape.failed]

    @property
    def worst(self) -> list[Shape]:
        """The slowest compared with PyTorch."""
        return sorted(self.measured, key=lambda shape: shape.ratio)[:WORST]

    def groups(self) -> dict[str, list[Shape]]:
        """All, large and small ones, and by kind."""
        found = self.measured
        small = [shape for shape in found if shape.is_small]
        by_kind = {kind: [s for s in found if s.kind == kind] for kind in dict.fromkeys(
            shape.kind for shape in found)}  # fmt: skip
        large = [shape for shape in found if not shape.is_small]
        return {"all": found, "50 µs and more": large, "under 50 µs": small} | by_kind


def report(results: Results) -> str:
    """Figures of every group, what failed, the worst with their reasons."""
    head = ("shapes", "count", "mean", "5th percentile", f"below {SLOW}")
    rows = [head, *(_row(name, Figures.of(it)) for name, it in results.groups().items())]
    lines = [
        f"{counted(len(results.shapes), 'random shape')} of single operations, seed {results.seed}",
        f"with {counted(results.threads, 'thread')}: how many times longer PyTorch takes",
        *aligned(rows, range(1, len(head))),
    ]  # fmt: skip
    return "\n".join([*lines, *_failed(results), *_worst(results), bars(checks(results))])


def checks(results: Results) -> list[Check]:
    """The targets: none fails, few are slow, small ones are near PyTorch's."""
    groups, failed = results.groups(), len(results.shapes) - len(results.measured)
    whole, small = (Figures.of(groups[name]) for name in ("all", "under 50 µs"))
    return [
        Check("all", "failed", 0, failed, False, ""),
        Check("all", f"% below {SLOW}", 1, 100 * whole.slow, False, " %"),
        Check("under 50 µs", "torch, geometric mean", MEAN_SMALL, small.mean),
    ]


def _row(name: str, figures: Figures) -> tuple[str, ...]:
    shown = (f"{figures.mean:.2f}", f"{figures.fifth:.2f}", f"{figures.slow:.1%}")
    return (name, f"{figures.count}", *shown)


def _failed(results: Results) -> Iterator[str]:
    for shape in results.shapes:
        if shape.failed:
            yield f"failed: {shape.number} {shape.kind} {shape.text}: {shape.failed}"


def _worst(results: Results) -> Iterator[str]:
    rows = [
        (f"{s.number}", f"{s.ratio:.2f}", f"{1e6 * statistics.median(s.ours):.1f} µs",
         f"{s.kind}: {s.text}", s.why)
        for s in results.worst
    ]  # fmt: skip
    if rows:
        yield "worst, ratio and our time:"
        yield from aligned(rows, range(3))


def to_json(results: Results) -> str:
    """As text; the inverse of `from_json`."""
    return json.dumps(asdict(results), indent=1) + "\n"


def from_json(text: str) -> Results:
    """The results that a text holds."""
    data = json.loads(text)
    shapes = (
        Shape(**row | {side: tuple(row[side]) for side in ("ours", "torch")})
        for row in data["shapes"]
    )
    return Results(data["seed"], data["threads"], tuple(shapes))
