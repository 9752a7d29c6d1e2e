"""The data of a page, as types: what Python makes, what pages carry, what the modules of js/ read.

    records   drawings, stages, passes, reasons, kernels, the schedule
    answers   what a page asks for and exports record
    pages     what a page carries: an explorer, a comparison, a quiz; and an exported stage

From these files `python -m tools.wire_types` makes docs/page.schema.json (what pages and saved
notebooks carry), docs/schema.json (what `svodviz export -o stage.json` writes) and the generated
part of wire.d.ts (what TypeScript's checker knows of the data); a test holds the four together.

Rows of tables are tuples here and arrays in JSON. Tables refer to rows of others by position,
counted from 0. The docstring of a type is what the schema says about it, and so is the text behind
a field. Only checkers load these files: modules name their types in quotes.

Every change of meaning raises the version in `wire`, `comparison_wire` or `quiz`.
"""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
"""Any JSON value."""

Position: TypeAlias = Annotated[int, "minimum 0"]
"""A position in a table, or another whole number from 0."""
Perhaps: TypeAlias = Annotated[int, "minimum -1"]
"""A position in a table; -1 for none."""
Number: TypeAlias = float | Literal["inf", "-inf", "nan"]
"""A number; "inf", "-inf" or "nan" where JSON has none."""
Digits: TypeAlias = Annotated[str, "pattern ^[0-9]+$"]
"""A number as a key."""
Numbers: TypeAlias = list[list[str]]
"""The numbers that a reason looked at: name, value, sign, limit, name of the limit."""

# -- drawings --------------------------------------------------------------------------------------

Point: TypeAlias = tuple[float, float]
"""Across and down, or width and height, in pixels."""
EdgeRow: TypeAlias = tuple[Position, Position, Perhaps, str]
"""From node, to node, as which operand, kind."""


class NodeRow(TypedDict):
    """A box of a drawing."""

    e: Position
    op: str
    kind: str
    label: list[str]
    w: Position
    h: Position
    name: NotRequired[str]
    arg: NotRequired[str]
    dtype: NotRequired[str]
    shape: NotRequired[str]
    group: NotRequired[str]
    cost: NotRequired[dict[str, Number]]
    """The cost of an item of the schedule: flops, bytes, estimated nanoseconds."""
    critical: NotRequired[bool]
    slack: NotRequired[Number]
    start: NotRequired[Number]
    finish: NotRequired[Number]
    device: NotRequired[str]
    variables: NotRequired[str]
    module: NotRequired[str]
    """The user's functions that made it."""
    callers: NotRequired[list[Position]]
    """The numbers of the program's lines that called the function in which it is made."""
    scope: NotRequired[Position]
    """The call that made it, in `scopes`."""
    partners: NotRequired[list[Position]]
    """The numbers of the nodes that are its backward pass, or whose backward pass it is."""
    back: NotRequired[bool]
    """True if it belongs to a backward pass and to nothing else."""
    strides: NotRequired[str]
    text: NotRequired[list[str]]
    """The lines of a block of instructions."""


ScopeRow: TypeAlias = tuple[
    Literal["call", "function", "module", "optimizer", "repeat", "iteration", "rest", "lines"],
    str, Perhaps, list[Position], Position, Perhaps,
]  # fmt: skip
"""A public call, or what holds several: kind, name, the scope around it, its lines, how many
iterations it repeats, and the node that it gives."""


ModuleKernel: TypeAlias = tuple[str, list[Position], list[Number], list[Position]]
"""A kernel that a module has a part in: its name, the items that serve the module, the module's
share of the work of each, and the other modules that these items serve."""
ModulePart: TypeAlias = tuple[Position, Number, Number, Number]
"""A module's part of an item: which module, and the share of its time, operations and bytes."""
ModuleCode: TypeAlias = tuple[Number, Number, Number, Number, Number]
"""The code of a module: instructions, instructions shared with other modules, the same two of
assembly, and bytes of machine code."""


class ModuleRow(TypedDict):
    """A module of a model."""

    e: Position
    name: str
    path: str
    """Its full name."""
    kind: str
    """The name of its class in the program; may be empty."""
    parent: Perhaps
    """The module around it."""
    nodes: Position
    """Nodes of the graph as written that it and the modules in it made."""
    alive: list[Position]
    """Nodes that are left after each of `passes`."""
    shared: Position
    """The remaining ones that are shared with other modules."""
    kernels: list[ModuleKernel]


class Modules(TypedDict):
    """The modules of a model, the whole program first, each after the one around it."""

    passes: list[str]
    """The passes over the graph that changed it."""
    rows: list[ModuleRow]
    parts: list[list[ModulePart]]
    """For each item of the schedule the innermost modules that it serves."""
    roofs: list[Number | None]
    """For each item its time at the machine's best, null where that is not known."""


class Layout(TypedDict):
    """The positions of the boxes and arrows of a drawing."""

    places: list[tuple[Position, float, float]]
    """Node and its upper left corner."""
    routes: list[tuple[Position, str]]
    """Edge and its path."""
    groups: list[tuple[str, float, float, float, float]]
    """Label, corner and size."""
    size: Point
    engine: str
    seconds: float


class Graph(TypedDict):
    """The nodes and edges of a drawing."""

    nodes: list[NodeRow]
    edges: list[EdgeRow]


class Scene(Graph):
    """A drawing."""

    layouts: list[Layout | None]
    """null where the page places it."""


Delta = TypedDict(
    "Delta",
    {
        "n+": list[Position],
        "n-": list[Position],
        "e+": list[Position],
        "e-": list[Position],
        "set": list[tuple[Position, NodeRow]],
    },
    total=False,
)
"""The changes of one step: nodes and edges added and removed, and nodes whose text changes."""


class ReplayedPass(TypedDict):
    """One pass of a replay: its deltas, and the layout that it is drawn in."""

    start: Delta
    steps: list[Delta]
    layout: Position


class Replay(Scene):
    """Successive passes over one program, step by step."""

    passes: list[ReplayedPass]


# -- stages ----------------------------------------------------------------------------------------

Line: TypeAlias = tuple[str, Perhaps] | tuple[str, Perhaps, str]
"""Text, entity, and why it comes from nothing."""
SourceLine: TypeAlias = tuple[str, *tuple[int, ...]]
"""Text, and the lines of generated IR that it comes from."""
BlockRow: TypeAlias = tuple[str, Position, Position, list[int]]
"""Label, first line, end, heads of the loops around it."""
JumpRow: TypeAlias = tuple[Position, Position, str, bool]
"""From block, to block, way, whether back."""


class Flow(TypedDict):
    """Blocks and jumps of machine code."""

    blocks: list[BlockRow]
    jumps: list[JumpRow]


SourceFile: TypeAlias = tuple[Position, str, Position]
"""From which line of the listing on, which file, and the number that this line has there."""


class Unit(TypedDict):
    """The program, or one kernel of it, at a stage."""

    name: str
    title: str
    nodes: Position
    lines: list[Line]
    scene: Scene | None
    note: str
    flow: NotRequired[Flow | None]
    """The control flow; for assembly only."""
    python: NotRequired[tuple[str, str]]
    """Its graph and its text in Python, of a compilation `program`."""
    files: NotRequired[list[SourceFile]]
    """The files of the source's lines; for the source only."""


class Stage(TypedDict):
    """An entry of the ribbon."""

    id: str
    label: str
    view: str
    """The view that opens first."""
    missing: str
    """The error message if the stage failed; empty otherwise."""
    units: list[Unit]
    seconds: Number
    asked: NotRequired[bool]
    """True if it is made only on demand."""
    later: NotRequired[bool]
    """True if it arrives after the page has opened; its units have only names. Never in exports."""
    python: NotRequired[str]
    """For passes: a Python expression for the graph of a step of `program`, a compilation.
    {pass} is the position of the pass, {step} that of the graph: 0 before the first rewrite, -1
    after the last."""


class Statistics(TypedDict):
    """Ends and mean of what is finite in an array, and how much is not."""

    nan: Position
    inf: Position
    zeros: NotRequired[Position]
    """The number of elements that are 0."""
    bars: NotRequired[list[Position]]
    """The histogram: the number of elements in each of equal intervals between the ends."""
    min: NotRequired[str]
    max: NotRequired[str]
    mean: NotRequired[str]


class Head(TypedDict):
    """An array's properties and its first elements."""

    dtype: str
    shape: str
    size: Position
    first: list[str]


class Value(Head, Statistics):
    """A preview of an array."""

    began: NotRequired[str]
    """For a value with NaN: the entity of the value where NaN first occurs."""
    picture: NotRequired[list[Annotated[str, "pattern ^([0-9a-f]{2}|xx)*$"]]]
    """Grey levels of rows."""


Unseen: TypeAlias = tuple[str, Perhaps, str]
"""Stage, position of the kernel, and why it has no values inside."""


# -- passes and reasons ----------------------------------------------------------------------------

RewriteRow: TypeAlias = tuple[Position, Position, Position]
"""Rule, entity before, entity after."""
Rule: TypeAlias = tuple[str, str, str, list[str]]
"""Name, algebra, place, and lines of code."""
RuleSet: TypeAlias = tuple[str, str, list[str], list[list[str]]]
"""Stage, pass, its rules, what each looks at."""
Mark: TypeAlias = tuple[bool | None, str]
"""True if it is right (null: it cannot run), and words."""
DecisionRow: TypeAlias = tuple[Position, str, bool, str, Numbers]
"""Entity, kind, whether it was taken, reason, what was looked at."""
PlainRow: TypeAlias = tuple[str, str, Numbers, list[Position]]
"""Kind, reason, what was looked at, the nodes that left no choice."""


class Pass(TypedDict):
    """The work of one pass."""

    stage: str
    kernel: str
    name: str
    because: str
    needs: list[str]
    gives: list[str]
    seconds: Number
    changed: bool
    replay: Position
    replay_pass: Position
    rewrites: list[RewriteRow]
    left_out: Position


class Checks(TypedDict):
    """The checks of passes, rewrites and stages."""

    passes: list[Mark | None]
    steps: list[list[Mark | None]]
    """By pass and rewrite."""
    stages: dict[str, Mark]


class DecisionTables(TypedDict):
    """The reasons of decisions."""

    decisions: list[DecisionRow]
    plain: list[PlainRow]


# -- findings --------------------------------------------------------------------------------------


class FindingRow(TypedDict):
    """Something that the program could do better."""

    rule: str
    words: str
    instead: str
    """The code to write instead."""
    brings: str
    """The expected gain, in words."""
    subject: str
    """The entity that shows it."""
    stage: str
    view: str
    numbers: Numbers
    place: str
    """File and line of the program; empty where it is not known."""
    text: str
    """The text of the line."""
    line: str
    """The entity of the line among those of the stage "source"; empty where it is none."""


class Findings(TypedDict):
    """The findings, by the time that a change would save, and the list of all checks."""

    rows: list[FindingRow]
    looked_for: list[str]


# -- kernels ---------------------------------------------------------------------------------------

ChoiceRow: TypeAlias = tuple[str, str, str, Numbers]
"""Pass, choice, reason, what was looked at."""
RefusedRow: TypeAlias = tuple[str, str, Numbers]
"""Pass, reason, what was looked at."""


class Titled(TypedDict):
    """The name of a kernel."""

    title: NotRequired[str]
    """Its name, what it does, the shape of its result, lines; of a kernel's first call."""
    short: NotRequired[str]
    """Its name and what it does."""


class KernelRow(Titled):
    """The transformations of a kernel's loops, LLVM's changes, and their reasons."""

    name: str
    e: Perhaps
    choices: list[ChoiceRow]
    refused: list[RefusedRow]
    text: str
    """The choices as Options(loops=…) takes them."""
    level: str
    because: str
    numbers: Numbers
    tasks: Position
    scratch: Position
    """Bytes."""


# -- the schedule ----------------------------------------------------------------------------------

Use: TypeAlias = Literal["", "in", "out", "in out"]
"""The use of a buffer by an operation."""
DependencyRow: TypeAlias = tuple[Position, Position, str, list[Position], Position, bool]
"""From item, to item, kind, buffers, bytes, true if critical."""
Life: TypeAlias = tuple[Position, Perhaps, Perhaps]
"""Buffer, first and last item."""


class BufferRow(TypedDict):
    """A buffer."""

    e: Position
    name: str
    dtype: str
    shape: str
    bytes: Position
    device: str
    made: bool
    """True if the program computes it; else it is an input."""


class ItemRow(Titled):
    """An item of the schedule; times are nanoseconds from the start of the program."""

    e: Position
    op: str
    """"kernel", "transfer", "sync" or "callback"."""
    name: str
    lane: Position
    """Position in `lanes`."""
    args: list[tuple[Position, Use]]
    """Buffers, and how each is used."""
    fixed: list[tuple[str, int]]
    """Variables that the item is run with: loop counters, and where parts begin that it reads."""
    facts: list[tuple[str, str]]
    """More about the operation, in words."""
    flops: Position
    read: Position
    written: Position
    ns: float
    """Estimated time of its work."""
    bound: str
    """The largest part of the estimate: "launch", "computing", "latency", or the level."""
    cost: float
    """Estimated time with what comes before and after it."""
    start: float
    """Earliest start."""
    late: float
    """Latest start that delays nothing."""
    critical: bool
    tasks: Position
    """By how many runs its work is shared."""


class LoopItems(TypedDict):
    """The iterations of one call that a loop repeats."""

    label: str
    items: list[Position]


ShareRow: TypeAlias = tuple[Position, Position, Position, Position, Position]
"""Node, and its weights within its items: of the time, the operations, the bytes read, written."""


class SharedWork(TypedDict):
    """The nodes that do the work of items which run one call: a node's part of a cost is the
    item's, times the node's weight, divided by the sum of the weights."""

    items: list[Position]
    nodes: list[ShareRow]


class PlanSizes(TypedDict):
    """The bytes of a memory plan."""

    unshared: Position
    arena: Position
    kept: Position
    live: Position
    peak: Position


class PlaceRow(TypedDict):
    """The place of a buffer in the memory plan; first and last are levels of the plan."""

    buffer: Position
    offset: Position | None
    """In the shared arena; null where it is not in it."""
    size: Position
    first: Position
    last: Position
    reason: str
    numbers: Numbers
    writer: Perhaps
    """The first item that writes the buffer."""
    after: list[Position]
    """The places whose memory is used again."""


class Plan(PlanSizes):
    """A memory plan."""

    levels: Position
    left_out: Position
    places: list[PlaceRow]


class Memory(TypedDict):
    """Bytes alive per item, and the planner's places."""

    alive: list[Position]
    """Bytes that the program made and still needs while each item runs."""
    inputs: Position
    peak: Perhaps
    """The item at which most are alive."""
    lives: list[Life]
    plan: Plan | None


_Ends = TypedDict("_Ends", {"from": Position, "to": Position})


class FusionRow(_Ends):
    """Two items that could be one kernel, or are."""

    e: Position
    type: str
    score: float
    """Share of the program's estimated time that is saved; negative where fusion costs."""
    change: float
    """The estimated change by fusion, in nanoseconds: negative if it saves time."""
    saved: Position
    taken: bool
    value: str
    reason: str
    numbers: Numbers
    times: Position


class ScheduleRows(TypedDict):
    """Everything the timeline, the memory map and the table of fusions show."""

    lanes: list[str]
    """Devices, and the host."""
    items: list[ItemRow]
    path: list[Position]
    """The critical path by position; an item on another one as long is critical too."""
    dependencies: list[DependencyRow]
    loops: list[LoopItems]
    shares: list[SharedWork]
    memory: Memory
    fusions: list[FusionRow]
    buffers: list[BufferRow]
    moved: list[str]
    """The copies of one run between devices, in words."""
    cores: NotRequired[Position]
    """On how many cores a kernel's tasks may run at once."""
