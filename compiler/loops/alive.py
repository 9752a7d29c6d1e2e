"""alive: register pressure, the most values of a body that are live at once.

    for i0 in 64               %1, %2 loaded, %3 = %1 * %2, out[i0] = %3:  two
"""

import math
from collections.abc import Mapping

from compiler.loops.nodes import Argument, Const, Range, Reduce, ScalarNode
from compiler.loops.placement import Begin, Fold, Item, LoopBlock


def alive(top: LoopBlock, needs: Mapping[ScalarNode, frozenset[Range]]) -> int:
    """The most values live at once in the nest `top`: from definition to last use.

    A value defined before a loop and used in it is live throughout the loop. A value that depends
    on unrolled ranges takes a register for each of their iterations.
    """
    order: list[Item] = []
    loops: list[tuple[int, int]] = []
    stack: list[tuple[Item, int | None]] = [(top, None)]
    while stack:
        item, begin = stack.pop()
        if begin is not None:
            loops.append((begin, len(order)))
        elif isinstance(item, LoopBlock):
            stack.append((item, len(order)))
            stack.extend((each, None) for each in reversed(item.items))
        else:
            order.append(item)
    return _most_alive(order, loops, needs)


def _copies(node: ScalarNode, needs: Mapping[ScalarNode, frozenset[Range]]) -> int:
    """The number of registers of a value; an accumulator has one per unrolled iteration too."""
    ranges = needs[node] | set(node.ranges if isinstance(node, Reduce) else ())
    return math.prod(r.extent for r in ranges if r.level == "unroll")


def _most_alive(
    order: list[Item], loops: list[tuple[int, int]], needs: Mapping[ScalarNode, frozenset[Range]]
) -> int:
    largest: dict[ScalarNode, int] = {}
    last: dict[ScalarNode, int] = {}
    for at, item in enumerate(order):
        assert not isinstance(item, LoopBlock)
        node: ScalarNode = item.reduce if isinstance(item, Begin | Fold) else item
        if isinstance(item, Begin) or node not in largest:
            largest[node] = at
        operands = node.sources[:1] if isinstance(item, Fold) else node.sources
        for source in operands if not isinstance(item, Begin) else ():
            last[source] = at
    # the innermost loops first: a use in a loop that begins after the definition extends to its end
    for begin, end in sorted(loops, key=lambda loop: loop[1] - loop[0]):
        for node, use in last.items():
            if node in largest and largest[node] < begin <= use < end:
                last[node] = end - 1
    change = [0] * (len(order) + 1)
    for node, use in last.items():
        if node in largest and not isinstance(node, Const | Argument | Range):
            change[largest[node]] += _copies(node, needs)
            change[use] -= _copies(node, needs)
    alive = most = 0
    for step in change:
        alive += step
        most = max(most, alive)
    return most
