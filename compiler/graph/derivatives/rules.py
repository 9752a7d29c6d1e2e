"""Which rule a kind of node has, and what has none.

A rule is a function of a node and of its cotangent `g`, which is like the node. It gives a
cotangent for each operand, or None where none goes there: to an index, a condition, a length. It
is linear in `g`, and made of kinds that have rules, so that it can be taken again. Its docstring
is one line of algebra.

An operation on elements has the derivatives of its row, a function from outside that which was
registered for it, a composite kind its own method `derivative`, or else that of its expansion.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from compiler.graph.kinds.composite import Composite
from compiler.graph.kinds.gradient import Ruled
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Elementwise, Reduce, TensorNode
from compiler.ops.table import OPS, REDUCTIONS

Cotangents: TypeAlias = Sequence[TensorNode | None]
Rule: TypeAlias = Callable[[Any, TensorNode], Cotangents]
_RULES: dict[type[TensorNode], Rule] = {}
_REFUSALS: dict[type[TensorNode], Callable[[Any], str]] = {}


def derivative_of(
    *kinds: type[TensorNode], unless: Callable[[Any], str] | None = None
) -> Callable[[Rule], Rule]:
    """Registers the rule for these kinds; `unless` says why a node of them has none."""

    def register(function: Rule) -> Rule:
        for kind in kinds:
            _RULES[kind] = function
            if unless is not None:
                _REFUSALS[kind] = unless
        return function

    return register


def rule_for(node: TensorNode) -> Rule | None:
    """The rule of a node's kind; None for one that has its expansion's, and for one that has none.
    """
    if isinstance(node, Composite) and node.has_derivative:
        return lambda own, g: own.derivative(g)
    return next((_RULES[kind] for kind in type(node).__mro__ if kind in _RULES), None)


def described(node: TensorNode) -> Any:
    """The function, or the functions, that say what the rule of a node is."""
    if isinstance(node, Composite) and node.has_derivative:
        return type(node).derivative
    if isinstance(node, Elementwise):
        return OPS[node.op].derivative or (rule_for(node),)
    if isinstance(node, Ruled):
        return tuple(rule for rule in node.rules if rule is not None)
    if isinstance(node, Reduce):
        return REDUCTIONS[node.op].derivative
    return rule_for(node)


def why_none(node: TensorNode) -> str:
    """Why no gradient can pass a node, in words; "" where it can."""
    if isinstance(node, Repeat):
        return ""  # its sweep has a rule for all states together: `loops.py`
    if rule_for(node) is None:
        is_kernel = isinstance(node, Kernel)
        is_made = is_kernel or (isinstance(node, Composite) and node.expansion() is not None)
        return "" if is_made else "it has no derivative"
    refusal = next((_REFUSALS[kind] for kind in type(node).__mro__ if kind in _REFUSALS), None)
    return refusal(node) if refusal else ""
