"""The NumPy interpreter of a kernel's loops: one NumPy axis per range.

A range is an arange along its own axis, and NumPy broadcasts: the value of an expression has the
extents of the ranges it depends on, and 1 elsewhere. Two ranges share an axis if no expression
depends on both.

The levels of ranges are ignored: all iterations run. Scratch memory has one part for each iteration
of the ranges that its effects depend on, and is filled when it is first read.

Memory is bounded. While the values of a body have more than `LIMIT` elements in total, its
outermost ranges are divided into blocks, which run one after the other.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import DataError, InternalError
from compiler.core.node import toposort
from compiler.graph.bits import as_array
from compiler.graph.kinds.scan import running
from compiler.loops.interpreted_memory import Scratch, check_inside, gather, scatter
from compiler.loops.nodes import (
    After,
    Alu,
    Argument,
    Bitcast,
    Body,
    Cast,
    Const,
    Custom,
    DefineVar,
    Load,
    Local,
    Range,
    Reduce,
    ScalarNode,
    Scan,
    Store,
    Update,
    memory,
)
from compiler.loops.placement import dependencies
from compiler.ops import functions, references, updates
from compiler.ops.table import OPS, REDUCTIONS

Watch: TypeAlias = Callable[[ScalarNode, Array], None]
"""Called with a node and its value in the open blocks, each time it is computed."""

LIMIT = 2**22
"""The most elements of all values of a body together. gelu of 2²⁰ takes 69, 17, 18, 19 and 47 ms
with 2¹⁶, 2¹⁸, 2²⁰, 2²² and 2²⁴, and at most 4, 5, 7, 17 and 44 MiB; a product of 256³ 341, 141, 32,
49 and 58 ms (EPYC, AVX2, 2026-11-23)."""
NOTHING: Array = np.zeros(0)
"""The value of an effect that has happened."""


def interpret(
    body: Body,
    arguments: Sequence[Array],
    limit: int = LIMIT,
    variables: Mapping[str, int] | None = None,
    watch: Watch | None = None,
) -> None:
    """Run `body` on flat arrays, one per slot; the written one is filled in place.

    `limit` bounds the elements held at a time, as far as blocks of one iteration allow. `variables`
    are the values of the variables by name; `watch` is called with every value. Raises `DataError`
    if a variable is missing or out of its bounds, and `InternalError` if an access is outside its
    buffer or a value has the wrong type.
    """
    run = _Run(body, arguments, limit, variables or {}, watch)
    with np.errstate(all="ignore"):
        for nest in body.sources:
            match nest:
                case Store():
                    run.store(nest)
                case Update():
                    run.update(nest)
                case Custom():
                    run.call(nest)


class _Run:
    """State of one run: the values computed for the open blocks of the ranges."""

    def __init__(
        self,
        body: Body,
        arguments: Sequence[Array],
        limit: int,
        variables: Mapping[str, int],
        watch: Watch | None,
    ) -> None:
        self.watch = watch
        self.arguments = arguments
        self.order: list[ScalarNode] = toposort([body])
        self.variables = {n: _given(n, variables) for n in self.order if isinstance(n, DefineVar)}
        self.needs = dependencies(body)
        self.axes = _colour(self.order, self.needs)
        self.rank = 1 + max(self.axes.values(), default=0)
        self.blocks = _blocks(self.order, self.needs, limit)
        self.values: dict[ScalarNode, Array] = {}
        self.scratch: dict[Local, Scratch] = {}
        self.carried: dict[tuple[Scan, tuple[int, ...]], Array] = {}
        """The last value of a scan, for each block of the other ranges that it depends on."""

    def store(self, node: Store) -> None:
        """Compute and write all elements of a store, block by block."""
        target = memory(node)
        for _ in self._in_blocks(node.ranges):
            index, value = self._value(node.sources[1]), self._value(node.sources[2])
            predicate = None if node.predicate is None else self._value(node.predicate)
            self._tell(node, value)
            if isinstance(target, Local):
                self._scratch(target).scatter(index, value, predicate)
            else:
                flat = self.arguments[target.slot]
                scatter(flat, index, value, predicate, f"store to {target.name}")

    def update(self, node: Update) -> None:
        """Apply all updates of a nest in the order of its loops, block by block."""
        target = memory(node)
        order = [self.axes[r] for r in node.ranges]
        order += [axis for axis in range(self.rank) if axis not in order]
        for _ in self._in_blocks(node.ranges):
            shape = self._shape(self.needs[node] | set(node.ranges))
            index, data, predicate = (
                np.broadcast_to(self._value(s), shape) for s in node.sources[1:4]
            )
            if isinstance(target, Local):
                index = self._scratch(target).places(index, predicate)
            index, data, predicate = (
                each.transpose(order).reshape(-1) for each in (index, data, predicate)
            )
            self._join(node.op, target, index[predicate], data[predicate])

    def _join(self, op: str, target: Argument | Local, index: Array, data: Array) -> None:
        if isinstance(target, Local):
            self._scratch(target).update(op, index, data)
            return
        flat = self.arguments[target.slot]
        check_inside(flat, index, f"update of {target.name}")
        updates.apply(op, flat, index, data)

    def _scratch(self, node: Local) -> Scratch:
        """The scratch memory; a new one if a loop that it depends on is in another iteration."""
        if node not in self.scratch:
            shape = self._shape(self.needs[node])
            self.scratch[node] = Scratch(node.name, shape, node.size, node.element.numpy)
        return self.scratch[node]

    def _shape(self, ranges: "frozenset[Range]") -> tuple[int, ...]:
        """The extents of the open blocks of `ranges`, each along its axis."""
        shape = [1] * self.rank
        for each in ranges:
            shape[self.axes[each]] = self.values[each].size
        return tuple(shape)

    def call(self, node: Custom) -> None:
        """Call a custom function on its arguments."""
        arguments = [a for a in node.sources if isinstance(a, Argument)]
        _instance(node).run(*(self.arguments[argument.slot] for argument in arguments))

    def _in_blocks(self, ranges: Sequence[Range]) -> Iterator[None]:
        """Open every combination of blocks of `ranges`, one after the other."""
        if not ranges:
            yield
            return
        first = ranges[0]
        extent = int(self._value(first.sources[0]).flat[0])
        step = self.blocks[first]
        for start in range(0, extent, step):
            self.values[first] = self._counter(first, start, min(start + step, extent))
            yield from self._in_blocks(ranges[1:])
            self._forget(first)

    def _counter(self, node: Range, start: int, stop: int) -> Array:
        shape = [1] * self.rank
        shape[self.axes[node]] = stop - start
        return np.arange(start, stop, dtype=np.int64).reshape(shape)

    def _forget(self, closed: Range) -> None:
        """Drop every value that depends on a range whose block is finished."""
        for node in [n for n in self.values if closed in self.needs[n]]:
            del self.values[node]
        for local in [n for n in self.scratch if closed in self.needs[n]]:
            del self.scratch[local]

    def _value(self, root: ScalarNode) -> Array:
        """The value of `root` in the open blocks; recursive only between nested reductions."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self.values:
                stack.pop()
                continue
            waiting = [s for s in _operands(node) if s not in self.values]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            self.values[stack.pop()] = self._computed(node)
            self._tell(node, self.values[node])
        return self.values[root]

    def _tell(self, node: ScalarNode, value: Array) -> None:
        if self.watch is not None and value is not NOTHING:
            self.watch(node, value)

    def _computed(self, node: ScalarNode) -> Array:
        """The value of `node` from those of its operands; effects and memory have none."""
        match node:
            case Store():
                self.store(node)
            case Update():
                self.update(node)
            case Local() | After():
                pass
            case _:
                return self._checked(node)
        return NOTHING

    def _checked(self, node: ScalarNode) -> Array:
        """The value of `node` from those of its operands, with the exact type."""
        match node:
            case Reduce():
                value = self._reduce(node)
            case Scan():
                value = self._scan(node)
            case _:
                value = np.asarray(self._scalar(node))
        if value.dtype != node.dtype.numpy:
            raise InternalError(
                "loops interpreter",
                f"the value of {node!r} has the wrong type",
                got=str(value.dtype),
                expected=node.dtype.name,
            )
        return value

    def _scalar(self, node: ScalarNode) -> Any:
        operands = [self.values[s] for s in _operands(node)]
        match node:
            case Const(bits=bits):
                return as_array(bits, node.dtype.numpy).reshape((1,) * self.rank)
            case DefineVar():
                return np.full((1,) * self.rank, self.variables[node], np.int64)
            case Alu(op=op):
                return OPS[op].reference(*operands)
            case Cast(target=target):
                return references.cast(operands[0], target)
            case Bitcast(target=target):
                return operands[0].view(target.numpy)
            case Custom():
                return _instance(node).elementwise(*operands)
            case Load():
                return self._load(node)
            case Range():
                raise InternalError("loops interpreter", f"{node.name} is used outside its loop")
        raise InternalError("loops interpreter", f"{type(node).__name__} has no value")

    def _load(self, node: Load) -> Array:
        source, index = memory(node), self.values[node.sources[1]]
        predicate = None if node.predicate is None else self.values[node.predicate]
        if isinstance(source, Local):
            return self._scratch(source).gather(index, predicate)
        return gather(self.arguments[source.slot], index, predicate, f"load from {source.name}")

    def _reduce(self, node: Reduce) -> Array:
        """The reduction of all blocks of the operand; of no elements, the identity."""
        row = REDUCTIONS[node.op]
        axes = tuple(self.axes[r] for r in node.ranges)
        result: Array | None = None
        for _ in self._in_blocks(node.ranges):
            operand = self._value(node.sources[0])
            shape = list(operand.shape)
            for each, axis in zip(node.ranges, axes, strict=True):
                shape[axis] = self.values[each].size
            whole = np.broadcast_to(operand, shape)
            part = row.reference(whole, axis=axes, dtype=operand.dtype, keepdims=True)
            result = part if result is None else OPS[row.combine].reference(result, part)
        if result is None:
            return np.full((1,) * self.rank, row.identity(node.dtype), node.dtype.numpy)
        return result

    def _scan(self, node: Scan) -> Array:
        """The scan of the open blocks; it continues from the last value of the block before."""
        counter, axis = self.values[node.axis], self.axes[node.axis]
        shape = list(self.values[node.sources[0]].shape)
        shape[axis] = counter.size
        whole = np.broadcast_to(self.values[node.sources[0]], shape)
        others = sorted(self.needs[node] - {node.axis}, key=lambda r: (r.number, r.part))
        place = node, tuple(int(self.values[each].flat[0]) for each in others)
        before = self.carried.pop(place, None) if counter.flat[0] else None
        if before is None:
            result = running(node.op, whole, axis)
        else:
            joined = running(node.op, np.concatenate([before, whole], axis), axis)
            result = np.delete(joined, 0, axis)
        self.carried[place] = np.take(result, [-1], axis)
        return result


def _instance(node: Custom) -> functions.Instance:
    """The custom function that a node calls."""
    function = functions.find(node.name)
    if function is None:
        raise InternalError("loops interpreter", f"no function is registered as {node.name}")
    return function


def _given(node: DefineVar, variables: Mapping[str, int]) -> int:
    """The value of a variable, checked against its bounds."""
    value = variables.get(node.name)
    if value is None or not node.low <= value <= node.high:
        got = "nothing" if value is None else str(value)
        expected = f"{node.low} to {node.high}"
        raise DataError(f"variable {node.name}", "no value", got=got, expected=expected)
    return value


def _operands(node: ScalarNode) -> tuple[ScalarNode, ...]:
    """The sources whose values are needed before the node itself is computed."""
    match node:
        case Range() | Reduce():
            return ()
        case Store() | Update():
            return () if isinstance(node.sources[0], Argument) else node.sources[:1]
        case Load():
            return node.sources[1 if isinstance(node.sources[0], Argument) else 0 :]
        case _:
            return node.sources


def _colour(
    order: list[ScalarNode], needs: Mapping[ScalarNode, frozenset[Range]]
) -> dict[Range, int]:
    """An axis for each range, so that ranges of one expression or one loop nest differ."""
    groups = {
        needs[n] | set(n.ranges) if isinstance(n, Store | Update) else needs[n] for n in order
    }
    groups |= {needs[n.sources[0]] | set(n.ranges) for n in order if isinstance(n, Reduce)}
    axes: dict[Range, int] = {}
    for node in order:
        if isinstance(node, Range):
            taken = {axes[r] for group in groups if node in group for r in group if r in axes}
            axes[node] = next(i for i in range(len(taken) + 1) if i not in taken)
    return axes


def _blocks(
    order: list[ScalarNode], needs: Mapping[ScalarNode, frozenset[Range]], limit: int
) -> dict[Range, int]:
    """The block length of each range: all iterations, or fewer of the outermost ranges."""
    blocks = {node: max(node.extent, 1) for node in order if isinstance(node, Range)}
    nests = (node.ranges for node in order if isinstance(node, Update))
    place = {each: depth for ranges in nests for depth, each in enumerate(ranges)}
    # Serial ranges are divided from the outermost inwards: their order is that of the updates.
    for each in sorted(blocks, key=lambda r: (r.role != "normal", place.get(r, r.number))):
        while blocks[each] > 1 and _elements(needs, blocks) > limit:
            blocks[each] = (blocks[each] + 1) // 2
    return blocks


def _elements(needs: Mapping[ScalarNode, frozenset[Range]], blocks: dict[Range, int]) -> int:
    """The elements of all values and memories together; effects count what they write."""
    total = 0
    for node, ranges in needs.items():
        nest = node.ranges if isinstance(node, Store | Update) else ()
        size = node.size if isinstance(node, Local) else 1
        total += size * math.prod(blocks[r] for r in ranges | set(nest))
    return total


def elements(body: Body) -> int:
    """The elements of all values of `body` together, if no range is divided into blocks."""
    order: list[ScalarNode] = toposort([body])
    whole = {node: max(node.extent, 1) for node in order if isinstance(node, Range)}
    return _elements(dependencies(body), whole)
