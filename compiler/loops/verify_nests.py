"""verify_nests: invariants 11 to 15 of `invariants.py`: levels of ranges, and scratch memory."""

from collections.abc import Mapping

from compiler.loops.dots import against_words, factors
from compiler.loops.invariants import MOST_SIDE_BY_SIDE, broken, describe
from compiler.loops.nodes import (
    After,
    Body,
    Const,
    Load,
    Local,
    Range,
    Reduce,
    ScalarNode,
    Store,
    Update,
    memory,
)
from compiler.loops.placement import Nest, is_loop
from compiler.loops.symbolic import as_sum
from compiler.ops.words import in_a_word


def verify_nests(
    body: Body, order: list[ScalarNode], needs: Mapping[ScalarNode, frozenset[Range]]
) -> None:
    """Check the levels of all ranges, and the effects on scratch memory.

    Raises `InternalError` with the number of the first invariant broken, and the node.
    """
    for node in order:
        if isinstance(node, Range):
            _level(node)
        _lanes(node, needs)
        _words(node, needs)
        if isinstance(node, Update):
            _order(node)
    _cores(body, order)
    _scratch(body, order, needs)


def _level(node: Range) -> None:
    """Invariant 11, for a range; 12, for its tasks."""
    if not is_loop(node):
        extent = node.sources[0]
        if not isinstance(extent, Const) or not 1 <= int(extent.value) <= MOST_SIDE_BY_SIDE:
            what = f"the trip count of an {node.level} range"
            broken(node, 11, what, extent.bounds, f"a constant from 1 to {MOST_SIDE_BY_SIDE}")
    is_core = node.level == "core"
    if is_core != (node.tasks != 0) or (is_core and node.tasks < 2):
        expected = "2 or more" if is_core else "0, for it is no core range"
        broken(node, 12, "the number of tasks is wrong", node.tasks, expected)


def _lanes(node: ScalarNode, needs: Mapping[ScalarNode, frozenset[Range]]) -> None:
    """Invariant 11, for the ranges of a value."""
    ranges = set(node.ranges) if isinstance(node, Nest) else set()
    vectors = sorted(r.name for r in needs[node] | ranges if r.level == "vector")
    if len(vectors) > 1:
        broken(node, 11, "a value has lanes of two ranges", ", ".join(vectors), "one")


def _words(node: ScalarNode, needs: Mapping[ScalarNode, frozenset[Range]]) -> None:
    """Invariant 15."""
    ranges = node.ranges if isinstance(node, Nest) else ()
    words = [r for r in ranges if r.level == "dot"]
    if words:
        value = node.sources[0]
        product_factors = factors(value) if isinstance(node, Reduce) and node.op == "sum" else None
        parts = in_a_word(product_factors[0].dtype) if product_factors else 0
        if len(words) > 1 or parts != words[0].extent:
            what = f"{words[0].name} does not form a word"
            broken(node, 15, what, words[0].extent, parts or "a product")
    for axis in (r for r in needs[node] if r.level == "dot"):
        against = against_words(node, axis, needs)
        if against:
            broken(node, 15, against, axis.name, "adjacent elements")


def _order(node: Update) -> None:
    """Invariant 11, for the iterations of an update."""
    levels = [is_loop(r) for r in node.ranges]
    if levels != sorted(levels, reverse=True):
        names = ", ".join(r.name for r in node.ranges)
        broken(node, 11, "a loop inside an unrolled or vector range", names, "loops outside")
    for each in node.ranges:
        if each.level == "vector" and each.extent > 1 and not _hits_apart(node, each):
            broken(node, 11, f"lanes of {each.name} may hit one element", each.name, "a multiple")


def _hits_apart(node: Update, each: Range) -> bool:
    """True if different iterations of a range always update different elements."""
    terms = as_sum(node.sources[1]).terms
    if not all(isinstance(term, Range) for term in terms):
        return False
    moved = terms.pop(each, 0)
    if each.level == "vector":
        return moved != 0
    reach = sum(abs(c) * (t.extent - 1) for t, c in terms.items() if isinstance(t, Range))
    return abs(moved) > reach


def _cores(body: Body, order: list[ScalarNode]) -> None:
    """Invariant 12."""
    outermost: dict[Range, Nest] = {
        nest.ranges[0]: nest
        for nest in body.sources
        if isinstance(nest, Store | Update) and nest.ranges and nest.ranges[0].level == "core"
    }
    tasks = {each.tasks for each in outermost}
    if len(tasks) > 1:
        broken(body, 12, "core ranges differ in their tasks", sorted(tasks), "one number")
    statements = set(body.sources)
    for node in order:
        if not isinstance(node, Nest):
            continue
        for depth, each in enumerate(node.ranges):
            if each.level == "core" and (depth or node not in statements):
                broken(node, 12, f"{each.name} is inside", describe(node), "outermost of a body's")
            if each.level == "core" and isinstance(node, Update) and not _hits_apart(node, each):
                what = f"iterations of {each.name} may hit one element"
                broken(node, 12, what, each.name, "apart")


def _scratch(
    body: Body, order: list[ScalarNode], needs: Mapping[ScalarNode, frozenset[Range]]
) -> None:
    """Invariants 13 and 14."""
    numbers: dict[int, Local] = {}
    effects: dict[ScalarNode, set[ScalarNode]] = {}
    before: dict[ScalarNode, frozenset[ScalarNode]] = {}
    for node in order:
        match node:
            case Local():
                if numbers.setdefault(node.number, node) is not node or node.size < 1:
                    what = "a number each, and 1 element or more"
                    broken(node, 13, "scratch memory is not its own", node.size, what)
                before[node] = frozenset()
            case After():
                before[node] = before[node.sources[0]].union(
                    *({s} | before[s] for s in node.sources[1:])
                )
            case Store() | Update() if isinstance(memory(node), Local):
                before[node] = before[node.sources[0]]
                effects.setdefault(memory(node), set()).add(node)
                _effect(node, before[node], needs)
            case _:
                pass
    for node in order:
        if isinstance(node, Load) and isinstance(held := memory(node), Local):
            missing = effects.get(held, set()) - before[node.sources[0]]
            if missing or not before[node.sources[0]]:
                names = ", ".join(sorted(describe(n) for n in missing)) or "none"
                broken(node, 13, "read before all effects", names, "after all of them")


def _effect(
    node: Store | Update,
    before: frozenset[ScalarNode],
    needs: Mapping[ScalarNode, frozenset[Range]],
) -> None:
    """Invariants 13 and 14, for one effect on scratch memory."""
    if isinstance(node, Update) and not any(isinstance(n, Store) for n in before):
        broken(node, 13, "an update of what was not written", "no store before", "a store")
    outside = sorted(r.name for r in needs[node] if not is_loop(r))
    if outside:
        what = "an effect depends on unrolled or vector ranges"
        broken(node, 14, what, ", ".join(outside), "loops")
