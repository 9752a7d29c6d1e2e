"""rule: a function on a node, as a rewrite of one's own: in a notebook cell, say.

    @compiler.rule("mul")
    def twice(node):
        \"\"\"x * 2 = x + x\"\"\"
        x, factor = node.sources
        if not is_constant(factor, 2):
            return None
        return elementwise("add", x, x)

    compiler.compile(y, passes=compiler.PASSES.after("simplify", twice))

The function gets a node and returns what to put in its place, or None where it does not apply. Its
docstring is the line of algebra that the explorer shows. `targets` are operations and kinds as
they are printed ("mul", "sum", "reshape") or classes of nodes; without any, every node is looked
at. Classes of `loops/nodes.py` make it a rule on loops.
"""

import difflib
import functools
import inspect
from collections.abc import Iterator
from typing import Any, NoReturn

from compiler.core.dtypes import Scalar
from compiler.core.errors import CompileError, PassError
from compiler.core.node import Node
from compiler.core.origin import caller, users_lines
from compiler.graph.nodes import Const, Elementwise, Reduce, Sink, TensorNode, const
from compiler.graph.rewrite import Function, Rule, make_rule
from compiler.graph.words import operation, short
from compiler.loops.nodes import Body, ScalarNode
from compiler.ops.table import OPS, REDUCTIONS


def rule(*targets: Any) -> Any:
    """Decorate a function as a rule: `@rule`, `@rule("mul")`, or `@rule(Reshape, "sum")`.

    Raises `PassError` for a name that nothing has, for classes of two stages, and for a function
    that does not take one node.
    """
    is_bare = len(targets) == 1 and not isinstance(targets[0], str | type)
    return _made(targets[0], ()) if is_bare else functools.partial(_made, wanted=targets)


def is_constant(node: TensorNode, value: Scalar) -> bool:
    """True if `node` is this constant everywhere, to the bit (so -0.0 is not 0.0)."""
    return isinstance(node, Const) and node.bits == const(value, node.dtype).bits


def _made(function: Function, wanted: tuple[Any, ...]) -> Rule:
    """The rule of a function for the targets wanted."""
    if not callable(function):
        _refuse("rule", "a rule is a function", type(function).__name__, "a function on a node")
    _check_takes_a_node(function)
    targets = tuple(dict.fromkeys(t for each in wanted for t in _targets(each)))
    targets = targets or tuple(_kinds(TensorNode))
    classes = [each[0] if isinstance(each, tuple) else each for each in targets]
    is_loops = [issubclass(each, ScalarNode) for each in classes]
    if any(is_loops) and not all(is_loops):
        _refuse(function.__name__, "a rule is on the graph or on loops", "classes of both", "one")
    new = make_rule(_checked(function), targets, function)
    return Rule(new.function, targets, new.name, new.algebra, new.source, function,
                "loops" if any(is_loops) else "graph")  # fmt: skip


def _targets(wanted: str | type[Node]) -> Iterator[Any]:
    """The keys that a name or a class stands for, as rewriting looks nodes up."""
    if isinstance(wanted, type):
        if not issubclass(wanted, Node):
            _refuse("rule", "this is no kind of node", wanted.__name__, "a class of nodes")
        yield from _kinds(wanted)
        return
    named = {kind.__name__.lower(): kind for kind in _kinds(TensorNode)}
    named |= {getattr(k, "name_in_print", "") or n: k for n, k in named.items()}
    targets: list[Any] = [(Elementwise, wanted)] if wanted in OPS else []
    targets += [(Reduce, wanted)] if wanted in REDUCTIONS else []
    targets += [named[wanted]] if wanted in named else []
    if not targets:
        near = difflib.get_close_matches(wanted, {*OPS, *REDUCTIONS, *named}, 3)
        expected = " or ".join(near) or "the name of an operation, as it is printed"
        _refuse("rule", f"no operation is called {wanted}", wanted, expected)
    yield from targets


def _kinds(base: type[Node]) -> Iterator[type[Node]]:
    """The kinds of nodes that derive from a class, but for the roots of programs."""
    below = base.__subclasses__()
    if not below and base not in (Sink, Body):
        yield base
    for each in below:
        yield from _kinds(each)


def _checked(function: Function) -> Function:
    """`function`, refused where what it returns cannot stand for the node."""

    @functools.wraps(function)
    def applied(node: Any) -> Node | None:
        try:
            replacement = function(node)
        except CompileError:
            raise
        except Exception as error:
            raise _failed(function.__name__, node, error) from error
        if replacement is not None and replacement is not node:
            _check(function.__name__, node, replacement)
        return replacement

    return applied


def _check_takes_a_node(function: Function) -> None:
    """Raise `PassError` unless `function` can be called with one node and nothing else."""
    signature = inspect.signature(function)
    try:
        signature.bind(None)
    except TypeError:
        name = function.__name__
        _refuse("rule", "a rule is called with one node", f"{name}{signature}", f"{name}(node)")


def _failed(name: str, node: Node, error: Exception) -> PassError:
    """The error that a rule's own code raises, with the line of it that failed."""
    lines = users_lines(error.__traceback__)
    what = type(node).__name__.lower()
    if isinstance(node, TensorNode):
        what = f"{operation(node)} {short(node)}"
    return PassError(name, f"the rule's own code fails on {what}",
                     got=f"{type(error).__name__}: {error}", expected="a node, or None",
                     origin=lines[-1] if lines else None)  # fmt: skip


def _check(name: str, node: Node, new: object) -> None:
    """Raise `PassError` unless `new` has the type and shape of `node`."""
    base = TensorNode if isinstance(node, TensorNode) else ScalarNode
    if not isinstance(new, base):
        _refuse(name, "a rule returns a node, or None", type(new).__name__, "a node of the stage")
    if isinstance(node, TensorNode) and isinstance(new, TensorNode):
        if (new.shape, new.dtype, new.extents) != (node.shape, node.dtype, node.extents):
            what = f"what is put in the place of {operation(node)} has another shape or type"
            _refuse(name, what, short(new), short(node))
    elif getattr(new, "dtype", None) != getattr(node, "dtype", None):
        _refuse(name, "what is put in a node's place has another type",
                str(getattr(new, "dtype", "")), str(getattr(node, "dtype", "")))  # fmt: skip


def _refuse(where: str, what: str, got: str, expected: str) -> NoReturn:
    """Raise the error."""
    raise PassError(where, what, got=got, expected=expected, origin=caller(where))
