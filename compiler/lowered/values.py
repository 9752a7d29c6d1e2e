"""values: the virtual registers that hold the nodes of a body during linearisation.

A node has a register for each combination of unrolled iterations that it depends on (`tiles.py`).
An index that is a sum of multiples has one register, for the first iterations and the first lane.
The others are derived from it by one addition where they are used, and cached until the loop ends.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import NoReturn

from compiler.core.dtypes import DType, int64
from compiler.core.errors import InternalError
from compiler.loops import nodes as loops
from compiler.loops.nodes import ScalarNode
from compiler.lowered.instructions import Alu, Const, Instruction
from compiler.lowered.machine import Gep, PtrCat, Shuffle, VConst, Vectorize
from compiler.lowered.tiles import Iterations, Key, Tiles, is_tagged


@dataclass(slots=True)
class Linear:
    """Instructions, and for each the scalar node it computes."""

    instructions: list[Instruction] = field(default_factory=list)
    origins: list[ScalarNode] = field(default_factory=list)


class Values:
    """Instructions so far, and the registers of the nodes they compute."""

    def __init__(self, tiles: Tiles) -> None:
        self.tiles = tiles
        self.head = Linear()
        """Arguments, variables and constants: instructions before all loops."""
        self.result = Linear()
        self.node: ScalarNode = loops.index(0)
        """The origin of the instructions being written."""
        self.next = 0
        self.bases: dict[ScalarNode, int | None] = {}
        """For each sum of multiples its register for the first iterations; None: it is 0."""
        self._registers: dict[tuple[ScalarNode, Key], int] = {}
        self._constants: dict[int, tuple[int, DType]] = {}
        self._by_value: dict[tuple[object, ...], int] = {}
        self._derived: list[dict[Hashable, int]] = [{}]

    def finish(self) -> Linear:
        """All instructions, the head first."""
        head, rest = self.head, self.result
        return Linear(head.instructions + rest.instructions, head.origins + rest.origins)

    def fresh(self) -> int:
        """The number of a new register."""
        self.next += 1
        return self.next - 1

    def append(self, instruction: Instruction) -> None:
        """Write an instruction that belongs to the current node."""
        self.result.instructions.append(instruction)
        self.result.origins.append(self.node)

    def write(self, make: Callable[[int], Instruction]) -> int:
        """Write an instruction that fills a new register; returns that."""
        register = self.fresh()
        self.append(make(register))
        return register

    def write_head(self, make: Callable[[int], Instruction]) -> int:
        """Write an instruction before all loops; returns its register."""
        register = self.fresh()
        self.head.instructions.append(make(register))
        self.head.origins.append(self.node)
        return register

    def open_scope(self) -> None:
        """A loop or If begins."""
        self._derived.append({})

    def close_scope(self) -> None:
        """A loop or If ends: registers derived inside are dropped."""
        self._derived.pop()

    def hold(self, node: ScalarNode, register: int, key: Key = ()) -> None:
        """Record that `register` holds `node` for the iterations `key`."""
        self._registers[node, key] = register

    def holds(self, node: ScalarNode) -> bool:
        """True if a node that depends on no tagged range has a register."""
        return (node, ()) in self._registers

    def held(self, node: ScalarNode, key: Key) -> int:
        """The register that holds `node` for the iterations `key`, with any lanes."""
        return self._registers[node, key]

    def plain(self, node: ScalarNode) -> int:
        """The one register of a node that depends on no tagged range: a memory, a loop."""
        return self._registers[node, ()]

    def memory(self, access: ScalarNode) -> int:
        """The register of the memory of an access."""
        return self.plain(loops.memory(access))

    def constant(self, bits: int, dtype: DType) -> int:
        """The register of a constant, which the head defines once."""
        key = (bits, dtype)
        if key not in self._by_value:
            register = self.write_head(lambda out: Const(out, bits, dtype))
            self._by_value[key] = register
            self._constants[register] = key
        return self._by_value[key]

    def hold_constant(self, node: loops.Const) -> None:
        """A constant of the body, in the head."""
        register = self.write_head(lambda out: Const(out, node.bits, node.dtype))
        self.hold(node, register)
        self._by_value.setdefault((node.bits, node.dtype), register)
        self._constants[register] = node.bits, node.dtype

    def number(self, value: int) -> int:
        """The register of an int64 constant."""
        return self.constant(value & (2**64 - 1), int64)

    def vector_constant(self, bits: tuple[int, ...], dtype: DType) -> int:
        """The register of a constant with a value in each lane."""
        key = (bits, dtype)
        if key not in self._by_value:
            self._by_value[key] = self.write_head(lambda out: VConst(out, bits, dtype))
        return self._by_value[key]

    def derived(self, key: Hashable, make: Callable[[int], Instruction]) -> int:
        """A value that is computed from registers alone; it is written at its first use."""
        for scope in reversed(self._derived):
            if key in scope:
                return scope[key]
        register = self._derived[-1][key] = self.write(make)
        return register

    def broadcast(self, register: int, lanes: int, dtype: DType) -> int:
        """A scalar broadcast to `lanes`."""
        if lanes == 1:
            return register
        if register in self._constants:
            bits, dtype = self._constants[register]
            return self.vector_constant((bits,) * lanes, dtype)
        key = ("broadcast", register, lanes)
        return self.derived(key, lambda out: Gep(out, register, (0,) * lanes, dtype))

    def lane(self, register: int, lane: int, dtype: DType) -> int:
        """One lane of a vector."""
        key = ("lane", register, lane)
        return self.derived(key, lambda out: Gep(out, register, (lane,), dtype))

    def pointers(self, memory: int, lanes: int, dtype: DType) -> int:
        """The same pointer for each lane."""
        return self.derived(
            ("pointers", memory, lanes), lambda out: PtrCat(out, (memory,) * lanes, dtype)
        )

    def offset(self, register: int | None, amount: int) -> int:
        """An integer plus a constant; None is 0."""
        if register is None:
            return self.number(amount)
        if amount == 0:
            return register
        if register in self._constants:
            return self.number(self._constants[register][0] + amount)
        more = self.number(amount)
        key = ("offset", register, amount)
        return self.derived(key, lambda out: Alu(out, "add", (register, more), int64))

    def steps(self, register: int | None, stride: int, lanes: int) -> int:
        """An integer that grows by `stride` from lane to lane, as a vector."""
        grows = tuple(lane * stride & (2**64 - 1) for lane in range(lanes))
        more = self.vector_constant(grows, int64)
        if register is None:
            return more
        wide = self.broadcast(register, lanes, int64)
        key = ("steps", register, stride, lanes)
        return self.derived(key, lambda out: Alu(out, "add", (wide, more), int64, lanes=lanes))

    def shuffled(self, a: int, b: int, order: tuple[int, ...], dtype: DType) -> int:
        """A vector of lanes of two vectors."""
        return self.write(lambda out: Shuffle(out, a, b, order, dtype))

    def join(self, registers: tuple[int, ...], dtype: DType) -> int:
        """A vector of scalars."""
        return self.write(lambda out: Vectorize(out, registers, dtype))

    def first(self, node: ScalarNode) -> int | None:
        """An integer at the first iterations of the ranges it is a sum of multiples of; None: 0."""
        if isinstance(node, loops.Range) and is_tagged(node):
            return None
        if node in self.bases:
            return self.bases[node]
        if isinstance(node, loops.Const) and node.bits == 0:
            return None
        return self.plain(node)

    def start(self, node: ScalarNode, iterations: Iterations, more: int = 0) -> int:
        """A scalar, or the first lane of a sum of multiples, plus `more`."""
        known = self.tiles.coefficients.get(node)
        if known is None:
            return self.offset(self._registers[node, self.tiles.of(node).key(iterations)], more)
        amount = sum(c * iterations[r] for r, c in known.items() if r.level == "unroll")
        return self.offset(self.first(node), amount + more)

    def operand(self, node: ScalarNode, iterations: Iterations, lanes: int) -> int:
        """The register of `node` as an operand of an instruction of `lanes` lanes."""
        tile = self.tiles.of(node)
        vector = tile.vector
        if vector is None and tile.dot is None:
            return self.broadcast(self.start(node, iterations), lanes, node.dtype)
        if tile.lanes != lanes:
            _refuse_width(node, tile.lanes, lanes)
        if vector is not None and node in self.tiles.coefficients:
            stride = self.tiles.coefficients[node].get(vector, 0)
            return self.steps(self.start(node, iterations), stride, lanes)
        return self._registers[node, self.tiles.of(node).key(iterations)]


def _refuse_width(node: ScalarNode, got: int, expected: int) -> NoReturn:
    raise InternalError(
        "linearize", f"{node!r} has other lanes", got=str(got), expected=str(expected)
    )
