"""module_trace: one module followed through every stage: the lines of each that came of it.

    encoder.layer.0.attention through the compiler

    graph                    61 of 336 lines
      %12 = mul %10 %11      f32[1,16,64]      model.onnx:14
    assembly of k3           55 of 1,010 lines, all also of encoder.layer.1
      vfmadd231ps …

A line is the module's if something in it is (`spread.py`); items and kernels are its own that do
some of its work (`by_module.py`), not those that only read what it made. Lines next to each other
stand together, `…` is in the place of others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler.ask.by_module import Account, ByModule, by_module
from compiler.ask.spread import NOWHERE, Held, Spread
from compiler.core.errors import DataError
from compiler.core.printable import ShownAsText, printout
from compiler.core.stage import Stage
from compiler.core.text import counted
from compiler.core.trace import Line
from compiler.graph.modules import Modules
from compiler.stages.stages import ProgramStages

NAMED = 3
"""Other modules that are named at a stage; of more the number. A choice."""
SHOWN = 200
"""Lines of one part of a stage that are printed. A choice."""


@dataclass(frozen=True, slots=True)
class Traced:
    """The lines of a part of a stage that are a module's, by position, of so many lines that show
    anything; `others` are modules that share some of them, of which `shared` are."""

    stage: str
    title: str
    lines: tuple[tuple[int, Line], ...]
    count: int
    shared: int
    others: tuple[str, ...]

    @property
    def words(self) -> str:
        """`55 of 1,010 lines, 12 of them also of encoder.layer.1`"""
        text = f"{len(self.lines):,} of {counted(self.count, 'line')}"
        if not self.shared:
            return text
        many = "all of them" if self.shared == len(self.lines) else f"{self.shared:,} of them"
        named = len(self.others) <= NAMED
        others = ", ".join(self.others) if named else counted(len(self.others), "other module")
        return f"{text}, {many} also of {others}"


@dataclass(frozen=True, slots=True, eq=False)
class ModuleTrace(ShownAsText):
    """One module through the stages `asked` for; `stages` has their parts: of those with a part for
    each kernel the kernels that do some of its work."""

    account: Account
    passes: tuple[str, ...]
    asked: tuple[str, ...]
    stages: tuple[Traced, ...]

    def __str__(self) -> str:
        row = self.account.row
        return printout([
            f"{row.path or row.name} {row.kind}".rstrip(), *self._passes(), *self._kernels(),
            *(text for it in self.stages if it.lines for text in _printed(it)), *self._nothing(),
        ])  # fmt: skip

    def _passes(self) -> Iterator[str]:
        """The number of nodes that were made, and of those left after each pass."""
        alive = zip(self.account.alive, self.passes, strict=True)
        left = "".join(f", {count:,} after {name}" for count, name in alive)
        yield f"  {counted(self.account.row.nodes, 'node')} made{left}"

    def _kernels(self) -> Iterator[str]:
        for it in self.account.kernels:
            least, most = min(it.shares), max(it.shares)
            part = f"{100 * most:.0f} %" if most - least < 0.005 else (
                f"{100 * least:.0f} … {100 * most:.0f} %")  # fmt: skip
            also = f", also of {counted(len(it.others), 'other module')}" if it.others else ""
            yield f"  {it.title}: {counted(len(it.items), 'item')}, {part} of its work{also}"

    def _nothing(self) -> Iterator[str]:
        """The stages in which nothing of the module is."""
        some = {it.stage for it in self.stages if it.lines}
        yield from (f"\nnothing of it in {it}" for it in self.asked if it not in some)


def _printed(it: Traced) -> Iterator[str]:
    yield ""
    yield f"== {it.title}: {it.words}"
    last = it.lines[0][0] - 1
    for position, line in it.lines[:SHOWN]:
        if position != last + 1:
            yield "  …"
        last = position
        yield f"  {line.text}"
    if len(it.lines) > SHOWN:
        yield f"  … and {counted(len(it.lines) - SHOWN, 'line')} more"


STAGES = ("source", "graph", "optimized_graph", "kernels", "schedule", "loops", "lowered", "llvm",
          "optimized", "assembly")  # fmt: skip
"""The stages that a module is followed through, in order."""
PER_KERNEL = frozenset(STAGES[5:])


def module_trace(program: ProgramStages, module: str, to: str) -> ModuleTrace:
    """One module through the stages up to `to`. Raises `DataError` where there is no such module or
    stage."""
    stages = _stages_to(to)
    modules = program.modules
    at = modules.find(module, "trace")
    reaches_code = bool(PER_KERNEL.intersection(stages))
    accounts = by_module(program, with_code=reaches_code)
    held = accounts.held
    of_lines, kernels = _of_lines(program, held), {it.name for it in accounts.rows[at].kernels}
    _settle(program, accounts)
    traced = tuple(
        _traced(name, part, at, of_lines if name == "source" else held)
        for name in stages for part in _parts(program, name)
        if name not in PER_KERNEL or part.name in kernels
    )  # fmt: skip
    return ModuleTrace(accounts.rows[at], accounts.passes, stages, traced)


def _settle(program: ProgramStages, accounts: ByModule) -> None:
    """Items, and the calls that they run, are of those modules whose work they do."""
    schedule = program.schedule
    for item, parts in enumerate(accounts.parts):
        for entity in (schedule.entity(item), *schedule.parents[item]):
            accounts.held.settle(entity, frozenset(parts))


def _of_lines(program: ProgramStages, held: Spread) -> Spread:
    """The modules of the lines of the source: of all nodes made there."""
    of_lines = Spread(program.modules, program.lines_of)
    source = program.graph.parents
    for node, lines in source.items():
        own_lines = set(lines) - set(program.graph.callers.get(node, ()))
        of_lines.begin((line, node) for line in own_lines or lines if line.startswith("source:"))
    return of_lines


def _traced(stage: str, part: Stage, at: int, held: Spread) -> Traced:
    modules = held.modules
    lines_of_module: list[tuple[int, Line]] = []
    shared, others = 0, dict[int, None]()
    lines = part.lines
    for position, line in enumerate(lines):
        of = _held(line, held)
        if not any(modules.is_inside(it, at) for it in of):
            continue
        lines_of_module.append((position, line))
        beside = [it for it in of if not modules.is_inside(it, at)]
        shared += bool(beside)
        others.update(dict.fromkeys(beside))
    count = sum(bool(line.text.strip()) for line in lines)
    names = _outermost(sorted(others), at, modules)
    return Traced(stage, part.title, tuple(lines_of_module), count, shared, names)


def _held(line: Line, held: Spread) -> Held:
    if line.entity:
        return held.of(line.entity)
    inside = (it for it in line.parents if it.startswith("graph:"))  # of an iteration's nodes
    return NOWHERE.union(*(held.of(it) for it in inside))


def _outermost(others: Sequence[int], at: int, modules: Modules) -> tuple[str, ...]:
    """Other modules by name: of each the outermost in which the traced one is not."""
    around = set(modules.around(at))
    tops = (next((it for it in reversed(modules.around(one)) if it not in around), one)
            for one in others)  # fmt: skip
    return tuple(modules.rows[it].path or modules.rows[it].name for it in dict.fromkeys(tops))


def _parts(program: ProgramStages, stage: str) -> tuple[Stage, ...]:
    """The parts of a stage, of most one for each kernel."""
    stages = getattr(program, {"source": "user_source", "llvm": "source"}.get(stage, stage))
    return stages if isinstance(stages, tuple) else (stages,)


def _stages_to(to: str) -> tuple[str, ...]:
    """The stages up to one. Raises `DataError` where there is none of that name."""
    name = {"asm": "assembly", "llvm_optimized": "optimized"}.get(to, to)
    if name not in STAGES:
        raise DataError("trace", "no such stage", got=repr(to), expected=", ".join(STAGES))
    return STAGES[: STAGES.index(name) + 1]
