"""dots: sums of products of small types, for dot-product instructions such as vpdpbusd.

    acc += in1[i0*64 + r2.0*4 + r2.1] * local0[r2.0*256 + i1*4 + r2.1]      r2.1 in 4   dot
           4 elements in a row, a word    4 elements in a row, a word for each column

The elements of a word are the iterations of a `dot` range; each word is a lane of the instruction.
`ops/words.py` lists the types.
"""

from collections.abc import Collection, Mapping

from compiler.core.node import toposort, users
from compiler.loops.nodes import Alu, Bitcast, Body, Cast, Load, Range, Reduce, ScalarNode, memory
from compiler.loops.symbolic import as_sum
from compiler.ops.words import are_small


def dot_range(node: ScalarNode) -> Range | None:
    """The `dot` range of a reduction; None without."""
    ranges = node.ranges if isinstance(node, Reduce) else ()
    return next((each for each in ranges if each.level == "dot"), None)


def factors(node: ScalarNode) -> tuple[ScalarNode, ScalarNode] | None:
    """The two factors, before conversion, of a product that a dot-product instruction can sum."""
    if not isinstance(node, Alu) or node.op != "mul":
        return None
    a, b = (each.sources[0] if isinstance(each, Cast) else None for each in node.sources)
    if a is None or b is None or not are_small(a.dtype, b.dtype, node.dtype):
        return None
    return a, b


def against_words(
    node: ScalarNode, axis: Range, needs: Mapping[ScalarNode, frozenset[Range]],
    lanes: Collection[Range] = (),
) -> str:  # fmt: skip
    """The reason why a value that depends on `axis` has no words along it; empty if it has.

    `lanes` are ranges that will become lanes, in addition to those that already are.
    """
    if not isinstance(node, Load):
        is_computed = isinstance(node, Alu | Cast | Bitcast | Range)
        return "" if is_computed else f"a {type(node).__name__.lower()} depends on {axis.name}"
    name, terms = memory(node).name, as_sum(node.sources[1]).terms
    if terms.get(axis) != 1 or (node.predicate is not None and axis in needs[node.predicate]):
        return f"elements of {name} along {axis.name} are not contiguous"
    vector = next((r for r in needs[node] if r.level == "vector" or r in lanes), None)
    if vector is not None and terms.get(vector) != axis.extent:
        return f"words of {name} along {vector.name} are not contiguous"
    others = (term for term in terms if term not in (axis, vector))
    if any({axis, vector} & needs[term] for term in others):
        return f"where {name} is read is not a sum of multiples of {axis.name}"
    return ""


def converted_in_words(body: Body) -> set[ScalarNode]:
    """The conversions that dot-product instructions include."""
    order: list[ScalarNode] = toposort([body])
    folded = [node.sources[0] for node in order if dot_range(node) is not None]
    factors = {s for value in folded for s in value.sources}
    readers = users(order) if factors else {}
    return {node for node in factors if all(reader in folded for reader in readers[node])}
