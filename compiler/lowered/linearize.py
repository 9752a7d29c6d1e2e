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

Relies on: invariants of `loops/verify.py`.
Ensures: invariants of `lowered/verify.py`; an accumulator is set before its loop starts; a sum
of products is one `mulacc`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from compiler.loops import nodes as loops
from compiler.loops.nodes import ScalarNode
from compiler.loops.placement import Begin, Block, Fold, Item, fused_products, place
from compiler.lowered.instructions import (
    Acc,
    Alu,
    Assign,
    Bitcast,
    Cast,
    Const,
    DefineGlobal,
    EndRange,
    Instruction,
    Load,
    Range,
    Store,
)
from compiler.lowered.machine import Custom, DefineVar, Unroll
from compiler.node import toposort
from compiler.ops import REDUCTIONS
from compiler.updates import UPDATES


@dataclass(slots=True)
class Linear:
    """Instructions, and for each the scalar node it computes."""

    instructions: list[Instruction] = field(default_factory=list)
    origins: list[ScalarNode] = field(default_factory=list)


def linearize(body: loops.Body) -> Linear:
    """The instructions of `body`, with the node each comes from."""
    return _Writer(body).run()


class _Writer:
    """State of one linearization: registers of the nodes written so far."""

    def __init__(self, body: loops.Body) -> None:
        self.body = body
        self.result = Linear()
        self.order: list[ScalarNode] = toposort([body])
        self.products = fused_products(body)
        self.registers: dict[ScalarNode, int] = {}
        self.next = 0

    def run(self) -> Linear:
        """Arguments, variables and constants first, then the loop nest."""
        arguments = [n for n in self.order if isinstance(n, loops.Argument)]
        for each in sorted(arguments, key=lambda a: a.slot):
            self._argument(each)
        variables = [n for n in self.order if isinstance(n, loops.DefineVar)]
        for variable in sorted(variables, key=lambda v: v.name):
            self._variable(variable)
        for node in self.order:
            if isinstance(node, loops.Const):
                self._constant(node)
            elif isinstance(node, loops.Reduce):
                self._constant(_identity(node))
        stack: list[Item | Callable[[], None]] = [place(self.body)]
        while stack:
            item = stack.pop()
            if isinstance(item, Block):
                self._open(item, stack)
            elif callable(item):
                item()
            else:
                self._item(item)
        return self.result

    def _argument(self, node: loops.Argument) -> None:
        size, written = node.size, node.is_written
        self._emit(node, lambda out: DefineGlobal(out, node.slot, node.element, size, written))

    def _variable(self, node: loops.DefineVar) -> None:
        name, low, high = node.name, node.low, node.high
        self._emit(node, lambda out: DefineVar(out, name, low, high))

    def _constant(self, node: loops.Const) -> None:
        if node not in self.registers:
            self._emit(node, lambda out: Const(out, node.bits, node.dtype))

    def _emit(self, node: ScalarNode, make: Callable[[int], Instruction]) -> int:
        """Append an instruction that writes a new register, which then holds `node`."""
        register = self.next
        self.next += 1
        self._append(make(register), node)
        self.registers[node] = register
        return register

    def _append(self, instruction: Instruction, node: ScalarNode) -> None:
        self.result.instructions.append(instruction)
        self.result.origins.append(node)

    def _open(self, block: Block, stack: list[Item | Callable[[], None]]) -> None:
        """A loop: its begin, its items, its end."""
        axis = block.range
        if axis is not None:
            bound = self.registers[axis.sources[0]]
            if axis.unroll:
                self._append(Unroll(axis.unroll), axis)
            self._emit(axis, lambda out: Range(out, bound, axis.number, axis.role))
            register = self.registers[axis]
            stack.append(lambda: self._append(EndRange(register), axis))
        stack.extend(reversed(block.items))

    def _item(self, item: ScalarNode | Begin | Fold) -> None:
        match item:
            case Begin():
                self._begin(item.reduce)
            case Fold():
                self._fold(item.reduce)
            case loops.Reduce() | loops.Const() | loops.DefineVar():
                pass  # held since `_begin`, or since `run`
            case loops.Alu() if item in self.products:
                pass  # computed by the mulacc of `_fold`
            case loops.Store():
                target, where, value = (self.registers[s] for s in item.sources[:3])
                self._append(Store(target, where, value, None), item)
            case loops.Update():
                self._update(item)
            case loops.Custom(result=None):
                memories = tuple(self.registers[s] for s in item.sources)
                self._append(Custom(None, item.name, memories, None), item)
            case _:
                self._compute(item)

    def _begin(self, node: loops.Reduce) -> None:
        """The accumulator takes the identity of the reduction."""
        start = self.registers[_identity(node)]
        self._emit(node, lambda out: Acc(out, start, node.dtype))

    def _fold(self, node: loops.Reduce) -> None:
        """The accumulator takes one more value; the sum of a product is one mulacc."""
        accumulator = self.registers[node]
        value = node.sources[0]
        op, operands = REDUCTIONS[node.op].combine, (accumulator, self.registers.get(value, -1))
        arguments: tuple[int, ...] = operands
        if value in self.products:
            op = "mulacc"
            arguments = (*(self.registers[s] for s in value.sources), accumulator)
        register = self.next
        self.next += 1
        self._append(Alu(register, op, arguments, node.dtype, True), node)
        self._append(Assign(accumulator, register), node)

    def _update(self, node: loops.Update) -> None:
        """Read the element, join, write it back, all under the gate."""
        target, where, value, gate = (self.registers[s] for s in node.sources[:4])
        valid = None if _is_true(node.sources[3]) else gate
        combine = UPDATES[node.op].combine
        if combine is not None:
            dtype, held = node.dtype, self.next
            joined = self.next + 1
            self.next += 2
            self._append(Load(held, target, where, valid, dtype), node)
            self._append(Alu(joined, combine, (held, value), dtype), node)
            value = joined
        self._append(Store(target, where, value, valid), node)

    def _compute(self, node: ScalarNode) -> None:
        """An instruction for a node that computes one value from registers."""
        of = [self.registers.get(s, -1) for s in node.sources]
        match node:
            case loops.Load():
                valid = of[2] if node.gate is not None else None
                self._emit(node, lambda out: Load(out, of[0], of[1], valid, node.dtype))
            case loops.Cast():
                self._emit(node, lambda out: Cast(out, of[0], node.dtype))
            case loops.Bitcast():
                self._emit(node, lambda out: Bitcast(out, of[0], node.dtype))
            case loops.Custom():
                self._emit(node, lambda out: Custom(out, node.name, tuple(of), node.dtype))
            case loops.Alu():
                self._emit(node, lambda out: Alu(out, node.op, tuple(of), node.dtype))
            case _:
                raise AssertionError(f"{type(node).__name__} is no value")


def _is_true(gate: ScalarNode) -> bool:
    return isinstance(gate, loops.Const) and bool(gate.value)


def _identity(node: loops.Reduce) -> loops.Const:
    """The value an accumulator of this reduction starts with."""
    return loops.const(REDUCTIONS[node.op].identity(node.dtype), node.dtype)
