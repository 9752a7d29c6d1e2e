"""linearize: the loop nest of a body as a list of instructions.

    Before:  …  acc %2 = 0.0
                for r1 in 10   reduction
                  %4 = in1[i0*10 + r1]   f32
                  %2 = sum(%2, %4)   …
    After:   …   7    %7 = acc %4 f32
                 8    %8 = range %3 r1 reduction
                 9      %9 = add %6 %8 i64
                10      %10 = load f32 %1[%9]
                11      %11 = add %7 %10 f32 reduction
                12      assign %7 = %11
                13    end %8   …

A value that depends on unrolled ranges has a register for each combination of their iterations; its
lanes are those of the vector range (`tiles.py`). The iterations of a `core` range are divided among
runs: the variable `core_id` is the number of this run. Stores outside that range belong to run 0.

Relies on: invariants of `loops/verify.py`.
Ensures: invariants of `lowered/verify.py`; an accumulator is set before its loop starts; a sum
of products is one `mulacc`. A body without tagged ranges has registers of one lane only.
"""

from collections.abc import Callable
from typing import TypeAlias

from compiler.core.dtypes import bool_, int64
from compiler.core.node import toposort
from compiler.loops import nodes as loops
from compiler.loops.dots import converted_in_words
from compiler.loops.nodes import ScalarNode
from compiler.loops.placement import Begin, Fold, Item, LoopBlock, fused_products, place
from compiler.lowered import access
from compiler.lowered.accumulate import Accumulators, identity
from compiler.lowered.instructions import Alu, Bitcast, Cast, DefineGlobal, EndRange, Range
from compiler.lowered.machine import Custom, DefineVar, EndIf, If, Local, Unroll
from compiler.lowered.scans import Scans
from compiler.lowered.scratch import homes
from compiler.lowered.tiles import Iterations, Tile, Tiles, is_tagged
from compiler.lowered.values import Linear, Values

CORE = "core_id"
"""The variable with the number of this run of a kernel."""
Task: TypeAlias = Item | Callable[[], None]


def linearize(body: loops.Body) -> Linear:
    """The instructions of `body`, with the node each comes from."""
    return _Writer(body).run()


class _Writer:
    """State of one linearization: registers of the nodes written so far."""

    def __init__(self, body: loops.Body) -> None:
        self.body = body
        self.tiles = Tiles(body)
        self.values = Values(self.tiles)
        self.products = fused_products(body) | converted_in_words(body)
        self.accumulators = Accumulators(self.values, self.products)
        self.core: loops.DefineVar | None = None
        self.extents: set[ScalarNode] = set()
        """The kinds of nodes in trip counts."""
        self.open: list[loops.Range] = []

    def run(self) -> Linear:
        """Arguments, variables and constants first, then the loop nest."""
        order = self.tiles.order
        arguments = [n for n in order if isinstance(n, loops.Argument)]
        for each in sorted(arguments, key=lambda a: a.slot):
            self._argument(each)
        self._variables([n for n in order if isinstance(n, loops.DefineVar)])
        for node in order:
            if isinstance(node, loops.Const):
                self._constant(node)
            elif isinstance(node, loops.Reduce):
                self._constant(identity(node))
        self._extents()
        top = place(self.body)
        self.homes, self.scans = homes(top), Scans(self.values, top)
        stack: list[Task] = [top]
        while stack:
            item = stack.pop()
            if isinstance(item, LoopBlock):
                self._open(item, stack)
            elif callable(item):
                item()
            else:
                self.values.node = node_of(item)
                self._item(item)
        return self.values.finish()

    def _argument(self, node: loops.Argument) -> None:
        self.values.node = node
        size, written = node.size, node.is_written
        self.values.hold(
            node,
            self.values.write_head(
                lambda out: DefineGlobal(out, node.slot, node.element, size, written)
            ),
        )

    def _variables(self, variables: list[loops.DefineVar]) -> None:
        """The variables by name, with the one that core ranges need."""
        tasks = {r.tasks for r in self.tiles.order if isinstance(r, loops.Range) and is_core(r)}
        if tasks:
            (count,) = tasks
            self.core = loops.DefineVar((), CORE, 0, count - 1)
            variables = [*variables, self.core]
        for each in sorted(variables, key=lambda v: v.name):
            self._variable(each)

    def _variable(self, node: loops.DefineVar) -> None:
        self.values.node = node
        name, low, high = node.name, node.low, node.high
        register = self.values.write_head(lambda out: DefineVar(out, name, low, high))
        self.values.hold(node, register)

    def _constant(self, node: loops.Const) -> None:
        if self.values.holds(node):
            return
        self.values.node = node
        self.values.hold_constant(node)

    def _extents(self) -> None:
        """Computed extents, before all loops."""
        for axis in self.tiles.order:
            if not isinstance(axis, loops.Range) or is_tagged(axis):
                continue
            for node in toposort([axis.sources[0]]):
                if not self.values.holds(node):
                    self.values.node = node
                    self._compute(node)
                    self.extents.add(node)

    def _open(self, block: LoopBlock, stack: list[Task]) -> None:
        """A loop: its start, its items, its end."""
        axis = block.range
        if axis is not None:
            self.scans.begin(block)
            self.values.node = axis
            register = self._begin_loop(axis)
            stack.append(lambda: self._end_loop(axis, register))
        for local in self.homes.get(block, ()):
            self._local(local)
        stack.extend(reversed(block.items))

    def _local(self, node: loops.Local) -> None:
        self.values.node = node
        dtype, size = node.element, node.size
        self.values.hold(node, self.values.write(lambda out: Local(out, dtype, size)))

    def _begin_loop(self, axis: loops.Range) -> int:
        """The start of a loop; returns the register of its counter."""
        values = self.values
        start = None
        bound = values.plain(axis.sources[0])
        if is_core(axis):
            start, bound = self._share(axis, bound)
        if axis.unroll:
            values.append(Unroll(axis.unroll))
        register = values.write(lambda out: Range(out, bound, axis.number, axis.role, axis.part))
        values.open_scope()
        self.open.append(axis)
        values.hold(axis, register)
        if start is not None:
            values.hold(axis, self._alu("add", start, register))
        return register

    def _end_loop(self, axis: loops.Range, register: int) -> None:
        self.values.node = axis
        self.values.close_scope()
        self.open.pop()
        self.values.append(EndRange(register))

    def _share(self, axis: loops.Range, extent: int) -> tuple[int, int]:
        """For a core range: the first iteration of this run, and their number."""
        assert self.core is not None
        core, tasks = self.values.plain(self.core), self.values.number(axis.tasks)
        following = self._alu("add", core, self.values.number(1))
        first, end = (
            self._alu("idiv", self._alu("mul", extent, run), tasks) for run in (core, following)
        )
        return first, self._alu("sub", end, first)

    def _alu(self, op: str, a: int, b: int) -> int:
        return self.values.write(lambda out: Alu(out, op, (a, b), int64))

    def _item(self, item: ScalarNode | Begin | Fold) -> None:
        match item:
            case Begin():
                self.accumulators.begin(item.reduce)
            case Fold():
                self.accumulators.fold(item.reduce)
            case loops.Reduce():
                self.accumulators.finish(item)
            case loops.Scan():
                self.scans.take(item)
            case loops.Const():
                pass  # held since `run`
            case loops.Alu() if item in self.extents:
                pass  # as well
            case loops.Alu() | loops.Cast() if item in self.products:
                pass  # computed by the mulacc of a fold, or its dot
            case loops.Alu() if self.accumulators.is_join(item):
                self.accumulators.join(item)
            case loops.Store() | loops.Update():
                self._write(item)
            case loops.Custom(result=None):
                memories = tuple(self.values.plain(s) for s in item.sources)
                self.values.append(Custom(None, item.name, memories, None))
            case loops.Load():
                access.load(self.values, item)
            case _:
                self._compute(item)

    def _write(self, node: loops.Store | loops.Update) -> None:
        """A store or update; one outside the core range belongs to run 0."""
        is_shared = self.core is not None and not any(map(is_core, self.open))
        is_guarded = is_shared and isinstance(loops.memory(node), loops.Argument)
        if is_guarded:
            self.values.append(If(self._first()))
            self.values.open_scope()
        if isinstance(node, loops.Store):
            access.store(self.values, node)
        else:
            access.update(self.values, node)
        if is_guarded:
            self.values.close_scope()
            self.values.append(EndIf())

    def _first(self) -> int:
        """The register that is true in run 0."""
        assert self.core is not None
        core, one = self.values.plain(self.core), self.values.number(1)
        key = ("first",)
        return self.values.derived(key, lambda out: Alu(out, "lt", (core, one), bool_))

    def _compute(self, node: ScalarNode) -> None:
        """An instruction for each register of a node that is computed from registers."""
        if node in self.tiles.coefficients:
            self._base(node)
            return
        tile = self.tiles.of(node)
        for iterations in tile.combinations():
            self.values.hold(node, self._value(node, tile, iterations), tile.key(iterations))

    def _base(self, node: ScalarNode) -> None:
        """A sum of multiples at the first iterations, without terms that are 0 there."""
        assert isinstance(node, loops.Alu)
        a, b = (self.values.first(s) for s in node.sources)
        result: int | None
        match node.op:
            case "mul":
                result = None if a is None or b is None else self._alu("mul", a, b)
            case "add" if a is None or b is None:
                result = a if b is None else b
            case _ if b is None:
                result = a
            case _:
                a = self.values.number(0) if a is None else a
                result = self._alu(node.op, a, b)
        self.values.bases[node] = result

    def _value(self, node: ScalarNode, tile: Tile, iterations: Iterations) -> int:
        """One register of a node."""
        values, lanes, dtype = self.values, tile.lanes, node.dtype
        of = tuple(values.operand(s, iterations, lanes) for s in node.sources)
        match node:
            case loops.Cast():
                return values.write(lambda out: Cast(out, of[0], dtype, lanes))
            case loops.Bitcast():
                return values.write(lambda out: Bitcast(out, of[0], dtype, lanes))
            case loops.Alu():
                return values.write(lambda out: Alu(out, node.op, of, dtype, lanes=lanes))
            case loops.Custom():
                return self._call(node, of, lanes)
            case _:
                raise AssertionError(f"{type(node).__name__} is no value")

    def _call(self, node: loops.Custom, of: tuple[int, ...], lanes: int) -> int:
        """The call of a custom function, which takes one lane at a time."""
        values, dtypes = self.values, [s.dtype for s in node.sources]

        def call(arguments: tuple[int, ...]) -> int:
            return values.write(lambda out: Custom(out, node.name, arguments, node.dtype))

        if lanes == 1:
            return call(of)
        operands = list(zip(of, dtypes, strict=True))
        each = (tuple(values.lane(r, n, t) for r, t in operands) for n in range(lanes))
        return values.join(tuple(map(call, each)), node.dtype)


def is_core(axis: loops.Range) -> bool:
    """True if the iterations of a range are divided among runs of the kernel."""
    return axis.level == "core"


def node_of(item: ScalarNode | Begin | Fold) -> ScalarNode:
    """The node that an item of a block computes."""
    return item.reduce if isinstance(item, Begin | Fold) else item
