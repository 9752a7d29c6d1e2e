"""The compiler's own objects behind entities, and back: what `explorer.selected` gives and takes.

    graph:12, kernels:3, loops:0:7     the node
    schedule:2, schedule:buffer 1      the item, the buffer; schedule:fusion 0 the opportunity
    lowered:0:14                       the instruction
    source:9, llvm:0:3, asm:0:8        the printed line

Nodes that passes took away are found in the records of the passes.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from compiler.core.node import toposort
from svodviz.foundation.entities import Entities
from svodviz.foundation.stages import BY_ID, units
from svodviz.foundation.subject import is_tensor
from svodviz.wire.items import Buffers

if TYPE_CHECKING:
    from compiler.core.stage import Stage
    from compiler.program.compilation import Compilation
    from compiler.schedule.printer import Schedule


Thing: TypeAlias = object
Pair: TypeAlias = tuple[str, Thing]
"""An entity and what it names."""


class Live:
    """The objects of one compilation by entity, each stage's once somebody asks for one of them."""

    def __init__(self, compilation: "Compilation") -> None:
        self._compilation = compilation
        self._pairs: dict[str, list[Pair]] = {}
        self._found: dict[str, dict[str, Thing]] = {}

    def object(self, entity: str) -> Thing:
        """The object of an entity; None for "". An entity without an object stands for itself."""
        if not entity:
            return None
        stage = entity.partition(":")[0]
        if stage not in self._found:
            # The first counts: a node as it was written, then as passes made it, then its line.
            self._found[stage] = dict(reversed(self._of(stage)))
        return self._found[stage].get(entity, entity)

    def entity(self, value: Thing) -> str:
        """The entity of an object, of a tensor's node, or of an entity itself; "" for None.

        Raises LookupError for what is no part of the compilation.
        """
        if value is None or isinstance(value, str):
            return value or ""
        wanted = value.node if is_tensor(value) else value
        for stage in BY_ID:
            for entity, node_entity in self._of(stage):
                if node_entity is wanted:
                    return entity
        raise LookupError(f"this {type(value).__name__} is no part of what is explored")

    def _of(self, stage: str) -> list[Pair]:
        """Entities and objects of a stage; several objects may be one thing at different times."""
        if stage not in BY_ID or BY_ID[stage].asked:
            return []
        if stage not in self._pairs:
            pairs = (*self._nodes(stage), *self._passed(stage), *self._lines(stage))
            self._pairs[stage] = list(pairs)
        return self._pairs[stage]

    def _units(self, stage: str) -> "list[Stage]":
        try:
            return [unit.stage for unit in units(self._compilation, BY_ID[stage])]
        except Exception:
            if BY_ID[stage].on_demand:
                return []  # it could not be made: the page says so where it stands
            raise

    def _lines(self, stage: str) -> Iterator[Pair]:
        for position, unit in enumerate(self._units(stage)):
            for number, line in enumerate(unit.lines, 1):
                yield line.entity or f"{stage}:{position}:line {number}", line

    def _nodes(self, stage: str) -> Iterator[Pair]:
        for unit in self._units(stage):
            yield from _inside(unit)

    def _passed(self, stage: str) -> Iterator[Pair]:
        """Nodes that rewrites took away or made on the way."""
        for record in self._compilation.passes:
            if record.stage == stage:
                ends = [it for match in record.matches for it in (match.before, match.after)]
                for node in toposort(ends):
                    yield record.entity(node), node


def _inside(stage: "Stage") -> Iterator[Pair]:
    """The nodes, instructions or items of a stage."""
    from compiler.graph.printer import Graph
    from compiler.loops.printer import Loops
    from compiler.lowered.printer import Lowered
    from compiler.schedule.calls import KernelGraph
    from compiler.schedule.printer import Schedule

    match stage:
        case Graph():
            yield from ((stage.entity(it), it) for it in stage.nodes)
        case KernelGraph():
            yield from ((stage.entity(it), it) for it in stage.nodes)
        case Loops():
            yield from ((stage.entity(it), it) for it in stage.nodes)
        case Lowered(instructions=instructions):
            yield from ((stage.entity(number), it) for number, it in enumerate(instructions))
        case Schedule():
            yield from _scheduled(stage)


def _scheduled(schedule: "Schedule") -> Iterator[Pair]:
    """Items, their buffers as they are numbered for the page, and chances to fuse."""
    buffers = Buffers(Entities(), {})
    for item in schedule.items:
        yield schedule.entity(item.item_id), item
        operation = item.operation
        for it in (*operation.arguments, *operation.writes, *operation.reads):
            yield f"schedule:buffer {buffers.number(it)}", it
    for number, opportunity in enumerate(schedule.opportunities):
        yield f"schedule:fusion {number}", opportunity
