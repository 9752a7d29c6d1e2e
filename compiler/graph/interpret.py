"""The NumPy reference interpreter of the tensor graph: all later stages have to agree with it.

`interpret` returns the values of the roots and frees other values after their last use;
`evaluate_all` keeps the value of each node, to inspect it or to check a pass.
Element types are exact: a reference function that returns another type breaks an invariant.
Values have the extents of this run: an axis with a dynamic extent has as many elements as its
variable states. Elements of a Buffer past that extent are never read.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import DataError, InternalError
from compiler.core.node import toposort
from compiler.graph import nodes
from compiler.graph.bits import as_array
from compiler.graph.differentiate import differentiated
from compiler.graph.extents import part_of, shape_of
from compiler.graph.kinds.composite import Composite
from compiler.graph.kinds.effects import Assign, Custom, Scatter
from compiler.graph.kinds.gradient import Gradient
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.markers import Placeholder
from compiler.graph.kinds.placement import Copy, Device, Joint, Multi, Received, Unique
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.kinds.scan import Scan, running
from compiler.graph.nodes import Shape, TensorNode
from compiler.graph.parts import written
from compiler.graph.widen import is_widened, with_wide_sources
from compiler.graph.words import operation, short
from compiler.ops import functions, random_bits, references, updates
from compiler.ops.table import OPS, REDUCTIONS

Inputs: TypeAlias = Mapping[Any, Array]
"""Data by Buffer, Param or Variable node."""


def interpret(roots: Sequence[TensorNode], inputs: Inputs) -> list[Array]:
    """The values of `roots`, row-major; `inputs` holds the data of every Buffer, Param and
    Variable.

    Raises `InternalError` where an input is missing or a value has the wrong type or shape.
    """
    roots = differentiated(roots)
    order = toposort(roots)
    remaining = _count_uses(order, roots)
    sizes = variables_of(order, inputs)
    values: dict[TensorNode, Array] = {}
    for node in order:
        values[node] = evaluate(node, [values[s] for s in node.sources], inputs, sizes)
        for source in node.sources:
            remaining[source] -= 1
            if not remaining[source]:
                del values[source]
    return [np.asarray(values[root], order="C") for root in roots]


def evaluate_all(
    roots: Sequence[TensorNode], inputs: Inputs, most: int | None = None
) -> dict[TensorNode, Array]:
    """The value of every node that `roots` need, in topological order; views may share memory.

    Values with more than `most` elements are left out, and so are those computed from them.
    """
    values: dict[TensorNode, Array] = {}
    gradients = [node for node in toposort(roots) if isinstance(node, Gradient)]
    operations_of = dict(zip(gradients, differentiated(gradients), strict=True))
    order = toposort([*operations_of.values(), *roots])
    sizes = variables_of(order, inputs)
    for node in order:
        if node in operations_of:
            if operations_of[node] in values:
                values[node] = values[operations_of[node]]
        elif (most is None or prod(node.shape) <= most) and all(s in values for s in node.sources):
            values[node] = evaluate(node, [values[s] for s in node.sources], inputs, sizes)
    return values


def variables_of(order: Sequence[TensorNode], inputs: Inputs) -> dict[str, int]:
    """The value of each variable by name: from `inputs`, or else from its Bind."""
    bound = {n.sources[0]: n.value for n in order if isinstance(n, nodes.Bind)}
    sizes = {n: int(inputs[n]) for n in order if isinstance(n, nodes.Variable) and n in inputs}
    return {n.name: value for n, value in (bound | sizes).items() if isinstance(n, nodes.Variable)}


def _count_uses(order: list[TensorNode], roots: Sequence[TensorNode]) -> dict[TensorNode, int]:
    """The number of uses of each value; being a root counts as a use that never ends."""
    counts = dict.fromkeys(order, 0)
    for source in (s for node in order for s in node.sources):
        counts[source] += 1
    for root in roots:
        counts[root] += 1
    return counts


def evaluate(
    node: TensorNode, operands: list[Array], inputs: Inputs, sizes: Mapping[str, int]
) -> Array:
    """The value of a node from those of its sources; its type and shape are checked."""
    shape = shape_of(node.shape, node.extents, sizes)
    with np.errstate(all="ignore"):
        value = np.asarray(_value(node, operands, inputs, shape, sizes))
    is_short = isinstance(node, nodes.Buffer | nodes.Param) and value.shape[1:] == shape[1:]
    if value.dtype != node.dtype.numpy or (value.shape != shape and not is_short):
        raise InternalError(
            f"graph interpreter: {operation(node)}",
            "the value has the wrong type or shape",
            got=f"{value.dtype} {value.shape}",
            expected=short(node),
            origin=node.origin,
        )
    return value


def _value(
    node: TensorNode, operands: list[Array], inputs: Inputs, shape: Shape, sizes: Mapping[str, int]
) -> Any:
    """The value of a node whose shape in this run is `shape`."""
    if is_widened(node):
        return _narrowed(node, operands, inputs, shape, sizes)
    match node:
        case nodes.Buffer() | nodes.Param() | Placeholder():
            return _input(node, inputs)
        case nodes.Variable() | nodes.Bind():
            return _variable(node, inputs, sizes)
        case nodes.Const() | nodes.Iota():
            return _generated(node)
        case nodes.Elementwise(op=op):
            return OPS[op].reference(*_meaningful(node, operands, shape))
        case nodes.Cast(target=target):
            return references.cast(operands[0], target)
        case nodes.Bitcast(target=target):
            return operands[0].view(target.numpy)
        case nodes.Reduce(op=op, axes=axes):
            return _reduce(node, op, axes, operands[0], shape)
        case nodes.Index():
            return _indexed(node, [operands[0], *_meaningful(node, operands[1:], shape)])
        case Scan(op=op, axis=axis):
            return running(op, operands[0], axis)
        case Scatter(op=op):
            return updates.scattered(op, operands[0], operands[1], operands[2:])
        case Custom(name=name):
            return _custom(name).evaluate(*operands)
        case nodes.Threefry():
            return random_bits.threefry(*_meaningful(node, operands, shape))
        case Repeat():
            return _repeated(node, operands)
        case Kernel():
            return _called(node, operands)
        case Composite():
            return node.reference(operands)
        case nodes.Contiguous():
            return np.asarray(operands[0], order="C")
        case nodes.Store() | Assign():
            return written(node.parts, *operands)
        case Copy() | Received():
            return operands[0]
        case Joint(op=op) if op:
            return functools.reduce(OPS[REDUCTIONS[op].combine].reference, operands)
        case Joint(axis=axis):
            return np.concatenate(operands, axis)
        case Multi(axis=axis):
            return operands[0] if axis is None else np.concatenate(operands, axis)
        case nodes.Sink() | Device() | Unique():
            return np.zeros(node.shape, node.dtype.numpy)
        case _:
            return moved(node, operands[0], shape, sizes)


def _narrowed(
    node: TensorNode, operands: list[Array], inputs: Inputs, shape: Shape, sizes: Mapping[str, int]
) -> Array:
    """The value of an operation that is computed in a wider type, rounded to the node's type.

    NumPy's functions of the narrow type would round after each step, and sums at each element.
    """
    if isinstance(node, nodes.Cast):
        target = node.target  # floats saturate into integers of few bits as into others
        through = target.arithmetic if target.is_float else target
        source = references.cast(operands[0], node.sources[0].dtype.arithmetic)
        return references.cast(references.cast(source, through), target)
    if isinstance(node, nodes.Iota):
        return references.cast(np.arange(node.extent), node.dtype)
    inside = with_wide_sources(node)
    wide = [references.cast(x, s.dtype) for x, s in zip(operands, inside.sources, strict=True)]
    return references.cast(np.asarray(_value(inside, wide, inputs, shape, sizes)), node.dtype)


def _meaningful(node: TensorNode, operands: list[Array], shape: Shape) -> list[Array]:
    """Operands cut to one shape: of symbolic axes, only the elements that exist in this run."""
    return [x[part_of(shape)] for x in operands] if node.extents else operands


def _repeated(node: Repeat, operands: list[Array]) -> Array:
    """The state of a loop after all iterations."""
    values, parameters, variables = list(operands), node.parameters, node.variables
    for iteration in range(node.count):
        arguments: dict[TensorNode, Array] = {param: values[param.slot] for param in parameters}
        arguments |= dict.fromkeys(variables, np.array(iteration, np.int64))
        values[: node.states] = interpret(node.body.sources, arguments)
    return values[node.index]


def _called(node: Kernel, operands: list[Array]) -> Array:
    """The value of a kernel's body on these inputs."""
    order: list[TensorNode] = toposort([node.body])
    inputs = {p: operands[p.slot - 1] for p in order if isinstance(p, nodes.Param)}
    return interpret([node.body], inputs)[0]


def _indexed(node: nodes.Index, operands: list[Array]) -> Array:
    """The elements of an operand at positions; 0 where a position is out of bounds or not valid."""
    x, *positions = operands[: 1 + len(node.positions)]
    inside = np.ones(positions[0].shape, bool) if node.validity is None else operands[-1]
    safe = []
    for position, extent in zip(positions, x.shape, strict=True):
        inside = inside & (position >= 0) & (position < extent)
        safe.append(np.clip(position, 0, max(extent - 1, 0)))
    if not x.size:
        return np.zeros(inside.shape, x.dtype)
    return np.asarray(np.where(inside, x[tuple(safe)], x.dtype.type(0)))


def _custom(name: str) -> functions.Instance:
    """The external function with this symbol."""
    function = functions.find(name)
    if function is None:
        raise InternalError("graph interpreter", f"no function is registered as {name}")
    return function


def moved(node: TensorNode, x: Array, shape: Shape, sizes: Mapping[str, int]) -> Array:
    """The elements of `x` moved by a movement node, as a view where possible.

    `shape` is the shape of the node in this run, `sizes` has the values of variables.
    """
    match node:
        case nodes.Prefix():
            return x[part_of(shape)]
        case nodes.Reshape():
            return x.reshape(shape)
        case nodes.Expand():
            return np.broadcast_to(x, shape)
        case nodes.Permute(order=order):
            return x.transpose(order)
        case nodes.Pad(widths=widths):
            return np.pad(x, widths) if x.ndim else x
        case nodes.Shrink(bounds=bounds):
            return x[tuple(slice(begin, end) for begin, end in bounds)]  # ends past x are cut
        case nodes.Narrow(sources=(_, nodes.Variable(name=name)), axis=axis, length=length):
            return x[(slice(None),) * axis + (slice(sizes[name], sizes[name] + length),)]
        case nodes.Flip(axes=axes):
            return np.flip(x, axes)
    raise InternalError("graph interpreter", f"no rule for node kind {type(node).__name__}")


def _input(node: TensorNode, inputs: Inputs) -> Array:
    """The data given for a Buffer, Param or Placeholder."""
    if isinstance(node, Placeholder) and node not in inputs:
        raise DataError(
            "graph interpreter", f"placeholder {node.name} has no data", got="nothing",
            expected=short(node), origin=node.origin,
        )  # fmt: skip
    if node not in inputs:
        raise InternalError("graph interpreter", f"no data for {node!r}", origin=node.origin)
    return inputs[node]


def _variable(node: nodes.Variable | nodes.Bind, inputs: Inputs, sizes: Mapping[str, int]) -> Array:
    """The value of a variable, or of a Bind of one."""
    variable = node.sources[0] if isinstance(node, nodes.Bind) else node
    assert isinstance(variable, nodes.Variable)
    if variable.name not in sizes:
        return _input(variable, inputs)
    value = sizes[variable.name]
    if variable.low <= value <= variable.high:
        return np.array(value, np.int64)
    raise InternalError(
        "graph interpreter",
        f"the value of variable {variable.name} is out of bounds",
        got=str(value),
        expected=f"{variable.low} … {variable.high}",
        origin=node.origin,
    )


def _generated(node: nodes.Const | nodes.Iota) -> Array:
    """The value of a node that needs no data. Constants keep their bits, NaN payloads too."""
    dtype = node.dtype.numpy
    if isinstance(node, nodes.Iota):
        return references.cast(np.arange(node.extent), node.dtype)
    return np.broadcast_to(as_array(node.bits, dtype), node.shape)


def _reduce(node: nodes.Reduce, op: str, axes: tuple[int, ...], x: Array, shape: Shape) -> Array:
    """`axes` reduced in the node's own type; the identity over an empty axis."""
    row = REDUCTIONS[op]
    if not x.size:
        return np.full(shape, row.identity(node.dtype), node.dtype.numpy)
    reference: Callable[..., Array] = row.reference
    return reference(x, axis=axes, dtype=x.dtype, keepdims=True)
