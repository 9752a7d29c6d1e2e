"""The registry of derivative rules: the rule of each kind, and the reason where there is none.

A rule is a function of a node and of its cotangent `g`, which has the node's shape and type. It
returns a cotangent for each operand, or None for operands without one: an index, a condition, a
length. A rule is linear in `g` and builds only kinds that have rules, so that higher derivatives
work. Its docstring is one line of algebra.

Elementwise operations use the derivatives in their row of the table; external functions those that
were registered; composite kinds their method `derivative`, or else that of their expansion.
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
    """A decorator that registers the rule of these kinds; `unless` returns a reason against it."""

    def register(function: Rule) -> Rule:
        for kind in kinds:
            _RULES[kind] = function
            if unless is not None:
                _REFUSALS[kind] = unless
        return function

    return register


def rule_for(node: TensorNode) -> Rule | None:
    """The rule of a node's kind; None if it has none, or uses that of its expansion."""
    if isinstance(node, Composite) and node.has_derivative:
        return lambda own, g: own.derivative(g)
    return next((_RULES[kind] for kind in type(node).__mro__ if kind in _RULES), None)


def described(node: TensorNode) -> Any:
    """The function, or functions, that define the rule of a node."""
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
    """The reason why a node is not differentiable; "" if it is."""
    if isinstance(node, Repeat):
        return ""  # the sweep has a rule for all states together: `loops.py`
    if rule_for(node) is None:
        is_kernel = isinstance(node, Kernel)
        is_made = is_kernel or (isinstance(node, Composite) and node.expansion() is not None)
        return "" if is_made else "it has no derivative"
    refusal = next((_REFUSALS[kind] for kind in type(node).__mro__ if kind in _REFUSALS), None)
    return refusal(node) if refusal else ""
