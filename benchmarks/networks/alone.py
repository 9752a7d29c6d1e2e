"""The operations of a network run alone: each a program of its own, equal ones measured once.

A network is run one operation after the other, as eager libraries do: what a method of a tensor or
an operation of the library computes is compiled, run and kept, and its kernels are timed. Movement
(`reshape`, slices, …) computes nothing and stays with what reads it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import compiler
from benchmarks.networks.library import Array, Value
from benchmarks.networks.network import Network
from benchmarks.networks.on_svodviz import Svodviz
from benchmarks.networks.ours import UNTRACED
from compiler import ExecutionPlan, Tensor
from compiler.run.plans import Structure

MOVEMENT = frozenset(("T", "chunk", "permute", "reshape", "swapaxes", "unsqueeze"))


@dataclass(frozen=True, slots=True)
class Alone:
    """Operations that are equal: what they are, how many, and nanoseconds of one."""

    title: str
    times: int
    ns: float


class OneByOne(Svodviz):
    """Each operation is a program that is run at once."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.counts: Counter[Structure] = Counter()
        self.known: dict[Structure, tuple[str, float]] = {}

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
        """The operation's result; a new operation is measured."""
        plan = compiler.prepare(tensor, options=UNTRACED)
        if plan.structure not in self.known:
            self.known[plan.structure] = f"{title} {_extents(tensor)}", self._measured(tensor)
        self.counts[plan.structure] += 1
        return Apart(Tensor(_result(plan)), self)

    def _measured(self, tensor: Tensor) -> float:
        made = compiler.compile(tensor, options=UNTRACED)
        return made.measure(seconds=self.seconds).total

    def found(self) -> tuple[Alone, ...]:
        """The operations so far, those first that take longest."""
        rows = (Alone(title, self.counts[key], ns) for key, (title, ns) in self.known.items())
        return tuple(sorted(rows, key=lambda row: -row.times * row.ns))


def _result(plan: ExecutionPlan) -> Array:
    return plan.run()[0]


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


def alone(network: Network, seconds: float = 0.2) -> tuple[Alone, ...]:
    """The operations of a network; each is measured for so many seconds."""
    library = OneByOne(seconds)
    program, inputs = network.on(library)
    program(*inputs)
    return library.found()


def total_ns(found: tuple[Alone, ...]) -> float:
    """Nanoseconds of all operations of one run."""
    return sum(row.times * row.ns for row in found)
