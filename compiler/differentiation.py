"""Derivatives of functions of tensors.

    slope = compiler.grad(f)                   # gradient of f, one element, by its first argument
    value, slope = compiler.value_and_grad(f)(x)
    y, pull = compiler.vjp(f, x)               # reverse mode: pull(g) is the cotangent of x
    y, t = compiler.jvp(f, (x,), (v,))         # forward mode: t is the tangent of y along v
    y = compiler.checkpoint(f)(x)              # recomputes f's activations in the backward pass

Arguments may be tensors, arrays, numbers, and nested tuples, lists and dicts of these. Each call of
a derivative calls the function once. Results are lazy, and can be differentiated again.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from compiler.core.errors import DataError, GradientError, ShapeError, located
from compiler.core.origin import caller, user_call
from compiler.graph.nodes import Const, TensorNode
from compiler.graph.words import short
from compiler.tensor import Tensor
from compiler.tensors import trees
from compiler.tensors.gradients import checkpoint_of, marked, ones_for, swept
from compiler.tensors.history import remembered
from compiler.tensors.value import operand_of

Function = Callable[..., Any]


@located
def grad(f: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Function:
    """A function that returns the gradient of `f` by argument number `argnums`, or by several.

    `f` returns a tensor of one element; with `has_aux` a pair of that and other results, which are
    passed through. The gradient has the structure of the argument. Raises `GradientError` if `f`
    returns something else, or if an operation has no derivative.
    """
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f)
    def gradient_of(*args: Any, **given: Any) -> Any:
        value, slope = both(*args, **given)
        return (slope, value[1]) if has_aux else slope

    return gradient_of


@located
def value_and_grad(
    f: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Function:
    """A function that returns the result of `f` and its gradient: see `grad`."""
    _check_function("value_and_grad", f)

    @functools.wraps(f)
    def value_and_gradient_of(*args: Any, **given: Any) -> tuple[Any, Any]:
        numbers = [argnums] if isinstance(argnums, int) else list(argnums)
        if any(not 0 <= number < len(args) for number in numbers):
            raise DataError("grad", "there is no such argument", got=f"argnums {argnums}",
                            expected=f"0 to {len(args) - 1}, positional arguments",
                            origin=caller("grad"))  # fmt: skip
        wanted = tuple(args[number] for number in numbers)
        inputs = _inputs("grad", wanted)
        marks = [each.node for each in inputs]
        again = dict(zip(numbers, trees.like(wanted, list(inputs)), strict=True))
        whole = f(*(again.get(place, each) for place, each in enumerate(args)), **given)
        result = whole[0] if has_aux else whole
        if not isinstance(result, Tensor) or result.size != 1:
            got = short(result.node) if isinstance(result, Tensor) else type(result).__name__
            raise GradientError("grad", "the function does not return a single element", got=got,
                                expected="a tensor of 1 element", hint="sum() or mean() it, or use "
                                "vjp(f, …)", origin=caller("grad"))  # fmt: skip
        slopes = _pulled([result], [result._new(ones_for(result.node))], marks)
        arranged = trees.like(wanted, slopes)
        return whole, arranged[0] if isinstance(argnums, int) else arranged

    return value_and_gradient_of


@located
def vjp(f: Function, *args: Any) -> tuple[Any, Function]:
    """The results of `f`, and a function from cotangents of the results to cotangents of the
    arguments: the vector-Jacobian product (reverse mode).

    The function takes one tensor for each result, in the same structure, and returns a tuple.
    """
    _check_function("vjp", f)
    inputs = _inputs("vjp", args)
    marks = [each.node for each in inputs]
    result = f(*trees.like(args, list(inputs)))
    results = _tensors("vjp", result)

    def pull(cotangents: Any) -> Any:
        given = _tangents("vjp", cotangents, results)
        return trees.like(args, _pulled(results, given, marks))

    return result, pull


@located
def jvp(f: Function, args: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The results of `f`, and their tangents where the arguments change by `tangents`: the
    Jacobian-vector product (forward mode).

    It is computed as the vector-Jacobian product of a vector-Jacobian product, which is linear in
    its cotangents; no part of the first one has to be computed.
    """
    _check_function("jvp", f)
    inputs = _inputs("jvp", tuple(args))
    marks = [each.node for each in inputs]
    result = f(*trees.like(tuple(args), list(inputs)))
    results = _tensors("jvp", result)
    given = _tangents("jvp", tuple(tangents), inputs)
    seeds = [_marked(each.zeros_like()) for each in results]
    slopes = _pulled(results, seeds, marks)
    return result, trees.like(result, _pulled(slopes, given, [each.node for each in seeds]))


@located
def checkpoint(f: Function) -> Function:
    """`f` with activation checkpointing: only its arguments and results are stored, and its
    intermediate values are recomputed in the backward pass. It trades time for memory.

    Tensors that `f` reads besides its arguments, such as parameters, are stored. Of several results
    each recomputes its own intermediate values. Raises `GradientError` if `f` writes in place.
    """
    _check_function("checkpoint", f)

    @functools.wraps(f)
    def checkpointed(*args: Any, **given: Any) -> Any:
        tensors = [each for each in trees.flat((args, given)) if isinstance(each, Tensor)]
        result = f(*args, **given)
        return trees.like(result, _checkpoints(trees.flat(result), tensors))

    return checkpointed


@user_call
def _checkpoints(results: Sequence[Any], args: Sequence[Tensor]) -> list[Any]:
    """The results, each tensor of them recomputed from the arguments in the backward pass."""
    inputs = dict.fromkeys(each.node for each in args if not isinstance(each.node, Const))
    return [
        each._new(checkpoint_of(each.node, tuple(inputs))) if isinstance(each, Tensor) else each
        for each in results
    ]


def _check_function(method: str, f: object) -> None:
    if not callable(f):
        raise DataError(method, "this is not a function", got=type(f).__name__,
                        expected="a function of tensors")  # fmt: skip


@user_call
def _inputs(method: str, args: Any) -> list[Tensor]:
    """The leaves of the arguments, each as a tensor distinct from all others."""
    found = []
    for each in trees.flat(args):
        part = operand_of(method, each)
        found.append(_marked(Tensor._of(part) if isinstance(part, TensorNode) else Tensor(part)))
    for each in found:
        if not each.dtype.is_float:
            raise GradientError(method, "gradients are of floats", got=short(each.node),
                                expected="a floating-point type",
                                hint="argnums selects what to differentiate by")  # fmt: skip
    return found


def _marked(tensor: Tensor) -> Tensor:
    return tensor._new(marked(tensor.node))


def _tensors(method: str, result: Any) -> list[Tensor]:
    """The tensors in the results of a function."""
    found = trees.flat(result)
    for each in found:
        if not isinstance(each, Tensor):
            raise GradientError(method, "the function returns no tensor", got=type(each).__name__,
                                expected="Tensor, or a tuple, list or dict of them")  # fmt: skip
    return found


def _tangents(method: str, given: Any, like: Sequence[Tensor]) -> list[Tensor]:
    """The tangents or cotangents of the tensors in `like`, checked against their shapes and
    types."""
    found = [Tensor(each) for each in trees.flat(given)]
    if len(found) != len(like):
        raise GradientError(method, "tangents and tensors differ in number", got=str(len(found)),
                            expected=str(len(like)), origin=caller(method))  # fmt: skip
    made = []
    for each, other in zip(found, like, strict=True):
        if each.shape != other.shape:
            raise ShapeError(method, "a tangent has another shape than its tensor",
                             got=short(each.node), expected=short(other.node),
                             origin=caller(method))  # fmt: skip
        made.append(each.cast(other.dtype))
    return made


@user_call
def _pulled(
    results: Sequence[Tensor], seeds: Sequence[Tensor], marks: Sequence[TensorNode]
) -> list[Tensor]:
    """The cotangents of the inputs for cotangents of the results. Inputs are given as the nodes
    that marked them: a tensor that is computed meanwhile has another node."""
    roots = [remembered(each.node) for each in results]
    nodes = swept(roots, [seed.node for seed in seeds], marks)
    return [Tensor._of(node) for node in nodes]
