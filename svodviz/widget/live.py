"""The compiler's own objects behind entities, and back: what `explorer.selected` gives and takes.

    graph:12, kernels:3, loops:0:7     the node
    schedule:2, schedule:buffer 1      the item, the buffer; schedule:fusion 0 the opportunity
    lowered:0:14                       the instruction
    source:9, llvm:0:3, asm:0:8        the printed line

Nodes that passes took away are found in the records of the passes.
"""

from collections.abc import Iterator
from typing import Any

from compiler.core.node import toposort
from svodviz.foundation.entities import Entities
from svodviz.foundation.stages import BY_ID, units
from svodviz.wire.items import Buffers


class Live:
    """The objects of one compilation by entity, each stage's once somebody asks for one of them."""

    def __init__(self, compilation: Any) -> None:
        self._compilation = compilation
        self._pairs: dict[str, list[tuple[str, Any]]] = {}
        self._found: dict[str, dict[str, Any]] = {}

    def object(self, entity: str) -> Any:
        """What an entity names; None for "". An entity without an object stands for itself."""
        if not entity:
            return None
        stage = entity.partition(":")[0]
        if stage not in self._found:
            # The first counts: a node as it was written, then as passes made it, then its line.
            self._found[stage] = dict(reversed(self._of(stage)))
        return self._found[stage].get(entity, entity)

    def entity(self, value: Any) -> str:
        """The entity of an object, of a tensor's node, or of an entity itself; "" for None.

        Raises LookupError for what is no part of the compilation.
        """
        if value is None or isinstance(value, str):
            return value or ""
        wanted = getattr(value, "node", value)
        for stage in BY_ID:
            for entity, found in self._of(stage):
                if found is wanted:
                    return entity
        raise LookupError(f"this {type(value).__name__} is no part of what is explored")

    def _of(self, stage: str) -> list[tuple[str, Any]]:
        """Entities and objects of a stage; several objects may be one thing at different times."""
        if stage not in BY_ID or BY_ID[stage].asked:
            return []
        if stage not in self._pairs:
            pairs = (*self._nodes(stage), *self._passed(stage), *self._lines(stage))
            self._pairs[stage] = list(pairs)
        return self._pairs[stage]

    def _units(self, stage: str) -> list[Any]:
        try:
            return [unit.stage for unit in units(self._compilation, BY_ID[stage])]
        except Exception:
            if BY_ID[stage].on_demand:
                return []  # it could not be made: the page says so where it stands
            raise

    def _lines(self, stage: str) -> Iterator[tuple[str, Any]]:
        for position, unit in enumerate(self._units(stage)):
            for number, line in enumerate(unit.lines, 1):
                yield line.entity or f"{stage}:{position}:line {number}", line

    def _nodes(self, stage: str) -> Iterator[tuple[str, Any]]:
        for unit in self._units(stage):
            for node in getattr(unit, "nodes", ()):
                yield unit.entity(node), node
            for number, instruction in enumerate(getattr(unit, "instructions", ())):
                yield unit.entity(number), instruction
            if hasattr(unit, "items"):
                yield from _scheduled(unit)

    def _passed(self, stage: str) -> Iterator[tuple[str, Any]]:
        """Nodes that rewrites took away or made on the way."""
        for record in self._compilation.passes:
            if record.stage == stage:
                ends = [it for match in getattr(record, "matches", ())
                        for it in (match.before, match.after)]  # fmt: skip
                for node in toposort(ends):
                    yield record.entity(node), node


def _scheduled(schedule: Any) -> Iterator[tuple[str, Any]]:
    """Items, their buffers as they are numbered for the page, and chances to fuse."""
    buffers = Buffers(Entities(), {})
    for item in schedule.items:
        yield schedule.entity(item.item_id), item
        operation = item.operation
        for it in (*operation.arguments, *operation.writes, *operation.reads):
            yield f"schedule:buffer {buffers.number(it)}", it
    for number, it in enumerate(getattr(schedule, "opportunities", None) or ()):
        yield f"schedule:fusion {number}", it
