"""prepare: a program as an execution plan, ready to run again and again on other data.

    plan = compiler.prepare(y)
    plan.run()                                 the data y was written with
    plan.run({"x": array})  plan.run([array])  other data, by the name or the place of an input
    print(plan.explain())                      levels, what overlaps, memory

Inputs are numbered in the order in which the program meets them. A plan is never changed after
it was made, and each run has memory of its own: threads may share a plan.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from compiler import plans
from compiler.device import buffers
from compiler.dtypes import parse
from compiler.errors import DataError, DTypeError, ShapeError
from compiler.graph.nodes import Buffer, TensorNode
from compiler.kernels import PROGRAMS
from compiler.options import Options
from compiler.overlap import Level
from compiler.schedule.share import MemoryPlan

Array = np.ndarray[Any, Any]
Given: TypeAlias = Mapping[str, Array] | Sequence[Array]


@dataclass(frozen=True, slots=True, eq=False)
class ExecutionPlan:
    """A compiled program with the data it was written with; see the module docstring.

    `inputs` are its buffers, in order.
    """

    structure: plans.Structure
    inputs: tuple[Buffer, ...]

    @property
    def levels(self) -> tuple[Level, ...]:
        """The waves: what runs after what, and what may overlap."""
        return self.structure.steps

    @property
    def memory(self) -> MemoryPlan | None:
        """Where intermediate values are; None where memory is not planned."""
        return self.structure.memory

    def run(self, inputs: Given = ()) -> list[Array]:
        """One new array per result.

        `inputs` replaces data by the input's name, or by its place in `self.inputs`; the rest
        stays what it was. Raises `DataError` for an input that does not exist or whose name is
        not unique, `ShapeError` and `DTypeError` where the data do not fit. Data that the program
        writes in place are copied first.
        """
        given = self._by_place(inputs)
        data = [self._data(n, given) for n in range(len(self.inputs))]
        values = plans.run(self.structure, data)
        own, results = set(self.structure.inputs), self.structure.results
        # a result that is an input is not handed out: who writes it would write the data
        return [v.copy() if b in own else v for v, b in zip(values, results, strict=True)]

    def _by_place(self, inputs: Given) -> dict[int, Array]:
        """The arrays given, by the place of their input."""
        if isinstance(inputs, Mapping):
            return {self._place(name): array for name, array in inputs.items()}
        if len(inputs) > len(self.inputs):
            expected = f"at most {len(self.inputs)}: {self._names()}"
            raise DataError("run", "too many inputs", got=str(len(inputs)), expected=expected)
        return dict(enumerate(inputs))

    def _place(self, name: str) -> int:
        found = [n for n, buffer in enumerate(self.inputs) if buffer.name == name]
        if len(found) == 1 and name:
            return found[0]
        what = "several inputs have this name" if found else "the program has no such input"
        hint = "give a list: inputs are taken in their order" if found else ""
        raise DataError("run", what, got=repr(name), expected=self._names(), hint=hint)

    def _names(self) -> str:
        words = [b.name or f"an unnamed {b.dtype.short}{list(b.shape)}" for b in self.inputs]
        return ", ".join(words) or "no inputs"

    def _data(self, place: int, given: Mapping[int, Array]) -> Array:
        """The flat data of one input."""
        buffer, is_new = self.inputs[place], place in given
        own = buffers.data(buffer)
        flat = _fitting(given[place], buffer, place) if is_new else own.reshape(-1)
        return flat.copy() if place in self.structure.written_inputs else flat

    def explain(self) -> str:
        """Levels, items and memory as text."""
        lines = []
        for level in self.levels:
            lines.append(str(level))
            for item in (i for group in level.groups for i in group):
                operation = item.operation
                reads = " ".join(self._word(b) for b in operation.reads)
                writes = " ".join(self._word(b) for b in operation.writes)
                lines.append(f"  {item.item_id} {operation.name} reads {reads} writes {writes}")
        return "\n".join([*lines, *([str(self.memory)] if self.memory else [])])

    def _word(self, buffer: Buffer) -> str:
        """A buffer as the user calls it."""
        place = buffer.unique - plans.PLACEHOLDER
        if place < 0:
            return buffer.name
        return self.inputs[place].name or f"input{place}"

    def __repr__(self) -> str:
        count = sum(len(level.items) for level in self.levels)
        return f"ExecutionPlan({len(self.inputs)} inputs, {count} items, {len(self.levels)} levels)"


def _fitting(array: object, buffer: Buffer, place: int) -> Array:
    """`array` flat, if it has the shape and type of `buffer`."""
    name = buffer.name or f"input {place}"
    if not isinstance(array, np.ndarray):
        got = type(array).__name__
        raise DataError("run", f"{name} is no array", got=got, expected="a NumPy array")
    if array.shape != buffer.shape:
        what = f"{name} has another shape"
        raise ShapeError("run", what, got=str(array.shape), expected=str(buffer.shape))
    if parse(array.dtype, "run") is not buffer.dtype:
        what = f"{name} has another type"
        raise DTypeError("run", what, got=str(array.dtype), expected=str(buffer.dtype))
    native = array.astype(buffer.dtype.numpy, copy=False)
    return np.require(native, requirements=["C", "A"]).reshape(-1)


def prepare(value: object, options: Options | None = None) -> ExecutionPlan:
    """Compile a tensor, or a list or tuple of tensors, into a plan. Nothing is run.

    A realised tensor stands for the program it came from. Raises `DataError` where `value`
    holds anything but tensors.
    """
    given = value if isinstance(value, list | tuple) else [value]
    nodes = [_node(each) for each in given]
    if not nodes:
        raise DataError("prepare", "nothing to prepare", got=repr(value), expected="a Tensor")
    made, found = plans.structure_of(nodes, options or Options())
    return ExecutionPlan(made, found)


def _node(value: object) -> TensorNode:
    """How a tensor is computed."""
    node = getattr(value, "recipe", value)
    if isinstance(node, TensorNode):
        return node
    what, got = "only tensors can be prepared", type(value).__name__
    raise DataError("prepare", what, got=got, expected="Tensor")


@dataclass(frozen=True, slots=True)
class CacheCount:
    """How often something was found, how often it had to be made, and how many are kept."""

    hits: int
    misses: int
    kept: int


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What is kept between programs: machine code of kernels, and whole schedules."""

    programs: CacheCount
    schedules: CacheCount


def cache_info() -> CacheInfo:
    """Hits, misses and entries of the two caches since they were last cleared."""
    return CacheInfo(
        CacheCount(PROGRAMS.hits, PROGRAMS.misses, len(PROGRAMS)),
        CacheCount(plans.STRUCTURES.hits, plans.STRUCTURES.misses, len(plans.STRUCTURES)),
    )


def cache_clear() -> None:
    """Forget all programs and schedules, and set the counts to 0. Plans that exist keep theirs."""
    PROGRAMS.clear()
    plans.STRUCTURES.clear()
