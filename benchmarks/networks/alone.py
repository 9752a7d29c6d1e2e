"""The operations of a network run alone: each a program of its own.

A network is run one operation after the other, as eager libraries do: what a method of a tensor or
an operation of the library computes is compiled, run and kept, and its kernels are timed where they
are, so that each finds in the caches what those before it left there. Equal operations are compiled
once. Movement (`reshape`, slices, …) computes nothing and stays with what reads it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import Any

import numpy as np

import compiler
from benchmarks.networks.library import Array, Value
from benchmarks.networks.network import Network
from benchmarks.networks.on_svodviz import Svodviz
from benchmarks.networks.ours import UNTRACED
from compiler import ExecutionPlan, Tensor
from compiler.device import buffers
from compiler.run.allocation import allocate
from compiler.run.execution import bind
from compiler.run.plans import Structure
from compiler.schedule.host import Host

PASSES = 20
"""Passes through a network that are timed, at most."""
MOVEMENT = frozenset(("T", "chunk", "permute", "reshape", "swapaxes", "unsqueeze"))


@dataclass(frozen=True, slots=True)
class Alone:
    """Operations that are equal: what they are, how many in a run, median nanoseconds of one."""

    title: str
    times: int
    ns: float


@dataclass(slots=True)
class _Kind:
    """Equal operations: the times of all runs in the passes so far."""

    title: str
    times: int = 0
    took: list[int] = field(default_factory=list)


class OneByOne(Svodviz):
    """Each operation is a program that is run at once."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: dict[Structure, _Kind] = {}

    def given(self, values: Array, name: str) -> Value:
        return Apart(Tensor(values, name=name), self)

    def input(self, values: Array, name: str) -> Value:
        return self.given(values, name)

    def array(self, value: Value) -> Array:
        return np.asarray(_plain(value))

    def layer_norm(self, x: Value, scale: Value, shift: Value) -> Value:
        return self.run(super().layer_norm(*map(_plain, (x, scale, shift))), "layer_norm")

    def doubled(self, x: Value) -> Value:
        return self.run(super().doubled(_plain(x)), "doubled")

    def run(self, tensor: Tensor, title: str) -> "Apart":
        """The operation's result; its kernels are timed."""
        plan = compiler.prepare(tensor, options=UNTRACED)
        if plan.structure not in self.kinds:
            self.kinds[plan.structure] = _Kind(f"{title} {_extents(tensor)}")
        kind = self.kinds[plan.structure]
        result, ns = _timed(plan)
        kind.times += 1
        kind.took.append(ns)
        return Apart(Tensor(result.reshape(tensor.shape)), self)

    def begin(self) -> None:
        """Forget the runs so far, which compiled and made memory."""
        for kind in self.kinds.values():
            kind.times = 0
            kind.took.clear()

    def found(self, passes: int = 1) -> tuple[Alone, ...]:
        """The operations of one of so many passes, those first that take longest."""
        rows = (Alone(it.title, it.times // passes, median(it.took)) for it in self.kinds.values())
        return tuple(sorted(rows, key=lambda row: -row.times * row.ns))


def _timed(plan: ExecutionPlan) -> tuple[Array, int]:
    """The flat result of a program, and the nanoseconds of its kernels."""
    made, host = plan.structure, Host()
    data = (buffers.data(buffer).reshape(-1) for buffer in plan.buffers)
    held = dict(zip(made.inputs, data, strict=True)) | allocate(made.items, made.memory)
    runs = [bind(item, held, made.programs, {}, host) for item in made.items]
    start = perf_counter_ns()
    for run in runs:
        run()
    return held[made.results[0]], perf_counter_ns() - start


def _extents(tensor: Tensor) -> str:
    return "×".join(str(n) for n in tensor.shape if n != 1) or "1"


def _operator(name: str) -> Callable[..., Any]:
    """An operator as a method that is looked up like any other."""

    def call(self: "Apart", *given: Any) -> Any:
        return self.call(f"__{name}__", *given)

    return call


class Apart:
    """A tensor whose every operation is run alone."""

    def __init__(self, tensor: Tensor, library: OneByOne) -> None:
        self.tensor, self.library = tensor, library

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.tensor, name)
        if callable(found) and not isinstance(found, Tensor):
            return lambda *given, **named: self.call(name, *given, **named)
        return self._wrapped(found) if name in MOVEMENT else found

    def call(self, name: str, *given: Any, **named: Any) -> Any:
        """A method: run where it computes anything."""
        made = getattr(self.tensor, name)(*map(_plain, given), **named)
        is_slice = name == "__getitem__" and not isinstance(given[0], Apart)
        if is_slice or name in MOVEMENT:
            return self._wrapped(made)
        return self.library.run(made, name.strip("_"))

    def _wrapped(self, made: Any) -> Any:
        if isinstance(made, tuple):
            return tuple(map(self._wrapped, made))
        return Apart(made, self.library)

    __add__, __radd__ = _operator("add"), _operator("radd")
    __sub__, __rsub__ = _operator("sub"), _operator("rsub")
    __mul__, __rmul__ = _operator("mul"), _operator("rmul")
    __truediv__, __matmul__ = _operator("truediv"), _operator("matmul")
    __getitem__ = _operator("getitem")


def _plain(value: Any) -> Any:
    """The tensor in it."""
    if isinstance(value, Apart):
        return value.tensor
    return type(value)(map(_plain, value)) if isinstance(value, tuple | list) else value


def alone(network: Network, seconds: float = 3.0) -> tuple[Alone, ...]:
    """The operations of a network: passes for so many seconds, after one that isn't counted."""
    library, passes = OneByOne(), 0
    program, inputs = network.on(library)
    program(*inputs)
    library.begin()
    end = perf_counter() + seconds
    while not passes or (perf_counter() < end and passes < PASSES):
        program(*inputs)
        passes += 1
    return library.found(passes)


def total_ns(found: tuple[Alone, ...]) -> float:
    """Nanoseconds of all operations of one run."""
    return sum(row.times * row.ns for row in found)
