"""The data of a page, and of a stage that is exported, as types (see `records`)."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from svodviz.data.answers import Measurement, Playground, Recorded
from svodviz.data.records import (
    Checks,
    DecisionRow,
    Digits,
    Findings,
    KernelRow,
    ModuleCode,
    Modules,
    Number,
    Pass,
    Perhaps,
    PlainRow,
    Position,
    Replay,
    Rule,
    RuleSet,
    ScheduleRows,
    ScopeRow,
    Stage,
    Unseen,
    Value,
)

# -- pages -----------------------------------------------------------------------------------------

Needs: TypeAlias = Literal["", "scene", "text", "schedule"]
"""The part that a stage must have for a view."""
KindRow: TypeAlias = tuple[str, str, str, str]
"""A row of the legend of nodes: kind, outline, words, glyph."""
EdgeKind: TypeAlias = tuple[str, str, str]
"""A row of the legend of edges: kind, dashes, words."""
View: TypeAlias = tuple[str, str, list[str], Needs]
"""Id, label, stages it is offered in (none: all), what a stage must have."""
Machine: TypeAlias = tuple[str, str, str]
"""Id, title and note of a machine whose assembly can be asked for."""


class Later(TypedDict):
    """The second part of the data of a large program in a notebook: the stages that the first part
    marks "later", and rows to append to its tables."""

    stages: list[Stage]
    entities: list[str]
    parents: list[list[Position]]
    values: dict[Digits, Value]
    unseen: list[Unseen]
    operations: dict[str, str]
    notes: list[str]
    codes: NotRequired[list[ModuleCode]]
    """The code of each module; for models only."""


class Wire(TypedDict):
    """One compilation."""

    format: Literal["svodviz"]
    version: Literal[7]
    name: str
    stages: list[Stage]
    """In the order of the ribbon."""
    scopes: list[ScopeRow]
    """The calls that made the graph, each after what holds it."""
    replays: list[Replay]
    passes: list[Pass]
    rules: list[Rule]
    rulebook: list[RuleSet]
    checks: Checks | None
    findings: Findings | None
    decisions: list[DecisionRow]
    plain: list[PlainRow]
    values: dict[Digits, Value]
    """By entity."""
    unseen: list[Unseen]
    legend: list[KindRow]
    edges: list[EdgeKind]
    kernels: list[KernelRow]
    operations: dict[str, str]
    """The meaning of each operation."""
    schedule: ScheduleRows | None
    views: list[View]
    machines: list[Machine]
    host: NotRequired[str]
    """Whose assembly the stage asm has: x86, arm, riscv, empty where not known."""
    playground: Playground
    notes: list[str]
    """Notes on what was left out, and why."""
    entities: list[str]
    """The names that all others refer to by position, e.g. "graph:12"."""
    parents: list[list[Position]]
    """For each entity, what it descends from directly."""
    recorded: NotRequired[Recorded]
    modules: NotRequired[Modules]
    """The modules; for models that were imported with modules."""
    codes: NotRequired[list[ModuleCode]]
    """By module, once LLVM is done."""


Sign: TypeAlias = Literal["=", "~", "−", "+"]
"""The same, different, only in a, only in b."""
FigureUnit: TypeAlias = Literal["", "bytes", "ns"]
FigureRow: TypeAlias = tuple[str, FigureUnit, Number | None, Number | None, str, str, str]
"""Name, unit, numbers of a and b, their words, the change."""
PassPairRow: TypeAlias = tuple[str, str, str, str, str, Sign, str]
"""Stage, kernel, name, what it did in a, in b, sign, rules."""
DiffTag: TypeAlias = Literal["equal", "replace", "delete", "insert"]
DiffBlock: TypeAlias = tuple[DiffTag, Position, Position, Position, Position]
"""A block of a line diff: tag, start and end in a, start and end in b."""


class KernelPairRow(TypedDict):
    """A kernel of both, or of one alone."""

    a: str | None
    b: str | None
    mark: Sign
    shared: Number
    figures: list[FigureRow]


class UnitPairRow(TypedDict):
    """A part of a stage in both."""

    name: str
    a: Perhaps
    """Position of the unit."""
    b: Perhaps
    same: bool
    blocks: list[DiffBlock]
    partners: list[tuple[Position, Position, Literal[0, 1]]]
    """Entity of a, of b, 1 where they differ."""
    only: tuple[list[Position], list[Position]]


class ComparisonWire(TypedDict):
    """Two compilations side by side; "a" is the first, "b" the second."""

    format: Literal["svodviz-comparison"]
    version: Literal[1]
    names: tuple[str, str]
    a: Wire
    b: Wire
    same: bool
    figures: list[FigureRow]
    passes: list[PassPairRow]
    kernels: list[KernelPairRow]
    stages: dict[str, list[UnitPairRow]]
    missing: dict[str, str]
    """The error message of each stage that failed."""


class QuestionRow(TypedDict):
    """A question with its answer."""

    id: str
    """The same for the same question, whoever is asked."""
    kind: str
    title: str
    language: str
    """The language of `lines`, for highlighting."""
    level: Position
    """The difficulty: 1 to 3."""
    prompt: str
    lines: list[str]
    choices: list[tuple[str, str]]
    """Text, and the reply to a reader who chooses it."""
    answer: Position
    """Position of the right choice."""
    why: list[str]
    entity: str
    """The entity in an explorer that shows the answer; empty if no single one does."""


class QuizWire(TypedDict):
    """Questions about a compilation."""

    format: Literal["svodviz-quiz"]
    version: Literal[2]
    name: str
    questions: list[QuestionRow]
    explorer: str
    """The address of a page with an explorer of the same program; empty where there is none."""


class ResultRow(TypedDict):
    """The outcome of one question."""

    student: str
    quiz: str
    id: str
    kind: str
    level: Position
    question: str
    given: str
    """The first answer; empty where there is none."""
    answer: str
    """The right one."""
    right: bool
    """True if the first answer was right."""
    attempts: Position
    seconds: float


class QuizResults(TypedDict):
    """The results of a quiz as it saves them."""

    format: Literal["svodviz-quiz-results"]
    version: Literal[1]
    rows: list[ResultRow]


Page: TypeAlias = Wire | ComparisonWire | QuizWire
"""The data of a page: an explorer, a comparison or a quiz."""

# -- revisions of a live explorer -----------------------------------------------------------------

LineChange: TypeAlias = tuple[Position, Literal["+", "~", "−"]]
"""A line that is added, changed, or followed by removed lines."""
NodeChange: TypeAlias = tuple[Position, Literal["added", "changed"]]
"""The entity of a node that is added or changed."""


class UnitChanges(TypedDict):
    """A part of a stage compared with the previous revision."""

    unit: Position
    lines: list[LineChange]
    nodes: list[NodeChange]


class StageChanges(TypedDict):
    """A stage compared with the previous revision."""

    count: Position
    """Changed lines."""
    units: list[UnitChanges]


Changes: TypeAlias = dict[str, StageChanges]
"""By stage; those that arrive later are missing until then."""


class CellRow(TypedDict):
    """A file of the stage "source": a cell of the notebook, or why it cannot be edited."""

    name: str
    first: Position
    """Its first line among those of the stage."""
    lines: Position
    text: str
    """The text of the cell in the notebook."""
    why: str
    """The reason why it cannot be edited; empty if it can."""


class Problem(TypedDict):
    """An error on the way to the next revision."""

    words: str
    place: str
    """File and line of the user's program; empty where it is not known."""
    text: str
    """The text of the line."""


class LiveRow(TypedDict):
    """The revision that a live explorer shows, and how it follows its notebook."""

    first: Position
    """The number of the oldest revision that can still be shown."""
    count: Position
    """The number of the newest."""
    current: Position
    """The number of that which the notebook has."""
    words: str
    """Its changes."""
    names: list[str]
    """The names whose values it follows."""
    cells: list[CellRow]
    cell: Perhaps
    """The one that the program is written in."""
    problem: Problem | None


# -- what a stage is exported as -------------------------------------------------------------------


class StageCost(TypedDict):
    """The estimated cost of an item of the schedule."""

    flops: NotRequired[Number]
    bytes: NotRequired[Number]
    est_ns: NotRequired[Number]
    measured_ns: NotRequired[Number]
    """The measured nanoseconds; in the stage "run" only."""


class StageNode(TypedDict):
    """A node of a stage."""

    entity: str
    """Names the node in all stages and exports of this compilation, e.g. "graph:12"."""
    op: str
    """The operation."""
    kind: str
    """The family of the operation, by which drawings choose outline and colour."""
    parents: list[str]
    """The entities of earlier stages that the node descends from."""
    argument: NotRequired[str]
    """Attributes of the operation, in addition to its operands."""
    dtype: NotRequired[str]
    """Type of the elements, e.g. "f32"; may be empty."""
    shape: NotRequired[str]
    """Extents, e.g. "[64,10]"; may be empty."""
    name: NotRequired[str]
    """A name given by the program or the compiler; may be empty."""
    group: NotRequired[str]
    """The group that the node is drawn in; may be empty."""
    text: NotRequired[str]
    """The lines of a block of instructions."""
    device: NotRequired[str]
    """The device of a buffer or value."""
    devices: NotRequired[list[str]]
    """The devices that an item of the schedule works on."""
    cost: NotRequired[StageCost]
    critical: NotRequired[bool]
    """True if an item is on the critical path."""
    slack: NotRequired[Number]
    """The slack of an item, in nanoseconds."""
    start: NotRequired[Number]
    """The earliest start of an item, in nanoseconds."""
    finish: NotRequired[Number]
    """The earliest end of an item, in nanoseconds."""


class StageEdge(TypedDict):
    """An edge of a stage."""

    source: str
    """The entity that is read or comes first."""
    target: str
    """The entity that reads it or comes later."""
    operand: NotRequired[Perhaps]
    """The number of the target's operand; -1 if it is none."""
    kind: NotRequired[str]
    """"data", or another kind of dependency."""
    kinds: NotRequired[list[str]]
    """All kinds of dependency between the two; in the schedule only."""
    fusion: NotRequired[str]
    """The reason why the two are, or are not, one kernel; in the schedule only."""


class StageGraph(TypedDict):
    """One stage of a compilation as `svodviz export program.py -o stage.json` and
    `svodviz.save(x, "stage.json")` write it."""

    format: Literal["svodviz-graph"]
    version: Literal[1]
    title: str
    """The compilation and the stage, for people."""
    nodes: list[StageNode]
    edges: list[StageEdge]
    schedule: NotRequired[ScheduleRows | None]
    """The rows of the schedule, in the stages "schedule" and "run"; null if nothing is
    scheduled."""
    entities: NotRequired[list[str]]
    """The entities that "e" of the schedule's rows index, in the stages "schedule" and "run"."""
    measured: NotRequired[Measurement]
    """The measured times of the schedule's items; in the stage "run" only."""
