"""The answers that a page asks of Python, and exports record, as types (see `records`)."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from svodviz.data.records import (
    Digits,
    Findings,
    Flow,
    Number,
    Perhaps,
    Position,
    SourceLine,
    Value,
)

# -- one run ---------------------------------------------------------------------------------------


class Time(TypedDict):
    """The time of one item, in nanoseconds."""

    ns: Number
    """The median of the rounds."""
    low: Number
    """A quarter of the rounds took less."""
    high: Number
    """A quarter of the rounds took more."""
    rounds: Position
    start: Number
    """Earliest start, by the times measured."""
    late: Number
    """Latest start that delays nothing."""
    cost: Number
    critical: bool
    bound: str


LaneBar: TypeAlias = tuple[
    Position, str, Position, Position, Perhaps, str, Position, Perhaps, list[Position], str
]
"""Lane, kind (kernel, move, compile, transfer, send, submit, gather), begin, end, item, name,
bytes, the lane that they came from, the bars that had to end before, words."""
LaneWait: TypeAlias = tuple[Position, Position, Position, Position, Perhaps, Position, str]
"""Lane, begin, end, the bar after it, the bar that was waited for, when that was there, words."""


class Lanes(TypedDict):
    """The work of a cluster's workers in one run, in nanoseconds since its start on one clock."""

    run: str
    ns: Position
    lanes: list[tuple[str, str, Position]]
    """Devices, address, how far the clock may be off. The first lane is the process that asked."""
    bars: list[LaneBar]
    """In order of time."""
    unsent: Position
    """Bars that are left out since there are too many."""
    waits: list[LaneWait]
    path: list[Position]
    """The critical path over machines: bars in order."""
    error: Position
    """The largest possible offset between two lanes' clocks, in nanoseconds."""
    moved: Position
    """Bytes from worker to worker."""
    sent: Position
    fetched: Position
    again: list[Position]
    """Items that were recomputed because a worker was lost."""
    lost: list[str]
    dashboard: str
    """The address of Dask's dashboard."""


class Measurement(TypedDict):
    """The time of one run, in nanoseconds."""

    items: list[Time | None]
    """In the order of the schedule's items; null if the time limit was reached."""
    path: list[Position]
    whole: Number | None
    """One run with what Python does; null where it was not measured."""
    call: Number
    """A kernel that does nothing."""
    rounds: Position
    machine: str
    notes: list[str]
    """Notes on skipped or changed parts."""
    results: list[Value]
    seconds: Number
    findings: NotRequired[Findings]
    """Possible improvements, by these times."""
    lanes: NotRequired[Lanes]
    """The median run on a cluster, if there are workers."""


# -- machine code ----------------------------------------------------------------------------------


class LlvmChange(TypedDict):
    """One pass of LLVM that changed something."""

    name: str
    title: str
    on: str
    kind: str
    purpose: str
    edits: list[tuple[Position, Position, list[SourceLine]]]
    """At line, lines removed, lines put there."""


class LlvmPasses(TypedDict):
    """LLVM's passes on one kernel."""

    kernel: str
    number: int
    level: str
    because: str
    start: list[SourceLine]
    changes: list[LlvmChange]
    remarks: list[tuple[str, str, int, str, bool | None]]
    """Words, LLVM's own, line, loop, whether it was done."""
    unseen: Position
    seconds: Number


class AssemblyUnit(TypedDict):
    """The assembly of one kernel."""

    name: str
    number: int
    lines: list[SourceLine]
    flow: Flow | None
    figures: NotRequired[list[str]]
    """Lines of text: the choice of its loops for the machine, the contents of an iteration of
    the inner loop, and its cost by LLVM's scheduling model."""
    inner: NotRequired[Perhaps]
    """The block at the head of that loop; -1: there is no loop."""


class Assembly(TypedDict):
    """The assembly of every kernel for another machine."""

    machine: str
    units: list[AssemblyUnit]
    seconds: Number


class Latencies(TypedDict):
    """The costs of the instructions in one kernel's loops, by LLVM's scheduling model."""

    kernel: str
    number: int
    processor: str
    """Whose model it is."""
    cycles: list[Perhaps]
    """For each line of the assembly; -1 where it is not known."""


HotLine: TypeAlias = tuple[Number, str, str, str]
"""The share of a line of the program, its place, its text, its entity; these are empty for what no
line was found for."""


class Hot(TypedDict):
    """The shares of one kernel's time."""

    kernel: str
    number: int
    measured: bool
    """True if they are measured; else they are estimated."""
    how: str
    rows: list[Number]
    """For each line of the assembly; together 1."""
    blocks: list[Number]
    runs: list[Position]
    """The executions of each block; empty if they were not counted."""
    lines: list[HotLine]
    """The greatest first."""


# -- answers that exports have ---------------------------------------------------------------------


class Matches(TypedDict):
    """The names that the rule of a rewrite bound, and the nanoseconds of one run of it."""

    bindings: list[tuple[str, str]]
    ns: Position


class Problem(TypedDict):
    """An error message in place of an answer."""

    problem: str


Answer: TypeAlias = LlvmPasses | Assembly | Latencies | Hot | Measurement | Matches | Problem
Recorded: TypeAlias = Annotated[
    dict[str, Answer],
    ("^llvm_passes ", LlvmPasses | Problem),
    ("^assembly_for ", Assembly | Problem),
    ("^latencies ", Latencies | Problem),
    ("^hot ", Hot | Problem),
    ("^measure ", Measurement | Problem),
    ("^matched ", Matches),
]
"""Answers that exports have, by question: the name of the request and its arguments."""

# -- the playground --------------------------------------------------------------------------------

LoopRow: TypeAlias = tuple[str, Position, str]
"""Name, extent, role."""
TrialRow: TypeAlias = tuple[Position, Perhaps, str, float | None, str, str]
"""Number, parent, change, seconds, why refused, choices."""


class Taken(TypedDict):
    """Seconds of one run."""

    seconds: float
    low: float
    high: float
    usual: float
    samples: Position


class Cache(TypedDict):
    """The findings of accesses in the simulated caches."""

    accesses: Position
    total: Position | None
    lines: Position
    tasks: Position
    streamed: Position
    fetches: Position
    fetched: list[Position]
    levels: list[tuple[str, Position, Position, Position, Position]]
    """Name, bytes, ways, asked, hits."""
    memories: list[tuple[str, str, Position, Position, list[Position]]]
    """Name, label, accesses, lines, found in each level."""


class Texts(TypedDict):
    """A kernel at three stages, line by line."""

    loops: list[str]
    lowered: list[str]
    asm: list[str]


class AccessTrace(TypedDict):
    """A trace of a kernel's memory accesses: the cells touched in each interval."""

    memories: list[tuple[str, str, Position, Position, Position, Position]]
    """Name, label, rows, columns, elements in a cell down and across."""
    sites: list[tuple[int, Position, Position, Literal[0, 1]]]
    """Instruction, memory, lanes, whether it stores."""
    steps: list[int]
    intervals: list[tuple[Position, Position, list[list[int]], list[list[int]]]]
    """Accesses, misses, cells touched, cells missed."""
    accesses: Position
    total: Position | None


class TriedPoint(TypedDict):
    """Choices that were tried."""

    number: Position
    text: str
    label: str
    rows: list[str]
    refused: str
    unmeasured: str
    unseen: str
    flops: float
    time: Taken | None
    cache: Cache | None
    texts: Texts | None
    trace: AccessTrace | None


class KernelSpace(TypedDict):
    """The choices there are for a kernel in the playground."""

    name: str
    own: str
    axes: list[LoopRow]
    lanes: Position
    cores: Position
    loaded: list[Position]
    stored: list[Position]
    labels: dict[Digits, str]


class TriedKernel(KernelSpace):
    """A kernel's playground."""

    obstacle: str
    points: list[TriedPoint]


class Roofs(TypedDict):
    """The limits of the machine."""

    name: str
    threads: Position
    peak: float
    alone: float
    levels: list[tuple[str, float]]
    """Level and bandwidth."""


class Tuning(TypedDict):
    """The trials of a search over loop choices."""

    words: str
    best: Position
    trials: list[TrialRow]


class Playground(TypedDict):
    """The kernels and points that were tried."""

    kernels: dict[str, TriedKernel]
    roofs: dict[Digits, Roofs]
    """By threads."""
    tunings: dict[str, Tuning]
