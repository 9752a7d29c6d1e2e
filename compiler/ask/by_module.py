"""by_module: nodes, kernels, code and time of each module of a program, at every stage.

    module      nodes  left  kernels  lowered      code     estimated  share  of peak    moved
    encoder        74    61        9    1,204   8.9 KiB    41.2 µs  100 %     38 %  1.2 MiB
      layer.0      37    31     4+1*      700   4.9 KiB    20.1 µs   49 %     38 %  613 KiB

That is what `print` shows, in the width of a notebook's cell, `1*` a kernel shared with others;
`table(None)` has a column for each pass and all figures whole. A module counts all that the modules
in it do. What several modules share is split:

    time        an item's time divides among the nodes it computes as their work does
                (`schedule/analysis/own_work.py`), that of a node evenly among its modules; bytes
                moved and operations in the same way
    code        an instruction of several modules counts for each of them; one that reads what
                another kernel made for all that the kernel computes. A kernel's bytes of machine
                code divide as its instructions of assembly do, evenly where one has several

`of peak` is the roofline time of the module's part of every kernel
(`schedule/analysis/roof.py`) divided by its time. Kernels *of others* also serve
modules outside; a kernel whose code several items run is one kernel.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compiler.ask.spread import Held, Spread, Tally
from compiler.core.node import toposort
from compiler.core.printable import ShownAsText, printout
from compiler.core.stage import Stage
from compiler.core.text import aligned, binary, duration, percent
from compiler.graph.modules import OUTSIDE, ModuleRow, Modules
from compiler.graph.nodes import Sink, TensorNode
from compiler.llvm import jit
from compiler.schedule.analysis.own_work import OwnWork
from compiler.schedule.analysis.reuse import resident_bytes
from compiler.schedule.analysis.roof import roof_ns
from compiler.schedule.items import Kernel
from compiler.schedule.printer import Schedule
from compiler.stages.stages import ProgramStages

LEAST = 1e-9
"""The share of an item from which it counts: less is rounding."""
WIDTH = 100
"""Columns of text in a cell of a notebook next to the list of files. A choice."""
LEAST_NAME = 16
"""Characters of a name that are printed, however wide the figures are. A choice."""


def spread(program: ProgramStages, *, is_whole: bool = True) -> Spread:
    """The modules of everything in a program; unless it is the `whole`, up to the schedule."""
    modules = Spread(program.modules, program.lines_of)
    graphs = program.graph, program.optimized_graph
    nodes = dict.fromkeys((*(n for it in graphs for n in it.nodes), *_tensors(program)))
    modules.begin((program.graph.entity(node), node) for node in nodes)
    stages: list[Stage] = [program.kernels, program.schedule]
    if is_whole:
        stages += (*program.loops, *program.lowered, *program.source)
        stages += (*program.optimized, *program.assembly)
    for stage in stages:
        modules.follow(stage)
    return modules


def _tensors(program: ProgramStages) -> Iterable[TensorNode]:
    parents = program.provenance.parents
    return (node for node in parents if isinstance(node, TensorNode) and not isinstance(node, Sink))


# -- graphs and kernels --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KernelPart:
    """The part of a module in a kernel: the items of it that serve the module, with the share of
    their work that is the module's, and the other modules that they serve."""

    name: str
    title: str
    items: tuple[int, ...]
    shares: tuple[float, ...]
    others: tuple[int, ...]

    @property
    def is_shared(self) -> bool:
        """True if other modules have a part in these items."""
        return bool(self.others)


@dataclass(frozen=True, slots=True)
class Work:
    """A module's parts of a run: nanoseconds, those at the machine's best, bytes, operations."""

    ns: float = 0.0
    roof: float = 0.0
    moved: float = 0.0
    flops: float = 0.0

    @property
    def of_roof(self) -> float:
        """The share of the roofline, 0 … 1; 0 where nothing is known."""
        return min(1.0, self.roof / self.ns) if self.ns > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a module: instructions, those of assembly, each also as far as it is of others,
    and bytes of machine code."""

    instructions: int = 0
    shared_instructions: int = 0
    assembly: int = 0
    shared_assembly: int = 0
    nbytes: float = 0.0


@dataclass(frozen=True, slots=True)
class Account:
    """One module at all stages; see the module docstring. `alive` has the nodes after each pass of
    `ByModule.passes`, `shared` those after the last that are also of others."""

    row: ModuleRow
    alive: tuple[int, ...]
    shared: int
    kernels: tuple[KernelPart, ...]
    work: Work
    code: Code

    @property
    def shared_kernels(self) -> int:
        """Kernels that also serve other modules."""
        return sum(it.is_shared for it in self.kernels)


@dataclass(frozen=True, slots=True, eq=False)
class ByModule(ShownAsText):
    """The accounts of all modules, in the order of the tree. `print` shows them as a table."""

    modules: Modules
    passes: tuple[str, ...]
    rows: tuple[Account, ...]
    parts: "list[Parts]" = field(repr=False)
    """The shares of each item, by module."""
    held: Spread = field(repr=False)
    """The modules of every entity."""
    is_measured: bool
    has_code: bool

    def __getitem__(self, name: str) -> Account:
        """The account of a module by its full name. Raises `DataError` where there is none."""
        return self.rows[self.modules.find(name, "by_module")]

    def __str__(self) -> str:
        return self.table()

    def table(self, width: int | None = WIDTH) -> str:
        """The accounts in so many columns of text, long names shortened; None: in as many as all
        figures take, whole."""
        whole = max(self.rows[OUTSIDE].work.ns, LEAST)
        figures = self._whole if width is None else self._short
        heads, *rows = figures(whole)
        names = ["module", *("  " * it.row.depth + it.row.name for it in self.rows)]
        lines = aligned([heads, *rows], range(len(heads)))
        if width is not None:
            most = max(LEAST_NAME, width - max(map(len, lines)) - 2)
            names = [_shortened(name, most) for name in names]
        return printout([*aligned(zip(names, lines, strict=True))])

    def _short(self, whole: float) -> Iterator[tuple[str, ...]]:
        """The heads, then the figures of each row, as a person reads them."""
        code = ("lowered", "code") if self.has_code else ()
        yield "nodes", "left", "kernels", *code, self._how, "share", "of peak", "moved"
        for it in self.rows:
            total, work = it.code, it.work
            code = (f"{total.instructions:,}", binary(round(total.nbytes))) if self.has_code else ()
            left = it.alive[-1] if it.alive else it.row.nodes
            yield (
                f"{it.row.nodes:,}", f"{left:,}", _serving(it), *code, _time(work),
                percent(work.ns / whole), _roof(work), binary(round(work.moved)),
            )  # fmt: skip

    def _whole(self, whole: float) -> Iterator[tuple[str, ...]]:
        """The same with all that is known, in units of one."""
        code = ("instructions", "of others", "assembly", "of others", "bytes")
        yield (
            "nodes", *self.passes, "of others", "kernels", "of others",
            *(code if self.has_code else ()), self._how, "share", "of peak", "moved", "operations",
        )  # fmt: skip
        for it in self.rows:
            total, work = it.code, it.work
            counts = (
                total.instructions, total.shared_instructions,
                total.assembly, total.shared_assembly, round(total.nbytes),
            ) if self.has_code else ()  # fmt: skip
            nodes = (it.row.nodes, *it.alive, it.shared, len(it.kernels), it.shared_kernels)
            yield (
                *(f"{count:,}" for count in (*nodes, *counts)), _time(work),
                percent(work.ns / whole), _roof(work), f"{work.moved:,.0f}", f"{work.flops:,.0f}",
            )  # fmt: skip

    @property
    def _how(self) -> str:
        return "measured" if self.is_measured else "estimated"


def _time(work: Work) -> str:
    return duration(work.ns) if work.ns else "–"


def _roof(work: Work) -> str:
    return percent(work.of_roof) if work.ns else "–"


def _serving(it: Account) -> str:
    """`4`, `4+1*`: kernels of its own, and those that also serve other modules."""
    alone, shared = len(it.kernels) - it.shared_kernels, it.shared_kernels
    return f"{alone:,}" if not shared else f"{alone:,}+{shared:,}*" if alone else f"{shared:,}*"


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def by_module(
    program: ProgramStages, times: Mapping[int, float] | None = None, *, with_code: bool = True
) -> ByModule:
    """The account of each module of a program.

    `times` are nanoseconds of items, measured; estimates where they are not of all items. Without
    code LLVM need not be asked.
    """
    held = spread(program, is_whole=with_code)
    schedule = program.schedule
    is_measured = times is not None and len(times) == len(schedule.items)
    took = [
        times[at] if times is not None and is_measured else float(row.estimated_ns)
        for at, row in enumerate(schedule.analysis)
    ]
    parts = item_parts(program, held)
    records = [it for it in program.passes if it.stage == "graph" and it.changed]
    alive = [_alive(it.after, held) for it in records]
    last = alive[-1] if alive else _alive(program.optimized_graph.root, held)
    codes = _codes(program, held, parts) if with_code else [Code()] * len(program.modules.rows)
    works = _works(program, parts, took)
    kernels = _kernels(program, parts)
    rows = tuple(
        Account(row, tuple(int(it.counts[at]) for it in alive), int(last.shared[at]), kernels[at],
                works[at], codes[at])
        for at, row in enumerate(program.modules.rows)
    )  # fmt: skip
    names = tuple(record.name for record in records)
    return ByModule(program.modules, names, rows, parts, held, is_measured, with_code)


def codes(program: ProgramStages) -> list[Code]:
    """The code of each module alone."""
    held = spread(program)
    return _codes(program, held, item_parts(program, held))


def _alive(root: object, held: Spread) -> Tally:
    """The nodes of a graph by module."""
    tally = Tally(held)
    assert isinstance(root, Sink)
    for node in toposort([root]):
        if not isinstance(node, Sink):
            tally.add(held.of_node(node))
    return tally


Parts = dict[int, "Share"]
"""For each innermost module its share of an item."""


@dataclass(slots=True)
class Share:
    """The part of an item that is a module's, 0 … 1: of its time, its operations, its bytes."""

    time: float = 0.0
    operations: float = 0.0
    moved: float = 0.0

    def add(self, other: "Share", part: float = 1.0) -> None:
        """Add a part of another share."""
        self.time += part * other.time
        self.operations += part * other.operations
        self.moved += part * other.moved


def item_parts(program: ProgramStages, held: Spread) -> list[Parts]:
    """For each item the innermost modules that have a part in it; the parts sum to 1."""
    schedule = program.schedule
    return [
        _parts(row, held) or _evenly(held.of(schedule.entity(at)))
        for at, row in enumerate(schedule.shares)
    ]


def _parts(row: Iterable[tuple[str, OwnWork]], held: Spread) -> Parts:
    parts: Parts = {}
    rows = [(held.of(entity) or frozenset((OUTSIDE,)), work) for entity, work in row]
    sums = [sum(of(work) for _, work in rows) for of in _WEIGHTS]
    if not sums[0]:
        return {}
    for modules, work in rows:
        shares = Share(*(
            of(work) / total if total else work.time / sums[0]
            for of, total in zip(_WEIGHTS, sums, strict=True)
        ))  # fmt: skip
        for at in modules:
            parts.setdefault(at, Share()).add(shares, 1 / len(modules))
    return parts


_WEIGHTS: tuple[Callable[[OwnWork], int], ...] = (
    lambda own: own.time, lambda own: own.operations, lambda own: own.read + own.written,
)  # fmt: skip


def _evenly(modules: Held) -> Parts:
    """The parts of what has no nodes that do its work, as a copy."""
    modules = modules or frozenset((OUTSIDE,))
    return {at: Share(*(1 / len(modules),) * 3) for at in modules}


def _works(program: ProgramStages, parts: Sequence[Parts], took: Sequence[float]) -> list[Work]:
    """The time of each module in a run."""
    schedule = program.schedule
    sums = [[0.0] * 4 for _ in program.modules.rows]
    for item, (roof, shares) in enumerate(zip(roofs(program), parts, strict=True)):
        cost = schedule.analysis[item]
        moved = cost.bytes_read + cost.bytes_written
        for at, share in shares.items():
            amounts = (share.time * took[item], share.time * (took[item] if roof is None else roof),
                       share.moved * moved, share.operations * cost.flops)  # fmt: skip
            for row in program.modules.around(at):
                for place, amount in enumerate(amounts):
                    sums[row][place] += amount
    return [Work(*row) for row in sums]


def roofs(program: ProgramStages) -> list[float | None]:
    """For each item the nanoseconds that it would take at the machine's best; None for what is no
    kernel."""
    schedule = program.schedule
    model, resident = program.options.model, resident_bytes(schedule.items)
    best: dict[str, float | None] = {}
    roofs_of_items = []
    for item, work in zip(schedule.items, schedule.works, strict=True):
        name = item.operation.name
        if name not in best or work is None:
            best[name] = None if work is None else roof_ns(work, model, resident)
        roofs_of_items.append(best[name])
    return roofs_of_items


@dataclass(slots=True)
class _Serving:
    """The items of one kernel that serve a module, while they are collected."""

    items: dict[int, float] = field(default_factory=dict)
    others: dict[int, None] = field(default_factory=dict)


def _kernels(program: ProgramStages, parts: Sequence[Parts]) -> list[tuple[KernelPart, ...]]:
    """For each module the kernels that it is in."""
    modules, schedule = program.modules, program.schedule
    servings: list[dict[str, _Serving]] = [{} for _ in modules.rows]
    for item, shares in enumerate(parts):
        operation = schedule.items[item].operation
        if not isinstance(operation, Kernel):
            continue
        for row, share in _by_row(shares, modules).items():
            serving = servings[row].setdefault(operation.name, _Serving())
            serving.items[item] = share
            others = (at for at in shares if not modules.is_inside(at, row))
            serving.others |= dict.fromkeys(others)
    return [tuple(_part(name, it, schedule) for name, it in row.items()) for row in servings]


def _by_row(shares: Parts, modules: Modules) -> dict[int, float]:
    """The share of each module, those in it included, in an item's time: of those that do anything
    in it, if only reading."""
    rows: dict[int, float] = {}
    for at, share in shares.items():
        if share.time + share.operations + share.moved > LEAST:
            for row in modules.around(at):
                rows[row] = rows.get(row, 0.0) + share.time
    return rows


def _part(name: str, serving: _Serving, schedule: Schedule) -> KernelPart:
    items = tuple(serving.items)
    title = schedule.titles.get(items[0])
    return KernelPart(name, title.short if title else name, items, tuple(serving.items.values()),
                      tuple(sorted(serving.others)))  # fmt: skip


# -- code ----------------------------------------------------------------------------------------


def _codes(program: ProgramStages, held: Spread, parts: Sequence[Parts]) -> list[Code]:
    """The code of each module."""
    instructions, assembly, sizes = Tally(held), Tally(held), Tally(held)
    kernels = modules_of_kernels(program, parts)
    for stage in program.lowered:
        modules_of_kernel = kernels.get(stage.name, _WHOLE)
        for entity in stage.links:
            instructions.add(held.of(entity) & modules_of_kernel or modules_of_kernel)
    for source, listing in zip(program.source, program.assembly, strict=True):
        modules_of_kernel = kernels.get(source.name, _WHOLE)
        rows = [it.entity for it in listing.lines if it.entity and not it.text.endswith(":")]
        size = jit.code_size(jit.object_code(source.text, source.symbol, listing.level))
        for entity in rows:
            modules = held.of(entity) & modules_of_kernel or modules_of_kernel
            assembly.add(modules)
            _add_split(sizes, modules, size / len(rows))
    counted = zip(instructions.counts, instructions.shared, assembly.counts, assembly.shared,
                  sizes.counts, strict=True)  # fmt: skip
    return [Code(int(a), int(b), int(c), int(d), size) for a, b, c, d, size in counted]


_WHOLE: Held = frozenset((OUTSIDE,))


def modules_of_kernels(program: ProgramStages, parts: Sequence[Parts]) -> dict[str, Held]:
    """For each kernel the innermost modules for which it computes something, in any item."""
    modules: dict[str, Held] = {}
    for item, shares in zip(program.schedule.items, parts, strict=True):
        name = item.operation.name
        modules[name] = modules.get(name, frozenset()) | frozenset(shares)
    return modules


def _add_split(tally: Tally, modules: Held, amount: float) -> None:
    for at in modules:
        tally.add(frozenset((at,)), amount / len(modules))
