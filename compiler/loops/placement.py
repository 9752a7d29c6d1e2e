"""placement: the loop nest of a body. An expression stands in the outermost loop that has all
the ranges it depends on; a reduction's loop stands where its result is wanted.

    i0 │ r1 │ %3 = load in1[i0*10 + r1]
       │    │ %4 = reduce max %3
       │ r2 │ %6 = exp(in1[i0*10 + r2] - %4)          %4 is computed once per i0
       │    │ %7 = reduce sum %6
       │ i3 │ store out[i0*10 + i3] = …

That one rule moves what does not change out of its loop, and fuses row statistics with the rows
that use them. `place` returns blocks; `linearize` and the printer walk them.
"""

import itertools
from dataclasses import dataclass, field
from typing import TypeAlias

from compiler.loops.nodes import (
    Alu,
    Argument,
    Body,
    Custom,
    DefineVar,
    Range,
    Reduce,
    ScalarNode,
    Store,
    Update,
)
from compiler.node import toposort, users


@dataclass(slots=True, eq=False)
class Block:
    """What happens in one loop (`range` is None for the whole kernel), in order."""

    range: Range | None
    items: "list[Item]" = field(default_factory=list)
    inner: "Block | None" = None
    """The loop that encloses the rest of the current store; it goes last."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Before the loops of a reduction: its accumulator takes the identity."""

    reduce: Reduce


@dataclass(frozen=True, slots=True)
class Fold:
    """In the innermost loop of a reduction: its accumulator takes one more value."""

    reduce: Reduce


Item: TypeAlias = ScalarNode | Block | Begin | Fold
Path: TypeAlias = "tuple[Block, ...]"


def place(body: Body) -> Block:
    """The loop nest of `body`, as nested blocks."""
    return _Placement(body).run()


class _Placement:
    """State of one placement: what each node depends on, and where it has been put."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.needs = dependencies(body)
        self.placed: dict[Block, set[ScalarNode]] = {}

    def run(self) -> Block:
        """Place every store and update; each opens its own loops."""
        top = self._block(None)
        for store in self.body.sources:
            assert isinstance(store, Store | Update | Custom)
            path: Path = (top,)
            for each in () if isinstance(store, Custom) else store.ranges:
                path = (*path, self._block(each))
            self._place([(store, path)])
            for outer, inner in itertools.pairwise(path):
                outer.items.append(inner)
        return top

    def _block(self, range_: Range | None) -> Block:
        block = Block(range_)
        self.placed[block] = set()
        return block

    def _home(self, node: ScalarNode, path: Path) -> Path:
        """The shortest beginning of `path` that has every range `node` depends on."""
        missing = set(self.needs[node])
        for depth, block in enumerate(path):
            missing.discard(block.range)
            if not missing:
                return path[: depth + 1]
        names = ", ".join(r.name for r in missing)
        raise AssertionError(f"{node!r} needs {names}, which no loop around it has")

    def _is_placed(self, node: ScalarNode, path: Path) -> bool:
        return any(node in self.placed[block] for block in path)

    def _place(self, tasks: list[tuple[ScalarNode | Fold, Path]]) -> None:
        """Put each node after its operands, in the block where it belongs. Not recursive."""
        loops: dict[tuple[ScalarNode, Block], Path] = {}
        while tasks:
            task, path = tasks[-1]
            if isinstance(task, Fold):
                tasks.pop()
                self._close(task, path, loops)
                continue
            if self._is_ready(task, path):
                tasks.pop()
                continue
            home = self._home(task, path)
            if isinstance(task, Reduce):
                tasks.pop()
                self._open(task, home, loops, tasks)
                continue
            waiting = [(s, home) for s in self._operands(task) if not self._is_ready(s, home)]
            if waiting:
                tasks.extend(reversed(waiting))
                continue
            tasks.pop()
            self._put(task, home[-1])

    def _operands(self, node: ScalarNode) -> tuple[ScalarNode, ...]:
        match node:
            case Store():
                return node.sources[:3]
            case Update():
                return node.sources[:4]
            case _:
                return node.sources

    def _is_ready(self, node: ScalarNode, path: Path) -> bool:
        is_given = isinstance(node, Range | Argument | DefineVar)
        return is_given or self._is_placed(node, path)

    def _put(self, node: ScalarNode, block: Block) -> None:
        block.items.append(node)
        self.placed[block].add(node)

    def _open(
        self,
        node: Reduce,
        home: Path,
        loops: dict[tuple[ScalarNode, Block], Path],
        tasks: list[tuple[ScalarNode | Fold, Path]],
    ) -> None:
        """Place the operand inside new loops; `_close` then puts the loops into `home`."""
        path = home
        for each in node.ranges:
            path = (*path, self._block(each))
        loops[node, home[-1]] = path
        tasks.append((Fold(node), home))
        tasks.append((node.sources[0], path))

    def _close(
        self, fold: Fold, home: Path, loops: dict[tuple[ScalarNode, Block], Path]
    ) -> None:
        """The operand is in place: start the accumulator, append the loops, fold inside."""
        node = fold.reduce
        path = loops[node, home[-1]]
        path[-1].items.append(fold)
        home[-1].items.append(Begin(node))
        for outer, inner in zip(path[len(home) - 1 :], path[len(home) :], strict=False):
            outer.items.append(inner)
        self._put(node, home[-1])


def fused_products(body: Body) -> set[ScalarNode]:
    """The products that are only summed: each sum takes them by one multiply-add."""
    order: list[ScalarNode] = toposort([body])
    readers = users(order)
    return {
        node
        for node in order
        if isinstance(node, Alu)
        and node.op == "mul"
        and node.dtype.kind != "bool"
        and all(isinstance(u, Reduce) and u.op == "sum" for u in readers[node])
    }


def dependencies(body: Body) -> dict[ScalarNode, frozenset[Range]]:
    """The ranges each node depends on: those of its operands, less those it folds."""
    needs: dict[ScalarNode, frozenset[Range]] = {}
    for node in toposort([body]):
        if isinstance(node, Range):
            needs[node] = frozenset((node,))
            continue
        operands = node.sources[:1] if isinstance(node, Reduce) else node.sources
        found = frozenset[Range]().union(*(needs[s] for s in operands))
        needs[node] = found - set(node.ranges) if isinstance(node, Reduce) else found
    return needs
