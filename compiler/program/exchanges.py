"""The data that workers of a cluster exchange, each with the line that needs it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from compiler.core.lazy import loading
from compiler.core.origin import Origin
from compiler.core.trace import PassRecord
from compiler.graph.nodes import Sink, TensorNode

if TYPE_CHECKING:
    from compiler.graph.collectives import Collective


def exchanges(
    records: Sequence[PassRecord], lines_of: Callable[[TensorNode], Sequence[Origin]]
) -> "tuple[Collective, ...]":
    """The all-reduces and all-gathers that the graph passes of `records` made, in their order."""
    record = next((r for r in records if r.name == "shard"), None)
    if record is None or record.before is record.after:
        return ()
    with loading():
        from compiler.graph.shard import collectives

    assert isinstance(record.before, Sink)
    rows = collectives(record.before)
    lines = (row.line or next(iter(lines_of(row.node)), None) for row in rows)
    return tuple(replace(row, line=line) for row, line in zip(rows, lines, strict=True))
