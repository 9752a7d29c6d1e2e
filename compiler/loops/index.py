"""index: lowers a kernel body to scalar expressions; movement becomes index arithmetic.

    Before:  %0 = param 0              f32[10,1]
             %1 = param 1              f32[64,10]
             %2 = permute %1 (1,0)     f32[10,64]
             %3 = reduce sum %2 axes (1) f32[10,1]
             %4 = store %0 %3 …
    After:   k0(out f32[10], in1 f32[640])
             for i0 in 10
               acc %2 = 0.0
               for r1 in 64   reduction
                 %4 = in1[0 + r1*10 + i0*1]      f32
                 %2 = sum(%2, %4)
               out[0 + i0*1 + 0*1] = %2

Each axis of the output is a range. The indices are pushed from the output towards the
parameters: a reshape flattens and divides again, a permute reorders, a broadcast axis is read at 0,
a shrink shifts, a flip mirrors, and a pad predicates the loads. Elsewhere called "rangeify".
An axis whose extent is a variable becomes a loop that runs to the variable.

A scan is the value of a store; its axis is the innermost loop and runs in order. A scatter is two
nests: the store of its initial value, then its updates in order. A store to parts of a buffer loops
over the written elements only. A body that reads the Param it writes reads only the element that it
writes, with the index of the store.

Relies on: invariants 1-11 of `graph/verify.py`, bodies as `schedule/outline.py` makes them.
Ensures: every load is inside its buffer or predicated; one range per axis of extent above 1.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from compiler.core.dtypes import bool_, int64
from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.graph import nodes as graph
from compiler.graph.extents import Extent, Extents, symbolic
from compiler.graph.kinds import effects
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import Shape, TensorNode
from compiler.graph.words import short
from compiler.loops import nodes
from compiler.loops.indices import (
    Indices,
    both,
    bound,
    clamp,
    in_parts,
    is_inside,
    is_within,
    move,
    shift,
)
from compiler.loops.nodes import Body, ScalarNode, alu, const, linear
from compiler.loops.nodes import index as index_const
from compiler.ops import functions
from compiler.schedule.in_place import reads_what_it_writes

Key: TypeAlias = tuple[TensorNode, Indices, ScalarNode | None]


def index(body: graph.Sink, provenance: Provenance[TensorNode]) -> Body:
    """The scalar form of a kernel body; `provenance` records the tensor nodes of each scalar."""
    stores: list[nodes.Store | nodes.Custom] = []
    updates: list[nodes.Update] = []
    walk = _Walk(provenance)
    for store in body.sources:
        written, value = store.sources
        assert isinstance(store, graph.Store) and isinstance(written, graph.Param)
        if isinstance(value, effects.Custom) and is_statement(value):
            stores.append(_statement(walk, written, value))
            continue
        whole = value
        if isinstance(whole, effects.Scatter | Scan):
            value = whole.sources[0]
        serial = whole.axis if isinstance(whole, Scan) and value.size else None
        is_other = store.parts or serial is not None
        value = value if is_other else _unshaped(value)
        indices = walk.new_ranges(value.shape, value.extents, "normal", value, serial=serial)
        _check_in_place(store)
        shape = written.shape if store.parts else value.shape
        where = linear(in_parts(indices, store.parts), shape)
        walk.stored[written] = where
        # An empty result computes nothing: not even what would stand outside its empty loops.
        is_empty = value.size == 0
        result = const(0, value.dtype) if is_empty else walk.value((value, indices, None))
        target = nodes.Argument((), written.slot, written.dtype, written.size, True)
        ranges = [i for i in indices if isinstance(i, nodes.Range)]
        along = None if serial is None else indices[serial]
        if isinstance(whole, Scan) and isinstance(along, nodes.Range):
            result = nodes.Scan((result, along), whole.op)
            walk.note(result, whole)
            ranges.sort(key=lambda each: each is along)
        node = nodes.Store((target, where, result, *ranges), bool(store.parts))
        walk.note(node, value)
        stores.append(node)
        if isinstance(whole, effects.Scatter):
            updates += _updates(walk, written, whole)
    root = Body((*stores, *updates))
    provenance.add(root, frozenset(body.sources))
    return root


def _unshaped(value: TensorNode) -> TensorNode:
    """The stored value without a final reshape: the same elements in order, with fewer divisions.

    Axes that a sum of products merges are split where its tiles are chosen.
    """
    if any(isinstance(node, graph.Reduce) for node in toposort([value])):
        return value
    while isinstance(value, graph.Reshape) and not any(value.extents):
        value = value.sources[0]
    return value


def _check_in_place(store: graph.Store) -> None:
    """Raise `InternalError` if a value reads elements of its Param that it does not write."""
    written, value = store.sources
    if written in toposort([value]) and not reads_what_it_writes(value, written, store.parts):
        what = "a body reads elements of the param it writes before others write them"
        expected = "the element that is written, or another param"
        raise InternalError("loops", what, got=short(written), expected=expected)


def is_statement(node: effects.Custom) -> bool:
    """True if a custom function works on whole buffers."""
    function = functions.find(node.name)
    return function is not None and function.kind == "kernel"


def _statement(walk: "_Walk", written: graph.Param, node: effects.Custom) -> nodes.Custom:
    """The call of a custom function on the buffer that it writes and those that it reads."""
    target = nodes.Argument((), written.slot, written.dtype, written.size, True)
    read = []
    for source in node.sources:
        assert isinstance(source, graph.Param)
        read.append(nodes.Argument((), source.slot, source.dtype, source.size, False))
    custom = nodes.Custom((target, *read), node.name, None)
    walk.note(custom, node)
    return custom


def _updates(walk: "_Walk", written: graph.Param, node: effects.Scatter) -> list[nodes.Update]:
    """The nest that applies the updates of a scatter; none if there is nothing to write."""
    base, changes, *positions = node.sources
    if not base.size or not changes.size:
        return []
    indices = walk.new_ranges(changes.shape, changes.extents, "serial", node)
    values = [walk.value((position, indices, None)) for position in positions]
    predicate: ScalarNode | None = None
    for position, extent in zip(values, symbolic(base.shape, base.extents), strict=True):
        predicate = both(predicate, is_within(position, bound(extent)))
    assert predicate is not None
    target = nodes.Argument((), written.slot, written.dtype, written.size, True)
    where = linear(tuple(map(clamp, values, base.shape)), base.shape)
    ranges = tuple(i for i in indices if isinstance(i, nodes.Range))
    change = walk.value((changes, indices, None))
    update = nodes.Update((target, where, change, predicate, *ranges), node.op)
    walk.note(update, node)
    return [update]


@dataclass(slots=True)
class _Walk:
    """Computes the scalar of (node, indices, predicate) keys, each once, without recursion."""

    provenance: Provenance[TensorNode]
    known: dict[Key, ScalarNode] = field(default_factory=dict)
    folded: dict[Key, tuple[nodes.Range, ...]] = field(default_factory=dict)
    below: dict[Key, list[Key]] = field(default_factory=dict)
    ranges: int = 0
    stored: dict[graph.Param, ScalarNode] = field(default_factory=dict)
    """For each Param that is written, the index of the written element."""

    def new_ranges(
        self,
        shape: Shape,
        extents: Extents,
        role: nodes.Role,
        node: TensorNode,
        unroll: int = 0,
        serial: int | None = None,
    ) -> Indices:
        """A range per axis of `node`; an axis of extent 1 needs none: its index is 0.

        `unroll` applies to the innermost axis; axis `serial` runs in order.
        """
        last = max((place for place, n in enumerate(shape) if n != 1), default=0)
        ranges: list[ScalarNode] = []
        for place, n in enumerate(symbolic(shape, extents)):
            if n == 1:
                ranges.append(index_const(0))
                continue
            role_of_axis: nodes.Role = "serial" if place == serial else role
            ranges.append(self._range(n, role_of_axis, node, unroll * (place == last)))
        return tuple(ranges)

    def _range(
        self, extent: int | Extent, role: nodes.Role, node: TensorNode, unroll: int
    ) -> nodes.Range:
        loop = nodes.Range((bound(extent),), self.ranges, role, unroll)
        self.ranges += 1
        for each in (loop, *loop.sources):
            self.provenance.add(each, frozenset((node,)))
        return loop

    def value(self, root: Key) -> ScalarNode:
        """The scalar of `root`."""
        stack = [root]
        while stack:
            key = stack[-1]
            if key in self.known:
                stack.pop()
                continue
            children = self.below.get(key)
            if children is None:
                children = self.below[key] = self._children(key)
            waiting = [c for c in children if c not in self.known]
            if not waiting and self._is_positions_only(key[0], children):
                children.append(self._element(key, [self.known[c] for c in children]))
                waiting = children[-1:]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            result = self._combine(key, [self.known[c] for c in children])
            self.known[key] = result
            self.note(result, key[0])
        return self.known[root]

    def note(self, created: ScalarNode, node: TensorNode) -> None:
        """Record `node` as the origin of `created` and of the index expressions created for it."""
        parents = frozenset((node,))
        for source in () if created in self.provenance.parents else created.sources:
            self.note_index(source, parents)
        self.provenance.made(created, parents)

    def note_index(self, created: ScalarNode, parents: frozenset[TensorNode]) -> None:
        """Record the origins of an index expression: `parents`, and the origins of its indices.

        So a sum of indices leads back to every movement that took part, not only to the last.
        """
        parents_of = self.provenance.parents
        if created in parents_of or not isinstance(created, nodes.Alu):
            return
        for each in toposort([created], parents_of):
            if isinstance(each, nodes.Alu) and each in parents_of:
                parents |= parents_of[each]
        self.provenance.made(created, parents)

    def _moved(self, node: TensorNode, indices: Indices) -> Indices:
        """The indices into the source of a movement, which is recorded as their origin."""
        if isinstance(node, graph.Pad):
            pairs = zip(indices, node.widths, strict=True)
            inside: Indices = tuple(shift(i, -before) for i, (before, _) in pairs)
        else:
            inside = move(node, indices)
        for each in inside:
            self.note_index(each, frozenset((node,)))
        return inside

    def _inside(self, node: graph.Pad, indices: Indices) -> ScalarNode | None:
        """The condition under which a padded axis reads its source; its origin is the pad."""
        condition = is_inside(node, indices)
        if condition is not None:
            self.note_index(condition, frozenset((node,)))
        return condition

    def _children(self, key: Key) -> list[Key]:
        """The keys of the operands of the scalar of `key`."""
        node, indices, predicate = key
        match node:
            case graph.Param() | graph.Const() | graph.Iota() | graph.Variable():
                return []
            case graph.Elementwise() | graph.Cast() | graph.Bitcast() | graph.Contiguous():
                return [(s, indices, predicate) for s in node.sources]
            case effects.Custom():
                return [(s, indices, predicate) for s in node.sources]
            case graph.Pad():
                condition = self._inside(node, indices)
                return [(node.sources[0], self._moved(node, indices), both(predicate, condition))]
            case graph.Index():
                return [(s, indices, predicate) for s in node.sources[1:]]
            case graph.Reduce():
                return [(node.sources[0], self._reduced(key), predicate)]
            case _:
                return [(node.sources[0], self._moved(node, indices), predicate)]

    def _is_positions_only(self, node: TensorNode, children: list[Key]) -> bool:
        """True if an `Index` has its positions but not yet the element that they point at."""
        return isinstance(node, graph.Index) and len(children) < len(node.sources)

    def _element(self, key: Key, positions: list[ScalarNode]) -> Key:
        """The key of the element an `Index` reads, its positions moved inside the source."""
        node, _, predicate = key
        assert isinstance(node, graph.Index)
        source = node.sources[0]
        if node.validity is not None:
            predicate = both(predicate, positions.pop())
        if not source.size:
            return source, tuple(index_const(0) for _ in positions), const(False, bool_)
        inside = tuple(map(clamp, positions, source.shape))
        for where, extent in zip(inside, source.extents, strict=False):
            if extent is not None:  # the clamp keeps it below the maximum only
                predicate = both(predicate, alu("lt", where, bound(extent)))
        return source, inside, predicate

    def _reduced(self, key: Key) -> Indices:
        """The indices of the source of a reduction, with new ranges for the reduced axes."""
        node, indices, _ = key
        assert isinstance(node, graph.Reduce)
        shape, extents = node.sources[0].shape, node.sources[0].extents
        of = tuple(shape[a] for a in node.axes), tuple(extents[a] for a in node.axes if extents)
        ranges = self.new_ranges(*of, "reduction", node, node.unroll)
        new = dict(zip(node.axes, ranges, strict=True))
        self.folded[key] = tuple(i for i in new.values() if isinstance(i, nodes.Range))
        return tuple(new.get(a, i) for a, i in enumerate(indices))

    def _combine(self, key: Key, values: list[ScalarNode]) -> ScalarNode:
        """The scalar of `key` from those of its children."""
        node, indices, predicate = key
        match node:
            case graph.Param():
                is_written = node in self.stored  # in place: it reads the element it writes
                source = nodes.Argument((), node.slot, node.dtype, node.size, is_written)
                where = self.stored[node] if is_written else linear(indices, node.shape)
                if predicate is None:
                    return nodes.Load((source, where))
                return nodes.Load((source, where, predicate))
            case graph.Const():
                return nodes.Const((), node.bits, node.dtype)
            case graph.Iota():
                return indices[0] if node.dtype == int64 else nodes.Cast((indices[0],), node.dtype)
            case graph.Variable():
                return nodes.DefineVar((), node.name, node.low, node.high)
            case graph.Elementwise():
                return alu(node.op, *values)
            case graph.Cast():
                return nodes.Cast((values[0],), node.target)
            case effects.Custom():
                return nodes.Custom(tuple(values), node.name, node.dtype)
            case graph.Bitcast():
                return nodes.Bitcast((values[0],), node.target)
            case graph.Pad():
                return self._padded(key, values[0])
            case graph.Index():
                return self._indexed(node, values)
            case graph.Reduce():
                ranges = self.folded[key]
                return nodes.Reduce((values[0], *ranges), node.op) if ranges else values[0]
            case _:
                return values[0]

    def _indexed(self, node: graph.Index, values: list[ScalarNode]) -> ScalarNode:
        """The element read, or 0 where a position is outside."""
        *positions, value = values
        condition = positions.pop() if node.validity is not None else None
        source = node.sources[0]
        for position, extent in zip(
            positions, symbolic(source.shape, source.extents), strict=True
        ):
            condition = both(condition, is_within(position, bound(extent)))
        assert condition is not None
        return alu("where", condition, value, const(0, node.dtype))

    def _padded(self, key: Key, value: ScalarNode) -> ScalarNode:
        """The padded value: 0 outside. A predicated load is 0 there already."""
        node, indices, _ = key
        assert isinstance(node, graph.Pad)
        condition = is_inside(node, indices)
        if condition is None or isinstance(value, nodes.Load):
            return value
        return alu("where", condition, value, const(0, node.dtype))
