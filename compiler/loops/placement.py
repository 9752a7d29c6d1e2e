"""placement: the loop nest of a body. An expression is placed in the outermost loop that has all
ranges it depends on; the loop of a reduction is placed where its result is used.

    i0 │ r1 │ %3 = load in1[i0*10 + r1]
       │    │ %4 = reduce max %3
       │ r2 │ %6 = exp(in1[i0*10 + r2] - %4)          %4 is computed once per i0
       │    │ %7 = reduce sum %6
       │ i3 │ store out[i0*10 + i3] = …

That one rule is loop-invariant code motion (LICM), and it fuses row statistics with the rows that
use them. `place` returns blocks; `linearize` and the printer walk them.

Loops are the ranges of the levels `loop` and `core`; `unroll` and `vector` ranges open no block.
Consecutive stores that begin with the same loops share them. Stores to scratch memory, with their
loops, are placed where the memory is first read. Neither memory nor `After` is an item:
`nodes.memory` gives the memory of an access.
"""

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from weakref import WeakKeyDictionary

from compiler.core.node import toposort, users
from compiler.loops import nodes
from compiler.loops.nodes import Body, ScalarNode, memory


@dataclass(slots=True, eq=False)
class LoopBlock:
    """The items of one loop, in order; `range` is None for the whole kernel."""

    range: nodes.Range | None
    items: "list[Item]" = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Begin:
    """Before the loops of a reduction: sets its accumulator to the identity."""

    reduce: nodes.Reduce


@dataclass(frozen=True, slots=True)
class Fold:
    """In the innermost loop of a reduction: combines its accumulator with one more value."""

    reduce: nodes.Reduce


Item: TypeAlias = ScalarNode | LoopBlock | Begin | Fold
Path: TypeAlias = "tuple[LoopBlock, ...]"
Nest: TypeAlias = nodes.Reduce | nodes.Store | nodes.Update
NESTS = nodes.Reduce, nodes.Store, nodes.Update
GIVEN = nodes.Range, nodes.Argument, nodes.DefineVar, nodes.Local
"""Nodes that exist before all loops. Both are tuples because `isinstance` is slow on unions."""


@dataclass(frozen=True, slots=True)
class _Close:
    """A task, once the operands of a nest are placed: append its loops, `path`, to their block."""

    node: Nest
    path: Path
    outside: int
    """The number of blocks of the path that are around the loops of the nest."""


_nests: "WeakKeyDictionary[Body, LoopBlock]" = WeakKeyDictionary()


def place(body: Body) -> LoopBlock:
    """The loop nest of `body`, as nested blocks. They are cached, so do not change them: work is
    counted from them first, then instructions are generated."""
    nests = _nests.get(body)
    if nests is None:
        nests = _nests[body] = _Placement(body).run()
    return nests


def is_loop(each: nodes.Range) -> bool:
    """True if the range is a loop of its own: level `loop` or `core`."""
    return each.level in ("loop", "core")


class _Placement:
    """State of one placement: what each node depends on, and where it has been put."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.needs = dependencies(body)
        self.loading = _loading(body)
        self.placed: dict[LoopBlock, set[ScalarNode]] = {}
        self.shared: dict[LoopBlock, LoopBlock] = {}
        """For each loop that an earlier nest opened, the loop open inside it."""

    def run(self) -> LoopBlock:
        """Place every store and update; each opens the loops that the one before has not opened."""
        top = self._block(None)
        path: Path = (top,)
        for nest in self.body.sources:
            assert isinstance(nest, nodes.Store | nodes.Update | nodes.Custom)
            if isinstance(nest, nodes.Custom):
                path = (top,)
                self._place([(nest, path)])
                continue
            shared = _shared(path, nest.ranges)
            self.shared = dict(itertools.pairwise(shared))
            path = self._opened(shared, [r for r in nest.ranges if is_loop(r)][len(shared) - 1 :])
            self._place(self._inside(_Close(nest, path, len(shared))))
        return top

    def _block(self, range_: nodes.Range | None) -> LoopBlock:
        block = LoopBlock(range_)
        self.placed[block] = set()
        return block

    def _opened(self, path: Path, ranges: "list[nodes.Range]") -> Path:
        """`path` and a new block for each of `ranges`."""
        return (*path, *(self._block(each) for each in ranges))

    def _home(self, node: ScalarNode, path: Path) -> Path:
        """The shortest prefix of `path` that has every loop that `node` depends on."""
        missing = {r for r in self.needs[node] if is_loop(r)}
        least = 0
        if node in self.loading:
            skipped = (n for n, block in enumerate(path) if _may_be_skipped(block.range))
            least = max(skipped, default=0)
        for depth, block in enumerate(path):
            missing -= {block.range}
            if not missing and depth >= least:
                return path[: depth + 1]
        names = ", ".join(sorted(r.name for r in missing))
        raise AssertionError(f"{node!r} needs {names}, which no loop around it has")

    def _place(self, tasks: "list[tuple[ScalarNode, Path] | _Close]") -> None:
        """Put each node after its operands, in the block where it belongs. Not recursive."""
        while tasks:
            task = tasks[-1]
            if isinstance(task, _Close):
                tasks.pop()
                self._close(task)
                continue
            node, path = task
            if self._is_ready(node, path):
                tasks.pop()
                continue
            home = self._home(node, path)
            if isinstance(node, Nest):
                tasks.pop()
                inner = self._opened(home, [r for r in node.ranges if is_loop(r)])
                tasks.extend(self._inside(_Close(node, inner, len(home))))
                continue
            waiting = [(s, home) for s in node.sources if not self._is_ready(s, home)]
            if waiting:
                tasks.extend(reversed(waiting))
                continue
            tasks.pop()
            self._put(node, home[-1])

    def _inside(self, close: _Close) -> "list[tuple[ScalarNode, Path] | _Close]":
        """The tasks that place a nest, last first: extents, operands, then its loops."""
        extents = [r.sources[0] for r in close.node.ranges if isinstance(r.sources[0], nodes.Alu)]
        operands = operands_of(close.node)
        waiting = [*extents, *operands]
        return [close, *((each, close.path) for each in reversed(waiting))]

    def _close(self, close: _Close) -> None:
        """Append the loops to their block, with the action of the nest in the innermost one."""
        node, path = close.node, close.path
        home = path[close.outside - 1]
        if isinstance(node, nodes.Reduce):
            # without a loop of its own, the fold follows its beginning in one block
            self._append(home, Begin(node))
            self._append(path[-1], Fold(node))
        else:
            self._append(path[-1], node)
        for outer, inner in itertools.pairwise(path[close.outside - 1 :]):
            self._append(outer, inner)
        if isinstance(node, nodes.Reduce):
            self._append(home, node)
        self.placed[home].add(node)

    def _is_ready(self, node: ScalarNode, path: Path) -> bool:
        if isinstance(node, nodes.After):
            return all(self._is_ready(s, path) for s in node.sources)
        if isinstance(node, GIVEN):
            return True
        return any(node in self.placed[block] for block in path)

    def _put(self, node: ScalarNode, block: LoopBlock) -> None:
        if not isinstance(node, nodes.After):
            self._append(block, node)
            self.placed[block].add(node)

    def _append(self, block: LoopBlock, item: Item) -> None:
        """Put `item` last, but before a loop that is still open."""
        inner = self.shared.get(block)
        place = len(block.items) if inner is None else block.items.index(inner)
        block.items.insert(place, item)


def _loading(body: Body) -> set[ScalarNode]:
    """The values that are loaded or computed from loaded ones."""
    loading: set[ScalarNode] = set()
    for node in toposort([body]):
        if isinstance(node, nodes.Load) or any(source in loading for source in node.sources):
            loading.add(node)
    return loading


def _may_be_skipped(each: nodes.Range | None) -> bool:
    """True if a loop runs once or not at all. Its counter is 0 and so in no index; its loads look
    loop-invariant, but must not be hoisted, since they may be out of bounds if it does not run."""
    return each is not None and not isinstance(each.sources[0], nodes.Const) and each.extent <= 1


def _shared(path: Path, ranges: tuple[nodes.Range, ...]) -> Path:
    """The prefix of `path` whose loops are the outermost ones of `ranges`."""
    loops = [r for r in ranges if is_loop(r)]
    same = 1
    for block, each in zip(path[1:], loops, strict=False):
        if block.range is not each:
            break
        same += 1
    return path[:same]


def operands_of(node: Nest) -> tuple[ScalarNode, ...]:
    """The operands of a nest in its innermost loop: its sources without its ranges."""
    ranges = set(node.ranges)
    if isinstance(node, nodes.Reduce):
        return node.sources[:1]
    return tuple(s for n, s in enumerate(node.sources) if n < 3 or s not in ranges)


def fused_products(body: Body) -> set[ScalarNode]:
    """The products that are only summed: they become fused multiply-adds."""
    order: list[ScalarNode] = toposort([body])
    readers = users(order)
    return {
        node
        for node in order
        if isinstance(node, nodes.Alu)
        and node.op == "mul"
        and node.dtype.kind != "bool"
        and all(isinstance(u, nodes.Reduce) and u.op == "sum" for u in readers[node])
    }


ASKED = 16
"""Bodies whose dependencies are cached: several passes need those of one body. Not tuned; of 343
look-ups while compiling ResNet-18, 122 hit (2026-11-23)."""


@functools.lru_cache(ASKED)
def dependencies(body: Body) -> Mapping[ScalarNode, frozenset[nodes.Range]]:
    """The ranges each node depends on: those of its operands, except those that it closes.

    Scratch memory depends on the ranges of all its effects, since these happen together: memory
    that is filled again is also initialised again.
    """
    order: list[ScalarNode] = toposort([body])
    memories = (n for n in order if isinstance(n, nodes.Local))
    scratch: dict[ScalarNode, frozenset[nodes.Range]] = dict.fromkeys(memories, frozenset())
    effects = [n for n in order if isinstance(n, (nodes.Store, nodes.Update))] if scratch else []
    while True:
        needs = _needs(order, scratch)
        grown = dict(scratch)
        for node in effects:
            if isinstance(local := memory(node), nodes.Local):
                grown[local] |= needs[node]
        if grown == scratch:
            return needs
        scratch = grown


def _needs(
    order: list[ScalarNode], scratch: Mapping[ScalarNode, frozenset[nodes.Range]]
) -> dict[ScalarNode, frozenset[nodes.Range]]:
    """The ranges each node depends on, given those of `scratch` memory."""
    needs: dict[ScalarNode, frozenset[nodes.Range]] = {}
    nothing: frozenset[nodes.Range] = frozenset()
    for node in order:
        nest: Nest | None = node if isinstance(node, NESTS) else None
        held = scratch.get(node, nothing) if scratch else nothing
        for source in node.sources if nest is None else operands_of(nest):
            other = needs[source]
            if other is not held and other:
                held = held | other if held else other
        if isinstance(node, nodes.Range):
            held = held | {node}
        needs[node] = held if nest is None else held.difference(nest.ranges)
    return needs
