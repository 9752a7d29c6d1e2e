"""Inputs of an exported module: checked, and converted to our tensors."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from compiler.core.errors import DataError
from compiler.core.lazy import loading
from compiler.imported.inputs import by_name, check_fits
from compiler.imported.torch.element_types import array_of, dtype_of
from compiler.imported.torch.graphs import Exported, description_of
from compiler.tensor import Tensor
from compiler.tensors.variables import LIMIT, Variable

_LARGEST = 1 << 24
"""A dimension with a maximum beyond this counts as unbounded: no memory holds it."""


class Inputs:
    """The inputs of an exported module: their names, types and extents."""

    def __init__(self, program: Exported, names: Mapping[str, str]) -> None:
        self._spec = program.call_spec.in_spec
        self._names = dict(names)
        nodes = {n.name: n for n in program.graph.nodes if n.op == "placeholder"}
        specs = [s for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
        self._order = [spec.arg.name for spec in specs]
        values = {name: description_of(nodes[name]) for name in self._order}
        self._values = {n: v for n, v in values.items() if hasattr(v, "shape")}
        ranges = {str(symbol): each for symbol, each in program.range_constraints.items()}
        self._variables = {s: v for s in ranges if (v := self._variable(s, ranges[s])) is not None}
        self.described = {
            name: (dtype_of(v.dtype, name),
                   tuple(n if isinstance(n, int) else self.extent(n) for n in v.shape))
            for name, v in self._values.items()
        }  # fmt: skip

    @property
    def may_vary(self) -> bool:
        """True if some axis can be a variable."""
        axes = (str(n) for v in self._values.values() for n in v.shape)
        return any(axis in self._variables for axis in axes)

    def extent(self, extent: Any) -> str:
        """An extent as text: a number, or the user's name of a dimension."""
        text = str(extent)
        return self._names.get(text, text)

    def _variable(self, symbol: str, bounds: Any) -> Variable | None:
        """The variable of a dimension with a known maximum."""
        name = self._names.get(symbol, symbol)
        if not all(getattr(end, "is_Integer", False) for end in (bounds.lower, bounds.upper)):
            return None  # an end that is infinite
        low, high = int(bounds.lower), int(bounds.upper)
        if high > min(_LARGEST, LIMIT) or not name.isidentifier():
            return None
        return Variable(name, max(low, 1), high)

    def taken(self, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs by name, from arguments as the module takes them, or all positional or by name."""
        with loading():
            from torch.utils import _pytree as pytree
        flat, spec = pytree.tree_flatten((tuple(values), dict(named)))
        if spec == self._spec:
            return dict(zip(self._order, flat, strict=True))
        tensors = by_name("TorchProgram", self._values, values, named)
        return {name: tensors.get(name) for name in self._order}

    def tensors(self, values: Mapping[str, Any], *, with_variables: bool) -> dict[str, Any]:
        """Inputs as tensors; with `with_variables`, dynamic axes become variables."""
        extents: dict[str, int] = {}
        return {
            name: self._tensor(name, value, extents, with_variables)
            if name in self._values else value
            for name, value in values.items()
        }  # fmt: skip

    def _tensor(self, name: str, value: Any, extents: dict[str, int], is_varied: bool) -> Tensor:
        if not isinstance(value, Tensor):
            value = _array(value, name)
        check_fits("TorchProgram", name, value, self.described[name])
        if isinstance(value, Tensor):
            return value
        variables = {}
        for axis, (n, m) in enumerate(zip(self._values[name].shape, value.shape, strict=True)):
            symbol = str(n)
            if extents.setdefault(symbol, m) != m:
                raise DataError("TorchProgram", f"input {name} does not fit the others",
                                got=f"{self.extent(n)} = {m}", expected=str(extents[symbol]),
                                )  # fmt: skip
            if is_varied and symbol in self._variables:
                variables[axis] = self._variables[symbol]
        return Tensor(value, name=name, symbolic=variables or None)


def _array(value: Any, name: str) -> Any:
    if type(value).__module__.partition(".")[0] == "torch" or hasattr(value, "data_ptr"):
        return array_of(value, name)
    return np.asarray(value)
