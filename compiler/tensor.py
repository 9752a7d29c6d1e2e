"""`Tensor`, the public class: every method builds graph nodes; data are computed on demand.

x = Tensor(numpy.ones((64, 784), "float32"))
y = (x @ w).relu()              # nothing is computed yet
y.numpy()                       # compiled, run, and the data returned
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import numpy as np

from compiler.core import dtypes, lazy
from compiler.core.dtypes import Array, Scalar
from compiler.core.effects import Effects
from compiler.core.errors import DataError, ShapeError
from compiler.core.keywords import program_call
from compiler.core.origin import user_call
from compiler.graph.devices import DEFAULT, is_remote
from compiler.graph.devices import written as places
from compiler.graph.kinds.placement import Multi, copy_to
from compiler.graph.kinds.shaping import like
from compiler.graph.nodes import Iota, TensorNode, const, elementwise
from compiler.graph.words import short
from compiler.pipeline import asked
from compiler.tensors import data as tensor_data
from compiler.tensors import live, numpy_calls, watching
from compiler.tensors.construction import Construction
from compiler.tensors.convolutions import Convolutions
from compiler.tensors.directives import Directives
from compiler.tensors.files import Files
from compiler.tensors.gradients import Gradients
from compiler.tensors.layers import Layers
from compiler.tensors.linear import Linear
from compiler.tensors.losses import Losses
from compiler.tensors.pooling import Pooling
from compiler.tensors.resampling import Resampling
from compiler.tensors.scans import Scans
from compiler.tensors.shapes import extents, integers, within_memory, written
from compiler.tensors.special import Special
from compiler.tensors.value import TensorValue, broadcast_node, cast_to, reshaped, traced
from compiler.tensors.variables import Variable, array_of, buffer_under, is_bound, is_realized


@traced
class Tensor(
    Gradients, Directives, Files, Construction, Losses, Layers, Linear, Special, Resampling, Scans,
    Convolutions, Pooling,
):  # fmt: skip
    """A lazy array of numbers or truth values. Operations return new tensors.

    Only `assign` and `x[…] = …` change a tensor, and they change no other tensor: `x[0]` is a
    tensor of its own, so `x[0][1] = v` does not change x, unlike in NumPy. Write `x[0, 1] = v`.

    A tensor is made from an array, a number, a nested list or another tensor. Default types are
    NumPy's: a list of Python floats is float64, unless `set_default_dtype` sets another. An array
    that is row-major, aligned and in native byte order is not copied.

    `dtype` converts. `name` is shown in printed programs. `symbolic` maps axes to the `Variable`
    that is their extent: one compiled program then serves every extent within its bounds. Such an
    axis counts in `shape` and `size` with its maximum, and in data with its actual extent. With
    `requires_grad` the tensor's gradients are collected in `grad`: see `backward`. Raises
    `DataError` for other data.
    """

    __slots__ = ()

    @program_call
    def __init__(
        self,
        data: object,
        dtype: object = None,
        name: str = "",
        symbolic: Mapping[int, Variable] | None = None,
        requires_grad: bool = False,
    ) -> None:
        if isinstance(data, TensorValue | Variable):
            if symbolic:
                _refuse_symbolic()
            self.node = _converted(data.node, dtype)
        else:
            self.node = tensor_data.tensor(data, dtype, name, symbolic)
        if requires_grad:
            self.requires_grad_()

    @classmethod
    def full(cls, shape: int | Sequence[int], value: Scalar, dtype: object = None) -> Self:
        """`value` everywhere, in NumPy's type for it, or converted to `dtype`."""
        wanted = extents("full", (shape,))
        return cls._of(broadcast_node(tensor_data.tensor(value, dtype), wanted))

    @classmethod
    def zeros(cls, *shape: int | Sequence[int], dtype: object = None) -> Self:
        """0 everywhere. float64 unless `dtype` or `set_default_dtype` sets another type, as in
        NumPy (`x.zeros_like()` has the type of x, `rand` is float32)."""
        return cls._constant("zeros", 0, shape, dtype)

    @classmethod
    def ones(cls, *shape: int | Sequence[int], dtype: object = None) -> Self:
        """1 everywhere. float64 unless `dtype` or `set_default_dtype` sets another type, as in
        NumPy (`x.ones_like()` has the type of x, `rand` is float32)."""
        return cls._constant("ones", 1, shape, dtype)

    @classmethod
    def arange(
        cls, start: Scalar, stop: Scalar | None = None, step: Scalar = 1, dtype: object = None
    ) -> Self:
        """start, start + step, … below `stop`. A single argument is `stop`, with `start` 0.

        int64 if all arguments are integers, else float64 or the default type, unless `dtype` is
        given. Element i is start + i * step.
        """
        begin, end = (type(start)(0), start) if stop is None else (start, stop)
        count = _count_of(begin, end, step)
        common = dtypes.promote(*(type(v)() for v in (begin, end, step)), dtypes.int64)
        index = cast_to(Iota((), count, dtypes.int64), common)
        scaled = elementwise("mul", index, const(step, common, (count,)))
        values = elementwise("add", scaled, const(begin, common, (count,)))
        usual = dtypes.asked(None, "arange") if common.is_float else common
        target = usual if dtype is None else dtypes.parse(dtype, "arange")
        return cls._of(cast_to(index if (begin, step) == (0, 1) else values, target))

    @classmethod
    def eye(
        cls, rows: int, columns: int | None = None, dtype: object = None, *, diagonal: int = 0
    ) -> Self:
        """[rows, columns]: 1 on diagonal number `diagonal`, 0 elsewhere; the default type is that
        of `zeros`."""
        shape = extents("eye", (rows, rows if columns is None else columns))
        row = reshaped(Iota((), shape[0], dtypes.int64), (shape[0], 1))
        column = reshaped(Iota((), shape[1], dtypes.int64), (1, shape[1]))
        (offset,) = integers("eye", (diagonal,))
        if offset:
            row = elementwise("add", row, const(offset, dtypes.int64, row.shape))
        same = elementwise("eq", broadcast_node(row, shape), broadcast_node(column, shape))
        return cls._of(cast_to(same, dtypes.asked(dtype, "eye")))

    def full_like(self, value: Scalar, dtype: object = None) -> Self:
        """`value` everywhere, with this tensor's shape and type."""
        made = self.full(self.shape, value, self.dtype if dtype is None else dtype)
        return self._of(like(made.node, self.node))

    def zeros_like(self, dtype: object = None) -> Self:
        """0 everywhere, with this tensor's shape and type."""
        return self.full_like(0, dtype)

    def ones_like(self, dtype: object = None) -> Self:
        """1 everywhere, with this tensor's shape and type."""
        return self.full_like(1, dtype)

    def realize(self, *others: "Tensor") -> Self:
        """Compute this tensor, and `others` in the same program; returns this one.

        A realised tensor still refers to its graph, for `compile` and `explore`, which keeps the
        inputs of the graph alive; `Tensor(t.numpy())` does not. The graph reads the current values
        of its inputs: after an assignment to one, it gives another value.
        """
        if watching.current():
            return self
        given: tuple[TensorValue, ...] = (self, *others)
        tensors = [tensor for tensor in given if not is_realized(tensor.node)]
        if tensors:
            live.compute(list(tensors), _computed_with)
        return self

    def numpy(self) -> Array:
        """The data as a NumPy array, computed now if necessary, and gathered if sharded. The array
        is read-only, because tensors share memory: `np.array(t)` is a copy. Results of a run are
        copies, too.

        An axis of variable extent has its extent in this run.
        """
        watching.refuse_value("numpy", self.node)
        if watching.current():
            with watching.aside():
                return self._new(self.node).numpy()
        node = self._in_memory()
        if isinstance(node, Multi):
            where = DEFAULT if is_remote(node.devices[0]) else node.devices[0]
            (node,) = _computed([copy_to(node, where)])
        view = array_of(node).view()
        view.flags.writeable = False
        return view

    def _in_memory(self) -> TensorNode:
        """The node with the data, which are computed if necessary."""
        node = self.realize().node
        while not is_realized(node) and not watching.current():  # another thread assigned
            node = self.realize().node
        return node

    def item(self) -> Scalar:
        """The only element as a Python number. Raises `ShapeError` unless there is exactly one."""
        if self.size != 1:
            raise ShapeError(
                "item", "only one element can become a number",
                got=f"shape {written(self.shape)}, {self.size:,} elements", expected="1 element",
                hint="tolist() gives all of them",
            )  # fmt: skip
        value: Scalar = self.numpy().item()
        return value

    def tolist(self) -> Any:
        """The data as nested lists of Python numbers; for rank 0 a number."""
        return self.numpy().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __array_ufunc__(
        self, function: np.ufunc, how: str, *inputs: Any, **given: Any
    ) -> TensorValue:
        return numpy_calls.ufunc(self, function, how, inputs, given)

    def __array_function__(self, function: Any, types: Any, args: Any, given: Any) -> Any:
        return numpy_calls.function(self, function, args, given)

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """The module of array API functions. Raises `DataError` for an unknown version."""
        versions = lazy.load("compiler.array_api.inspection", "VERSIONS")
        if api_version not in (None, *versions):
            raise DataError(
                "__array_namespace__", "no such version of the array API", got=repr(api_version),
                expected=", ".join(versions),
            )  # fmt: skip
        found: ModuleType = lazy.load("compiler.array_api:", "array_api")
        return found

    def __dlpack__(
        self, *, stream: object = None, max_version: Sequence[int] | None = None,
        dl_device: Sequence[int] | None = None, copy: bool | None = None,
    ) -> Any:  # fmt: skip
        with lazy.loading():
            from compiler.tensors import sharing

        return sharing.capsule(self.numpy(), stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # CPU memory, which all our devices share

    @classmethod
    def from_dask(
        cls, x: Any, axis: int | None = None, devices: Sequence[str] | None = None
    ) -> Self:
        """A dask array as a tensor, computed by Dask.

        If a cluster is in use, the tensor is sharded over its workers, or over `devices` of them,
        as `shard` would do along `axis`; by default along the axis with the most chunks. An array
        of one chunk is on the first worker. The call does not wait, no data are transferred here,
        and Dask recomputes what a lost worker had. Without a cluster Dask's scheduler computes the
        array.

        Raises `DataError` if chunk sizes are unknown, or if elements or blocks have a type without
        a tensor equivalent; `AxisError`.
        """
        made = lazy.load("compiler.distributed.arrays", "from_dask")
        return cls._of(made(x, axis, devices))

    def to_dask(self, chunks: Any = None) -> Any:
        """The tensor, computed now if necessary, as a dask array.

        Shards become its blocks and stay on their workers. A local tensor is one block; a tensor in
        a file has blocks of Dask's default size, each read on demand. `chunks` partitions it
        otherwise, as for `dask.array.rechunk`. The blocks must not be written to.
        """
        made = lazy.load("compiler.distributed.arrays", "to_dask")
        return made(self._in_memory(), chunks)

    def __dask_graph__(self) -> Any:
        return _of_dask("graph")(self)

    def __dask_keys__(self) -> list[Any]:
        found: list[Any] = _of_dask("keys")(self)
        return found

    def __dask_layers__(self) -> tuple[str, ...]:
        return (_of_dask("name_of")(self),)

    def __dask_tokenize__(self) -> object:
        return _of_dask("name_of")(self)

    def __dask_postcompute__(self) -> tuple[Any, ...]:
        found: tuple[Any, ...] = _of_dask("postcompute")(self)
        return found

    def __dask_postpersist__(self) -> tuple[Any, ...]:
        found: tuple[Any, ...] = _of_dask("postpersist")(self)
        return found

    @property
    def __dask_optimize__(self) -> Any:
        return _of_dask("optimizer")()

    @property
    def __dask_scheduler__(self) -> Any:
        return _of_dask("scheduler")(self)

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self.item())
        raise ShapeError(
            "bool", "the truth of a tensor needs exactly one element",
            got=f"shape {written(self.shape)}", expected="1 element", hint="use any() or all()",
        )  # fmt: skip

    def __contains__(self, value: Any) -> bool:
        return bool(self.eq(value).any())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.ndim or not self.dtype.is_integer:
            raise DataError(
                "index", "only an integer of rank 0 can be an index", got=short(self.node),
                expected="an integer type and shape ()",
            )  # fmt: skip
        return operator.index(self.numpy()[()])

    def __repr__(self) -> str:
        if isinstance(self.node, Multi) and is_realized(self.node):
            return f"Tensor({short(self.node)}, in shards on {places(self.node.devices)})"
        buffer = buffer_under(self.node)
        if buffer is None or not is_bound(self.node) or watching.current():
            return f"Tensor({short(self.node)}, lazy)"
        array = array_of(self.node)
        values = np.array2string(array, separator=", ", threshold=20, prefix="Tensor(")
        return f"Tensor({values}, {short(self.node)})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.numpy(),)  # a pickle contains the data, not the graph

    @classmethod
    def _constant(cls, method: str, value: int, shape: Sequence[Any], dtype: object) -> Self:
        return cls._of(const(value, dtypes.asked(dtype, method), extents(method, shape)))


def _computed(nodes: list[TensorNode]) -> list[TensorNode]:
    """Nodes with their data. The modules that compile and run programs are imported on first
    use."""
    return _realize()(nodes)


def _computed_with(nodes: list[TensorNode], effects: Effects) -> list[TensorNode]:
    """The same, with the effects on memory that is written."""
    return _realize()(nodes, effects=effects)


@cache
def _realize() -> Callable[..., list[TensorNode]]:
    with lazy.loading():
        from compiler.run.realize import realize
    return realize


def _of_dask(name: str) -> Any:
    """A function of the module that makes tensors Dask collections."""
    return lazy.load("compiler.distributed.collection", name)


asked.makers.append(Tensor)


def load(path: str | Path, dtype: object = None) -> Any:
    """`Tensor.load`: the tensor of a file, or a dict of those of a .safetensors file by name."""
    return Tensor.load(path, dtype)


def _refuse_symbolic() -> None:
    raise DataError(
        "Tensor", "symbolic axes need data", got="a tensor", expected="an array",
        hint="slice the tensor instead, as in x[: n.bind(37)]",
    )  # fmt: skip


@user_call
def _converted(node: TensorNode, dtype: object) -> TensorNode:
    return node if dtype is None else cast_to(node, dtypes.parse(dtype, "Tensor"))


def _count_of(begin: Scalar, end: Scalar, step: Scalar) -> int:
    """The number of elements of `arange`."""
    if not step or not all(map(math.isfinite, (begin, end, step))):
        raise DataError(
            "arange", "the range has no finite number of elements", got=f"{begin}, {end}, {step}",
            expected="finite numbers, and a step that is not 0",
        )  # fmt: skip
    if any(isinstance(v, float) for v in (begin, end, step)):
        count = math.ceil((end - begin) / step)
    else:
        count = len(range(int(begin), int(end), int(step)))
    return within_memory("arange", (max(count, 0),))[0]
