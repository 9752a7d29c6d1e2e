"""differentiate: gradients become operations, by reverse sweeps from results to inputs.

    Before:  %0 = buffer x             f32[4]
             %1 = exp %0               f32[4]
             %2 = const 1.0            f32[4]
             %3 = backward %1 %2 %0 1 pending  bool[]
             %4 = gradient %3 of input 0       f32[4]
             sink %4
    After:   %2 = const 1.0            f32[4]
             %0 = buffer x             f32[4]
             %1 = exp %0               f32[4]
             %6 = mul %2 %1            f32[4]
             sink %6

`sweep.py` explains a sweep (reverse-mode differentiation). For higher derivatives, the inner
gradient is expanded first.

Relies on: nothing; it is the first pass, so that it sees nodes as the user wrote them.
Ensures: no Gradient and no Backward is left.
"""

from collections.abc import Sequence
from typing import Any

from compiler.core.lazy import loading
from compiler.core.node import substitute, toposort
from compiler.core.origin import no_origin, state
from compiler.core.trace import Match, Provenance
from compiler.graph.kinds.gradient import Backward, Gradient
from compiler.graph.kinds.repeat import Repeat, with_iterations
from compiler.graph.nodes import Sink, TensorNode


def differentiate(
    root: TensorNode, provenance: Provenance[Any], matches: list[Match] | None = None
) -> TensorNode:
    """`root` with gradients replaced by operations.

    Raises `GradientError` with the line of an operation that has no derivative.
    """
    return _differentiated([root], provenance, matches)[0]


def differentiated(roots: Sequence[TensorNode]) -> list[TensorNode]:
    """`roots` with gradients replaced by operations, without a record of the steps."""
    return _differentiated(roots, Provenance(), None)


def _differentiated(
    roots: Sequence[TensorNode], provenance: Provenance[Any], matches: list[Match] | None
) -> list[TensorNode]:
    order = toposort(roots)
    if not any(isinstance(node, Gradient) for node in with_iterations(Sink(tuple(roots)))):
        return list(roots)
    with loading():  # few programs have gradients
        from compiler.graph.sweep import Sweep, record

    done: dict[TensorNode, TensorNode] = {}
    swept: dict[TensorNode, Sequence[TensorNode]] = {}
    instead: dict[TensorNode, TensorNode] = {}
    outer = state.origin
    try:
        for node in order:
            state.origin = node.origin
            new = node.with_sources(tuple(done[s] for s in node.sources))
            if new is not node:
                provenance.rebuilt(new, node)
            if isinstance(new, Repeat):
                new = _with_own(new)
            if isinstance(new, Backward) and new not in swept:
                sweep = Sweep(new, provenance, matches)
                swept[new] = sweep.run()
                instead |= sweep.instead
            if isinstance(new, Gradient):
                value = swept[new.sources[0]][new.index]
                provenance.replaced(value, new)
                record(matches, new, value, "gradient", "gradient(backward(x: g), x) = g", Sweep)
                new = value
            done[node] = new
    finally:
        state.origin = outer
    results = [done[root] for root in roots]
    return list(substitute(Sink(tuple(results)), instead).sources) if instead else results


def _with_own(loop: Repeat) -> Repeat:
    """A loop with the gradients in its body replaced by operations."""
    new_body = differentiated(loop.body.sources)
    if all(new is old for new, old in zip(new_body, loop.body.sources, strict=True)):
        return loop
    with no_origin():
        body = Sink(tuple(new_body))
    return Repeat(loop.sources, body, loop.counter, loop.count, loop.index)
