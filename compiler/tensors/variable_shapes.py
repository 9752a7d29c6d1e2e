"""Shapes with variables, for `reshape` and `expand`: `x.reshape(n * 12, -1)`."""

from collections.abc import Iterable, Mapping, Sequence

from compiler.core.errors import ShapeError
from compiler.graph.extent import Extent, Number, highest, product, quotient
from compiler.graph.extents import symbolic, tidy
from compiler.graph.nodes import Reshape, Shape, TensorNode
from compiler.tensors.shapes import integers, written
from compiler.tensors.variables import Variable, prefix


def flat(shape: Sequence[object]) -> tuple[object, ...]:
    """The extents, given one by one or as a sequence."""
    if len(shape) == 1 and isinstance(shape[0], Iterable) and not isinstance(shape[0], str):
        return tuple(shape[0])
    return tuple(shape)


def apart(method: str, shape: Sequence[object]) -> tuple[Shape, dict[int, Variable]]:
    """The extents, with the maximum for variables, and the variables by axis."""
    given = flat(shape)
    variables = {axis: each for axis, each in enumerate(given) if isinstance(each, Variable)}
    if not variables:
        return integers(method, given), {}
    numbers = [each.high if isinstance(each, Variable) else each for each in given]
    return integers(method, numbers), variables


def cut_to(method: str, node: TensorNode, variables: Mapping[int, Variable]) -> TensorNode:
    """`node` shrunk along these axes to the extents of the variables."""
    for axis, variable in variables.items():
        node = prefix(method, node, axis, variable)
    return node


def variable_shape(method: str, node: TensorNode, shape: Sequence[object]) -> TensorNode | None:
    """`node` in a shape with variable axes. None if there are none, or -1 is not an integer.

    Raises `ShapeError` if the number of elements would change.
    """
    numbers, variables = apart(method, shape)
    if not variables and not (node.extents and -1 in numbers):
        return None
    wanted: list[Number] = [
        variables[axis].extent if axis in variables else n for axis, n in enumerate(numbers)
    ]
    elements = product(symbolic(node.shape, node.extents))
    if -1 in wanted:
        rest = quotient(elements, product(n for n in wanted if n != -1))
        if rest is None:
            if not variables:
                return None
            raise ShapeError(
                method, "the elements do not fill the new shape for all values",
                got=f"{written(tuple(map(str, wanted)))} of {elements} elements",
                expected="a product of extents that divides them",
            )  # fmt: skip
        wanted = [rest if n == -1 else n for n in wanted]
    if product(wanted) != elements:
        raise ShapeError(
            method, "the number of elements changes",
            got=f"({', '.join(map(str, wanted))}), {product(wanted)} elements",
            expected=f"{elements} elements",
        )  # fmt: skip
    extents = tidy([n if isinstance(n, Extent) else None for n in wanted])
    greatest = tuple(map(highest, wanted))
    if (greatest, extents) == (node.shape, node.extents):
        return node
    return Reshape((node,), greatest, extents)
