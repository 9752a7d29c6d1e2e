"""The printed form and the picture of lowered instructions.

12  %12 = load out f32 in1[%11]
13  %13 = mulacc %12 %9 %6                     f32  reduction
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from compiler.core.dtypes import DType
from compiler.core.stage import Stage
from compiler.core.trace import Line, empty_graph
from compiler.graph.bits import literal
from compiler.lowered import custom
from compiler.lowered.by_hand import Barrier, Block, Buffer, Noop, Special, Wmma
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
    reads,
    writes,
)
from compiler.lowered.machine import (
    Custom,
    DefineVar,
    Dot,
    EndIf,
    Gep,
    If,
    Local,
    PtrCat,
    Shuffle,
    Unroll,
    VConst,
    Vectorize,
)

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lowered(Stage):
    """Stage 6: the instructions of one kernel; `parents[i]` are the loop entities of number i."""

    instructions: tuple[Instruction, ...]
    kernel: int
    parents: tuple[tuple[str, ...], ...]

    def entity(self, number: int) -> str:
        """The entity string of an instruction."""
        return f"lowered:{self.kernel}:{number}"

    @property
    def line_count(self) -> int:
        """The number of lines."""
        return len(self.instructions)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """One line per instruction, indented by loop depth."""
        rows, depth = [], 0
        for number, instruction in enumerate(self.instructions):
            depth -= isinstance(instruction, EndRange | EndIf)
            text = f"{number:>3}  {'  ' * depth}{self.text(instruction)}"
            rows.append(Line(text, self.entity(number), self.parents[number]))
            depth += isinstance(instruction, Range | If)
        return tuple(rows)

    def text(self, instruction: Instruction) -> str:
        """One instruction as text."""
        out = writes(instruction)
        head = "" if out is None or isinstance(instruction, Assign) else f"%{out} = "
        op, argument = describe(instruction)
        operands = " ".join(f"%{r}" for r in reads(instruction))
        match instruction:
            case Assign(target=target, source=source):
                return f"assign %{target} = %{source}"
            case Load(buffer=buffer, index=index, valid=valid, dtype=dtype):
                predicate = "" if valid is None else f" if %{valid} else 0"
                t = _typed(dtype, instruction.lanes)
                more = f" fetch {instruction.ahead:+}" if instruction.ahead else ""
                return f"{head}load {t} %{buffer}[%{index}]{predicate}{more}"
            case Store(buffer=buffer, index=index, source=source, valid=valid):
                predicate = "" if valid is None else f" if %{valid}"
                wide = "" if instruction.lanes == 1 else f" x{instruction.lanes}"
                past = " streamed" if instruction.is_streamed else ""
                return f"store{wide} %{buffer}[%{index}] = %{source}{predicate}{past}"
            case Wmma(target=target, a=a, b=b, c=c):
                return f"wmma %{target} = %{a} · %{b} + %{c} {argument}"
            case _:
                return " ".join(word for word in (head + op, operands, argument) if word)

    def network(self) -> "nx.DiGraph[Any]":
        """Instructions in order; data edges from the register's writer to its readers."""
        graph: nx.DiGraph[Any] = empty_graph()
        writer: dict[int, int] = {}
        open_loops: list[str] = []
        for number, instruction in enumerate(self.instructions):
            graph.add_node(self.entity(number), **self._facts(number, " ".join(open_loops)))
            for position, register in enumerate(reads(instruction)):
                if register in writer:
                    kind = "loop" if isinstance(instruction, EndRange) else "data"
                    edge = self.entity(writer[register]), self.entity(number)
                    graph.add_edge(*edge, operand=position, kind=kind)
            self._track(number, instruction, writer, open_loops)
        return graph

    def _track(
        self, number: int, instruction: Instruction, writer: dict[int, int], open_loops: list[str]
    ) -> None:
        """Record the writer of each register, and the loops that are open after `instruction`."""
        out = writes(instruction)
        if out is not None and not isinstance(instruction, Assign):
            writer[out] = number
        if isinstance(instruction, Range):
            open_loops.append(instruction.name)
        elif isinstance(instruction, EndRange):
            open_loops.pop()

    def _facts(self, number: int, group: str) -> dict[str, Any]:
        instruction = self.instructions[number]
        op, argument = describe(instruction)
        dtype = getattr(instruction, "dtype", None)
        return {
            "op": op,
            "kind": _kind(instruction),
            "argument": argument,
            "dtype": dtype.short if dtype else "",
            "shape": "",
            "name": "",
            "parents": self.parents[number],
            "group": group,
        }


def describe(instruction: Instruction) -> tuple[str, str]:
    """The name of the operation and those arguments that are not registers."""
    match instruction:
        case DefineGlobal():
            size = f"{instruction.dtype.short}[{instruction.size}]"
            return "define_global", f"{instruction.name} {size}"
        case Const(bits=bits, dtype=dtype):
            return "const", f"{literal(bits, dtype)} {dtype.short}"
        case Range():
            role = "" if instruction.role == "normal" else f" {instruction.role}"
            return "range", f"{instruction.name}{role}"
        case EndRange():
            return "end", ""
        case Alu():
            note = " reduction" if instruction.is_reduction else ""
            return instruction.op, f"{_typed(instruction.dtype, instruction.lanes)}{note}"
        case Acc() | Cast() | Bitcast() | Vectorize() | PtrCat():
            name = type(instruction).__name__.lower()
            return name, _typed(instruction.dtype, instruction.lanes)
        case Assign() | Load() | Store() | If() | Barrier() | Noop():
            return type(instruction).__name__.lower(), ""
        case _:
            return _describe_machine(instruction)


def _typed(dtype: DType, lanes: int) -> str:
    """`f32`, or `f32x4` for four lanes."""
    return dtype.short if lanes == 1 else f"{dtype.short}x{lanes}"


def _describe_machine(
    instruction: Local
    | Buffer
    | DefineVar
    | Special
    | EndIf
    | Block
    | Unroll
    | VConst
    | Gep
    | Shuffle
    | Dot
    | Wmma
    | Custom,
) -> tuple[str, str]:
    match instruction:
        case Local() | Buffer():
            size = f"{instruction.dtype.short}[{instruction.size}]"
            return type(instruction).__name__.lower(), size
        case DefineVar(name=name, minimum=minimum, maximum=maximum):
            return "define_var", f"{name} {minimum}..{maximum}"
        case Special():
            return "special", f"{instruction.name} 0..{instruction.size - 1}"
        case EndIf():
            return "endif", ""
        case Block(number=number, is_start=is_start):
            return "block" if is_start else "endblock", str(number)
        case Unroll(count=count):
            return "unroll", str(count)
        case VConst(bits=bits, dtype=dtype):
            values = ", ".join(literal(b, dtype) for b in bits)
            return "vconst", f"[{values}] {_typed(dtype, instruction.lanes)}"
        case Gep(indices=indices, dtype=dtype) | Shuffle(indices=indices, dtype=dtype):
            lanes = ", ".join(map(str, indices))
            name = type(instruction).__name__.lower()
            return name, f"[{lanes}] {_typed(dtype, instruction.lanes)}"
        case Wmma(m=m, n=n, k=k, dtype=dtype):
            return "wmma", f"{m}×{n}×{k} {dtype.short}"
        case Dot(dtype=dtype, parts=parts):
            return "dot", f"{parts} {_typed(dtype, instruction.lanes)}"
        case Custom(name=name, dtype=result):
            operation = custom.find(name)
            op = "customi" if operation and operation.is_inline else "custom"
            return op, name if result is None else f"{name} {result.short}"


def _kind(instruction: Instruction) -> str:
    match instruction:
        case DefineGlobal() | Local() | Buffer() | PtrCat():
            return "buffer"
        case Const() | VConst():
            return "const"
        case Range() | EndRange() | If() | EndIf() | Barrier() | Block() | Unroll() | Noop():
            return "control"
        case DefineVar() | Special():
            return "index"
        case Wmma() | Dot():
            return "reduce"
        case Load() | Store():
            return "memory"
        case Acc() | Assign():
            return "reduce"
        case Cast() | Bitcast():
            return "cast"
        case Alu():
            is_address = instruction.dtype.short == "i64" and not instruction.is_reduction
            return "index" if is_address else "elementwise"
        case _:
            return "elementwise"
