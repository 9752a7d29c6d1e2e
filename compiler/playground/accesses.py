"""accesses: what memory a kernel touches, in program order, without computing any value.

    for i0 in 2                            load  in1 0      load  in1 16
      %1 = load f32x16 in1[i0*16]    →     store out 0      store out 16
      store out[i0*16] = %1

An address follows from loop counters and variables alone, so whole loops are evaluated at once,
each counter along a NumPy axis of its own, and the accesses of an iteration stand side by side. The
order is that of `lowered/interpret.py` in serial mode, and what is accessed is the same; but an
access of n lanes is one here, and scratch memory is seen as well; so is what a load fetches ahead,
in front of it, where there is such an element. Where an address, a predicate or a branch depends on
data, `DataError` says so.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from compiler.core.dtypes import Array
from compiler.graph.bits import as_array
from compiler.lowered.by_hand import Special, Wmma
from compiler.lowered.instructions import Alu, Cast, Const, Instruction, Load, Range, Store
from compiler.lowered.linearize import CORE
from compiler.lowered.machine import DefineVar, Gep, If, Shuffle, VConst, Vectorize
from compiler.lowered.plan import Plan
from compiler.ops import references
from compiler.ops.table import OPS
from compiler.playground.sites import Region, Site, Sites, refused, sites

CHUNK = 2**18
"""Accesses that are evaluated at once. Measured 2026-11-23 on one core of an AMD EPYC, millions of
accesses in a second by chunks of 2**12, 2**14, … 2**22: of a plain product of 128 × 128 matrices
20, 31, 59, 61, 25 and 21; of 256 × 256 19, 58, 110, 139, 166 and 53."""
SHIFT = 44
"""An access is one number: its site in the high bits, its address in the low ones."""
NONE = -1
"""The mark where a predicate or a branch keeps an access from happening."""


class Accesses:
    """The accesses of one run of a kernel: of one task, where several share its work.

    `total` counts every access that can happen, without prefetches; predicates and branches may
    leave some out.
    """

    def __init__(
        self, instructions: Sequence[Instruction], variables: Mapping[str, int] | None = None
    ) -> None:
        self._given = {CORE: 0} | dict(variables or {})
        self._plan = Plan(instructions, True, 1, self._given)
        self._sites = sites(instructions, self._plan)

    @property
    def sites(self) -> list[Site]:
        """The places that access memory; a number in `chunks` names one by its position."""
        return self._sites.rows

    @property
    def regions(self) -> list[Region]:
        """The memories, in the order in which they are defined."""
        return list(self._sites.regions.values())

    @property
    def total(self) -> int:
        """The number of accesses if all predicates are true."""
        return self._sites.total

    def chunks(self) -> Iterator[Array]:
        """All accesses and fetches in order, some hundred thousand at a time, as
        `site << SHIFT | address`."""
        with np.errstate(all="ignore"):
            for chunk in _Run(self._plan, self._sites, self._given).stream():
                yield chunk[chunk != NONE]


def site_and_address(chunk: Array) -> tuple[Array, Array]:
    """The position of the site of each access, and the address of its first byte."""
    return chunk >> SHIFT, chunk & ((1 << SHIFT) - 1)


class _Run:
    """State of one evaluation. Axis d of a register belongs to loop d, the last one to lanes."""

    def __init__(self, plan: Plan, sites_of_plan: Sites, values: Mapping[str, int]) -> None:
        self.plan, self.sites, self.given = plan, sites_of_plan, values
        self.ones = (1,) * (sites_of_plan.deepest + 1)
        self.shape: list[int] = []
        """The number of iterations of each open loop that are evaluated at once."""
        self.values: dict[int, Array] = {}
        self.mask: Array | None = None

    def stream(self) -> Iterator[Array]:
        """The accesses of the whole kernel."""
        yield from self._stream(0, len(self.plan.instructions))

    def _stream(self, begin: int, end: int) -> Iterator[Array]:
        """The accesses of instructions `begin` to `end`, in one iteration of the loops around."""
        waiting: list[Array] = []
        number = begin
        while number < end:
            instruction = self.plan.instructions[number]
            match instruction:
                case Range():
                    yield from waiting
                    waiting = []
                    yield from self._loop(number)
                case If():
                    outside = self._enter(instruction)
                    yield from self._stream(number + 1, self.plan.ends[number])
                    self.mask = outside
                case _:
                    waiting += [p.reshape(-1) for p in self._accesses(number, instruction)]
            number = self.plan.ends.get(number, number) + 1
        if waiting:
            yield np.concatenate(waiting)

    def _loop(self, number: int) -> Iterator[Array]:
        """The accesses of a loop: as many iterations at once as make a chunk, or one by one."""
        extent, length = self.plan.extents[number], self.sites.lengths[number]
        step = max(1, CHUNK // max(length, 1))
        for start in range(0, extent if length else 0, step):
            if length <= CHUNK:
                yield self._iterations(number, start, min(start + step, extent)).reshape(-1)
                continue
            self._count(number, start, start + 1)
            yield from self._stream(number + 1, self.plan.ends[number])
            self.shape.pop()

    def _iterations(self, number: int, start: int, stop: int) -> Array:
        """The accesses of some iterations of a loop, side by side, for each one of those around."""
        self._count(number, start, stop)
        inside = self._span(number + 1, self.plan.ends[number])
        self.shape.pop()
        return inside.reshape(*self.shape, -1)

    def _count(self, number: int, start: int, stop: int) -> None:
        """Enter a loop, its counter from `start` to `stop`."""
        instruction, depth = self.plan.instructions[number], len(self.shape)
        assert isinstance(instruction, Range)
        along = (*self.ones[:depth], stop - start, *self.ones[depth + 1 :])
        self.values[instruction.out] = np.arange(start, stop, dtype=np.int64).reshape(along)
        self.shape.append(stop - start)

    def _span(self, begin: int, end: int) -> Array:
        """The same as `_stream`, for all iterations evaluated at once, each loop along an axis."""
        pieces: list[Array] = [np.empty((*self.shape, 0), np.int64)]
        number = begin
        while number < end:
            instruction = self.plan.instructions[number]
            match instruction:
                case Range() if self.sites.lengths[number]:
                    pieces.append(self._iterations(number, 0, self.plan.extents[number]))
                case Range():
                    pass
                case If():
                    outside = self._enter(instruction)
                    pieces.append(self._span(number + 1, self.plan.ends[number]))
                    self.mask = outside
                case _:
                    pieces += self._accesses(number, instruction)
            number = self.plan.ends.get(number, number) + 1
        return np.concatenate(pieces, axis=-1)

    def _enter(self, instruction: If) -> Array | None:
        """Enter a branch; what the mask was outside."""
        outside, condition = self.mask, self._known(instruction.condition, "a branch")
        self.mask = condition if outside is None else outside & condition
        return outside

    # -- one instruction -----------------------------------------------------------------------

    def _accesses(self, number: int, instruction: Instruction) -> list[Array]:
        """Evaluate an instruction; what it accesses, in order."""
        match instruction:
            case Load(index=index, valid=valid) | Store(index=index, valid=valid):
                current = self.sites.of[number]
                ahead = [site for site in current if self.sites.rows[site].is_fetch]
                places = [self._fetch(site, instruction) for site in ahead]
                read = current[len(ahead) :]
                return places + [self._place(s, n, index, valid) for n, s in enumerate(read)]
            case Wmma():
                return [self._code(site, np.zeros(self.ones, np.int64), self.mask)
                        for site in self.sites.of[number]]  # fmt: skip
            case _:
                self._evaluate(instruction)
                return []

    def _place(self, site: int, lane: int, index: int, valid: int | None) -> Array:
        """One access of an instruction; `lane` says which, where its lanes are apart."""
        where = _lane(self._known(index, "an address"), lane)
        if self._is_in_a_row(site):
            where = where + lane
        predicate = self.mask
        if valid is not None:
            mask = _lane(self._known(valid, "a predicate"), lane)
            predicate = mask if predicate is None else predicate & mask
        return self._code(site, where, predicate)

    def _fetch(self, site: int, instruction: Instruction) -> Array:
        """The access that a load asks for further on, where there is such an element."""
        assert isinstance(instruction, Load)
        where = _lane(self._known(instruction.index, "an address"), 0) + instruction.ahead
        predicate = (where >= 0) & (where < self.sites.rows[site].region.size)
        valid = instruction.valid
        if valid is not None and self.sites.lanes.get(valid, 1) == 1:
            predicate = predicate & self._known(valid, "a predicate")
        return self._code(site, where, predicate if self.mask is None else predicate & self.mask)

    def _is_in_a_row(self, site: int) -> bool:
        """True if the lanes of an instruction follow each other in one memory."""
        instruction = self.plan.instructions[self.sites.rows[site].number]
        assert isinstance(instruction, Load | Store)
        return instruction.buffer not in self.sites.pointers

    def _code(self, site: int, index: Array, predicate: Array | None) -> Array:
        """The accesses of a site at each index, for all iterations evaluated at once."""
        region = self.sites.rows[site].region
        code = (site << SHIFT) + region.start + index * region.itemsize
        if predicate is not None:
            code = np.where(predicate, code, NONE)
        depth = len(self.shape)
        code = code.reshape(*code.shape[:depth], 1)
        return np.broadcast_to(code, (*self.shape, 1))

    def _known(self, register: int, what: str) -> Array:
        """The value of a register that follows from no data."""
        if register not in self.values:
            raise refused(f"{what} follows from values in memory")
        return self.values[register]

    def _evaluate(self, instruction: Instruction) -> None:
        """Set the register of an instruction, if its value follows from no data."""
        values, out = self.values, getattr(instruction, "out", None)
        if out is None:
            return
        match instruction:
            case Const(bits=bits, dtype=dtype) if not dtype.is_float:
                values[out] = as_array(bits, dtype.numpy).reshape(self.ones)
            case VConst(bits=bits, dtype=dtype) if not dtype.is_float:
                lanes = [as_array(b, dtype.numpy).reshape(self.ones) for b in bits]
                values[out] = np.concatenate(lanes, axis=-1)
            case DefineVar(name=name, maximum=maximum):
                values[out] = np.full(self.ones, self.given.get(name, maximum), np.int64)
            case Special(name=name):
                values[out] = np.full(self.ones, self.given.get(name, 0), np.int64)
            case Alu(op=op, arguments=arguments) if self._are_known(arguments):
                values[out] = np.asarray(OPS[op].reference(*[values[a] for a in arguments]))
            case Cast(source=source, dtype=dtype) if self._are_known((source,)):
                values[out] = references.cast(values[source], dtype)
            case Vectorize(sources=sources) if self._are_known(sources):
                lanes = list(np.broadcast_arrays(*[values[s] for s in sources]))
                values[out] = np.concatenate(lanes, axis=-1)
            case Gep(source=source, indices=indices) if self._are_known((source,)):
                values[out] = values[source][..., list(indices)]
            case Shuffle(a=a, b=b, indices=indices) if self._are_known((a, b)):
                both = np.broadcast_arrays(values[a], values[b])
                values[out] = np.concatenate(both, axis=-1)[..., list(indices)]
            case _:
                values.pop(out, None)

    def _are_known(self, registers: Sequence[int]) -> bool:
        return all(r in self.values for r in registers)


def _lane(value: Array, lane: int) -> Array:
    """One lane of a value, or its only one."""
    return value if value.shape[-1] == 1 else value[..., lane : lane + 1]

