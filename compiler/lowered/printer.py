"""The printed form and the picture of lowered instructions.

    12  %12 = load out f32 in1[%11]
    13  %13 = mulacc %12 %9 %6                     f32  reduction
"""

from dataclasses import dataclass
from typing import Any

import networkx as nx

from compiler.graph.nodes import from_bits
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
from compiler.stage import Stage
from compiler.trace import Line


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
    def lines(self) -> tuple[Line, ...]:
        """One line per instruction, indented by loop depth."""
        rows, depth = [], 0
        for number, instruction in enumerate(self.instructions):
            depth -= isinstance(instruction, EndRange)
            text = f"{number:>3}  {'  ' * depth}{self.text(instruction)}"
            rows.append(Line(text, self.entity(number), self.parents[number]))
            depth += isinstance(instruction, Range)
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
                gate = "" if valid is None else f" if %{valid} else 0"
                return f"{head}load {dtype.short} %{buffer}[%{index}]{gate}"
            case Store(buffer=buffer, index=index, source=source, valid=valid):
                gate = "" if valid is None else f" if %{valid}"
                return f"store %{buffer}[%{index}] = %{source}{gate}"
            case _:
                return " ".join(word for word in (head + op, operands, argument) if word)

    def to_networkx(self) -> "nx.DiGraph[Any]":
        """Instructions in order; data edges from the register's writer to its readers."""
        graph: nx.DiGraph[Any] = nx.DiGraph()
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
        self,
        number: int,
        instruction: Instruction,
        writer: dict[int, int],
        open_loops: list[str],
    ) -> None:
        """Note who writes which register, and which loops are open after `instruction`."""
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
    """The operation's name and its arguments that are not registers."""
    match instruction:
        case DefineGlobal():
            size = f"{instruction.dtype.short}[{instruction.size}]"
            return "define_global", f"{instruction.name} {size}"
        case Const(bits=bits, dtype=dtype):
            return "const", f"{from_bits(bits, dtype)} {dtype.short}"
        case Range():
            role = " reduction" if instruction.role == "reduction" else ""
            return "range", f"{instruction.name}{role}"
        case EndRange():
            return "end", ""
        case Alu():
            note = " reduction" if instruction.is_reduction else ""
            return instruction.op, f"{instruction.dtype.short}{note}"
        case Acc() | Cast() | Bitcast():
            return type(instruction).__name__.lower(), instruction.dtype.short
        case Assign() | Load() | Store():
            return type(instruction).__name__.lower(), ""


def _kind(instruction: Instruction) -> str:
    match instruction:
        case DefineGlobal():
            return "buffer"
        case Const():
            return "const"
        case Range() | EndRange():
            return "control"
        case Load() | Store():
            return "memory"
        case Acc() | Assign():
            return "reduce"
        case Cast() | Bitcast():
            return "cast"
        case Alu():
            is_address = instruction.dtype.short == "i64" and not instruction.is_reduction
            return "index" if is_address else "elementwise"
