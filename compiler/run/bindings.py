"""The values that variables have in a run: collected from Binds, checked before anything runs.

A program is compiled for all values of its variables; a run binds them. Memory, costs and transfers
are computed for the greatest values.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import DataError
from compiler.core.node import toposort
from compiler.device import buffers
from compiler.device.remote import Data
from compiler.graph.extents import binding, part_of, shape_of, two_values
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import Bind, Buffer, Prefix, Sink, TensorNode, Variable, first_of

Values: TypeAlias = Mapping[Any, int]
"""Values by the names of variables, or by the variables that users made."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """The variables of a program by name, the bound values, and the inputs whose number of rows is
    a variable."""

    variables: dict[str, Variable]
    bound: dict[str, int]
    inputs: tuple[Prefix, ...]

    @property
    def is_bound(self) -> bool:
        """True if every variable has a value."""
        return all(name in self.bound for name in self.variables)

    def of_run(self, values: Values | None = None) -> dict[str, int]:
        """The values of the variables in a run: those given, else those bound.

        Raises `DataError` as `checked` does, and for an input that holds fewer rows than the
        value says.
        """
        result = self.checked(values)
        for node in self.inputs:
            _check_rows(node, result)
        return result

    def checked(self, passed: Values | None = None) -> dict[str, int]:
        """The values of the variables in a run, whatever data the inputs have.

        Raises `DataError` for an unknown name, a variable without a value, and a value outside
        its bounds.
        """
        named = self.by_name(passed or {})
        values = {**self.bound, **named}
        for name, variable in self.variables.items():
            _check(variable, values.get(name))
        return {name: int(values[name]) for name in self.variables}

    def by_name(self, values: Values) -> dict[str, int]:
        """Values that are given by variables, or their names, by name.

        Raises `DataError` for unknown names, and for a variable with other bounds.
        """
        if not isinstance(values, Mapping):
            _refuse("values are given by variables or their names", type(values).__name__,
                    'a dict, e.g. {"n": 50} or {n: 50}')  # fmt: skip
        for key in values:
            name, variable = str(key), self.variables.get(str(key))
            if variable is None:
                names = ", ".join(self.variables) or "no variable"
                _refuse(f"the program has no variable {name}", name, names)
            if not isinstance(key, str):
                _check_bounds(variable, key)
        return {str(key): value for key, value in values.items()}


def bindings_of(root: Sink) -> Bindings:
    """The variables of a program, found in one walk.

    Raises `DataError` if one name has two values, or two pairs of bounds.
    """
    bindings = Bindings({}, {}, ())
    inputs: list[Prefix] = []
    binds: dict[str, Bind] = {}
    for node in toposort([root]):
        if isinstance(node, Variable):
            _note_variable(bindings, node)
        elif isinstance(node, Bind):
            _note_value(bindings, node, binds)
        elif isinstance(node, Prefix) and node.axis == 0 and isinstance(node.sources[0], Buffer):
            inputs.append(node)
    return Bindings(bindings.variables, bindings.bound, tuple(inputs))


def _note_variable(bindings: Bindings, node: Variable) -> None:
    _check_bounds(bindings.variables.setdefault(node.name, node), node)


def _check_bounds(first: Variable, node: Any) -> None:
    """Refuse another variable of the same name."""
    if (first.low, first.high) != (node.low, node.high):
        got = f"{first.low} … {first.high} and {node.low} … {node.high}"
        _refuse(f"variable {node.name} has two pairs of bounds", got, "one pair",
                "give one of the two another name",
                node if isinstance(node, Variable) else None)  # fmt: skip


def _note_value(bindings: Bindings, node: Bind, binds: dict[str, Bind]) -> None:
    variable = node.sources[0]
    assert isinstance(variable, Variable)
    name, first = variable.name, binds.setdefault(variable.name, node)
    bindings.bound[name] = first.value
    if first.value != node.value:
        each = (binding(name, bind.value, bind) for bind in (first, node))
        error = two_values("variables", name, tuple(each))
        if node.origin:
            error.locate(node.origin)
        raise error


def _check(variable: Variable, value: object) -> None:
    """Refuse a value that the variable cannot have."""
    bounds = f"{variable.low} … {variable.high}"
    if value is None:
        hint = f"bind it, as in {variable.name}.bind({variable.high}), or run with "
        hint += f'variables={{"{variable.name}": {variable.high}}}'
        _refuse(f"variable {variable.name} has no value", "nothing", bounds, hint)
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_integer or not variable.low <= int(str(value)) <= variable.high:
        _refuse(f"variable {variable.name} is outside its bounds", repr(value), bounds)


def _check_rows(node: Prefix, values: Values) -> None:
    """Refuse a value greater than the number of rows of an input's data."""
    buffer, extent = node.sources[0], node.extents[0]
    assert isinstance(buffer, Buffer) and extent is not None
    rows = len(buffers.held(buffer))
    wanted = extent.value(values)
    if rows < wanted:
        what = f"{buffer.name or 'an input'} holds fewer rows than variable {extent.name} says"
        _refuse(what, f"{rows} rows, {extent.name} = {wanted}", f"at most {rows}")


def _refuse(
    what: str, got: str, expected: str, hint: str = "", node: TensorNode | None = None
) -> NoReturn:
    """Raise the error."""
    origin = node.origin if node else None
    raise DataError("variables", what, got=got, expected=expected, hint=hint, origin=origin)


def graph_inputs(
    root: TensorNode, values: Values, data_of: Callable[[Buffer], Array] = buffers.data
) -> dict[TensorNode, Array]:
    """The data of every Buffer and Variable under `root`, as the graph interpreter takes them."""
    data: dict[TensorNode, Array] = {}
    for node in toposort([root]):
        if isinstance(node, Buffer):
            data[node] = data_of(node)
        elif isinstance(node, Variable) and node.name in values:
            data[node] = np.array(values[node.name], np.int64)
    return data


def sliced(flat: Iterable[Array], nodes: Iterable[TensorNode], values: Values) -> list[Array]:
    """Results as arrays of the extents of this run, from memory for the greatest ones."""
    return [_meaningful(each, node, values) for each, node in zip(flat, nodes, strict=True)]


def _meaningful(flat: Array, node: TensorNode, values: Values) -> Array:
    """The valid part of a result in this run; a copy if another run will write the memory."""
    if isinstance(node, Assign):
        flat = flat.copy()
    if flat.shape != node.shape:
        flat = flat.reshape(node.shape)
    return flat[part_of(shape_of(node.shape, node.extents, values))] if node.extents else flat


def hold(
    flat: Data, node: TensorNode, values: Values, device: str, known: dict[Any, Buffer]
) -> TensorNode:
    """The node that holds a result: a Buffer, with the meaningful part of each axis marked.

    Memory that one of `known` holds gets no second Buffer.
    """
    whole = flat.reshape(node.shape)
    if not node.extents:
        return buffers.holding(whole, known, device)
    if not isinstance(whole, np.ndarray):
        whole = whole.fetch()
    rows = whole[: shape_of(node.shape, node.extents, values)[0]]
    buffer: TensorNode = buffers.new_buffer(rows, device=device, shape=node.shape)
    for axis, extent in enumerate(node.extents):
        if extent is not None:
            buffer = first_of(buffer, axis, extent, values)
    return buffer
