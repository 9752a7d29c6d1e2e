"""Lines that make a float32 program float64 without being asked to: `rand(3) + zeros(3)`.

NumPy's rule: the wider type wins, and so do a 64-bit integer and a NumPy number of float64 (a
Python number does not). What follows is computed in float64 too, in twice the memory, so the
first place of each such chain is reported: its line, its operation, and the float64 operand.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.core.dtypes import float32, float64
from compiler.core.node import toposort, users
from compiler.core.origin import Origin
from compiler.core.printable import printable
from compiler.graph import nodes
from compiler.graph.nodes import TensorNode

ASKED = frozenset(("Tensor", "astype", "cast", "double", "prod", "sum"))
"""Methods that convert because they were asked to."""
AT_MOST = 3
"""The number of places that are listed one by one."""


_MOVED = nodes.Expand | nodes.Permute | nodes.Reshape | nodes.Shrink


@dataclass(frozen=True, slots=True)
class Widening:
    """A value that was converted, the line where that happened, and the operand that asked."""

    cast: TensorNode
    origin: Origin
    other: TensorNode | None

    def __str__(self) -> str:
        where = f"float32 becomes float64 at {self.origin.place} in {self.origin.method}"
        return f"{where}, with {named(self.other, self.origin)}" if self.other else where


def widenings(written: nodes.Sink) -> list[Widening]:
    """The first places, by line, of a program as it was written."""
    order: list[TensorNode] = toposort([written])
    readers = users(order)
    widened: set[TensorNode] = set()
    for node in order:
        if _is_unasked(node) or widened.intersection(node.sources):
            widened.add(node)
    found: dict[Origin, Widening] = {}
    for node in filter(_is_unasked, order):
        other = _other(node, readers)
        if node.origin is not None and other not in widened:
            found.setdefault(node.origin, Widening(node, node.origin, other))
    return [found[origin] for origin in sorted(found)]


def warnings(written: nodes.Sink) -> Iterator[str]:
    """A line for each of the first places, and how to keep the program as it was."""
    found = widenings(written)
    for each in found[:AT_MOST]:
        text = f"  {each.origin.text}" if each.origin.text else ""
        yield f"warning: {each}{text}"
    if len(found) > AT_MOST:
        yield f"warning: and at {len(found) - AT_MOST} more places"
    if found:
        yield 'compiler.set_default_dtype("float32") or x.cast("float32") keeps it float32'


def _is_unasked(node: TensorNode) -> bool:
    """True if this converts float32 to float64 for an operation's sake."""
    if not isinstance(node, nodes.Cast) or node.dtype is not float64 or node.origin is None:
        return False
    return node.sources[0].dtype is float32 and node.origin.method not in ASKED


def _other(cast: TensorNode, readers: dict[TensorNode, list[TensorNode]]) -> TensorNode | None:
    """The other operand of the operation that the conversion is for, where it was made."""
    node, above = cast, readers[cast]
    while len(above) == 1 and len(above[0].sources) == 1:
        node, above = above[0], readers[above[0]]
    others = [s for reader in above for s in reader.sources if s is not node and s.dtype is float64]
    return _made(others[0], cast.origin) if others else None


def _made(node: TensorNode, here: Origin | None) -> TensorNode:
    """The node that an operand comes from, before movement and conversions on this line."""
    while isinstance(node, _MOVED) or (isinstance(node, nodes.Cast) and node.origin == here):
        node = node.sources[0]
    return node


def named(node: TensorNode, here: Origin) -> str:
    """`float64 div (mlp.py:8)`, `int64 x (mlp.py:3)`, `a float64 constant`"""
    if isinstance(node, nodes.Const):
        return f"a {node.dtype} constant, as zeros and ones are, and NumPy's numbers"
    name = printable(node.name) if isinstance(node, nodes.Buffer) and node.name else ""
    origin = node.origin
    words = name or (origin.method if origin else "")
    place = f"({origin.place})" if origin and origin != here else ""
    return " ".join(filter(None, (str(node.dtype), words, place)))
