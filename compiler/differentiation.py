"""Derivatives of functions of tensors.

    slope = compiler.grad(f)                   # f gives one element: the gradient by its first
    value, slope = compiler.value_and_grad(f)(x)
    y, pull = compiler.vjp(f, x)               # pull(g): what x changes by, in reverse
    y, t = compiler.jvp(f, (x,), (v,))         # t: what y changes by along v, forwards
    y = compiler.checkpoint(f)(x)              # what is inside is computed again on the way back

Arguments may be tensors, arrays, numbers, and tuples, lists and dicts of such. A function is
called once for each call of its derivative; results are lazy, and have derivatives themselves.
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
    """A function that gives the gradient of `f` by its argument number `argnums`, or several.

    `f` gives a tensor of one element (with `has_aux` a pair, of which that is the first; the second
    is handed on). The gradient is arranged as the argument is. Raises `GradientError` where `f`
    gives something else, or an operation has no derivative.
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
    """A function that gives what `f` does and its gradient: see `grad`."""
    _check_function("value_and_grad", f)

    @functools.wraps(f)
    def value_and_gradient_of(*args: Any, **given: Any) -> tuple[Any, Any]:
        numbers = [argnums] if isinstance(argnums, int) else list(argnums)
        if any(not 0 <= number < len(args) for number in numbers):
            raise DataError("grad", "there is no such argument", got=f"argnums {argnums}",
                            expected=f"0 to {len(args) - 1}, arguments by place",
                            origin=caller("grad"))  # fmt: skip
        wanted = tuple(args[number] for number in numbers)
        inputs = _inputs("grad", wanted)
        marks = [each.node for each in inputs]
        again = dict(zip(numbers, trees.like(wanted, list(inputs)), strict=True))
        whole = f(*(again.get(place, each) for place, each in enumerate(args)), **given)
        result = whole[0] if has_aux else whole
        if not isinstance(result, Tensor) or result.size != 1:
            got = short(result.node) if isinstance(result, Tensor) else type(result).__name__
            raise GradientError("grad", "the function gives no single element", got=got,
                                expected="a tensor of 1 element", hint="sum() or mean() it, or use "
                                "vjp(f, …)", origin=caller("grad"))  # fmt: skip
        slopes = _pulled([result], [result._new(ones_for(result.node))], marks)
        arranged = trees.like(wanted, slopes)
        return whole, arranged[0] if isinstance(argnums, int) else arranged

    return value_and_gradient_of


@located
def vjp(f: Function, *args: Any) -> tuple[Any, Function]:
    """What `f` gives, and a function from a change of the result for each change of that to the
    changes for each change of the arguments: the product with the Jacobian from the left.

    It takes one tensor for each that `f` gives, arranged as they are, and gives a tuple.
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
    """What `f` gives, and what it changes by where the arguments change by `tangents`: the product
    with the Jacobian from the right (forward mode).

    It is the reverse sweep of the reverse sweep, which is linear in what it is given; of the first
    sweep nothing is left to be computed.
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
    """`f`, of which nothing is kept for gradients but its arguments and what it gives: the way
    back computes what is between once more, when it has come so far. Memory for time.

    What `f` reads besides its arguments, parameters say, is kept. Of several tensors that `f`
    gives each computes again what is its own. Raises `GradientError` where `f` writes in place.
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
    """The tensors among the results, each computed from the arguments again for gradients."""
    inputs = dict.fromkeys(each.node for each in args if not isinstance(each.node, Const))
    return [
        each._new(checkpoint_of(each.node, tuple(inputs))) if isinstance(each, Tensor) else each
        for each in results
    ]


def _check_function(method: str, f: object) -> None:
    if not callable(f):
        raise DataError(method, "this is no function", got=type(f).__name__,
                        expected="a function of tensors")  # fmt: skip


@user_call
def _inputs(method: str, args: Any) -> list[Tensor]:
    """What is in the arguments, each as a tensor that equals no other."""
    found = []
    for each in trees.flat(args):
        part = operand_of(method, each)
        found.append(_marked(Tensor._of(part) if isinstance(part, TensorNode) else Tensor(part)))
    for each in found:
        if not each.dtype.is_float:
            raise GradientError(method, "gradients are of floats", got=short(each.node),
                                expected="a floating-point type",
                                hint="argnums says which arguments gradients are of")  # fmt: skip
    return found


def _marked(tensor: Tensor) -> Tensor:
    return tensor._new(marked(tensor.node))


def _tensors(method: str, result: Any) -> list[Tensor]:
    """What a function gave."""
    found = trees.flat(result)
    for each in found:
        if not isinstance(each, Tensor):
            raise GradientError(method, "the function gives no tensor", got=type(each).__name__,
                                expected="Tensor, or tuples, lists and dicts of such")  # fmt: skip
    return found


def _tangents(method: str, given: Any, like: Sequence[Tensor]) -> list[Tensor]:
    """Changes of tensors, which are like these."""
    found = [Tensor(each) for each in trees.flat(given)]
    if len(found) != len(like):
        raise GradientError(method, "there is a change for each tensor", got=str(len(found)),
                            expected=str(len(like)), origin=caller(method))  # fmt: skip
    made = []
    for each, other in zip(found, like, strict=True):
        if each.shape != other.shape:
            raise ShapeError(method, "a change is like its tensor", got=short(each.node),
                             expected=short(other.node), origin=caller(method))  # fmt: skip
        made.append(each.cast(other.dtype))
    return made


@user_call
def _pulled(
    results: Sequence[Tensor], seeds: Sequence[Tensor], marks: Sequence[TensorNode]
) -> list[Tensor]:
    """The changes of the inputs, in reverse, for changes of the results. Inputs are given as the
    nodes that marked them: once it is computed, the tensor of one has another node."""
    roots = [remembered(each.node) for each in results]
    nodes = swept(roots, [seed.node for seed in seeds], marks)
    return [Tensor._of(node) for node in nodes]
