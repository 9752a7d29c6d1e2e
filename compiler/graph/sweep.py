"""A reverse sweep (reverse-mode differentiation): from the result's cotangent to the gradients.

A sweep holds values and their cotangents: the derivatives of the result by each value. Each step
takes the last value in topological order, computes its contributions to the cotangents of its
operands by the rule of its kind, and accumulates them. Each value is processed once, after all its
users (Speelpenning, "Compiling fast partial derivatives", 1980; Griewank and Walther, "Evaluating
derivatives", 2008). Only values between the result and the requested inputs are processed.

Nodes created by a step have the line of the processed value, marked `gradient of` its call.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeAlias

from compiler.core.errors import GradientError, InternalError
from compiler.core.node import substitute, toposort
from compiler.core.origin import derived, state
from compiler.core.trace import Match, Provenance
from compiler.graph.derivatives import elements, memory, movement, rules, together
from compiler.graph.derivatives.loops import loop_derivative
from compiler.graph.kinds.composite import Composite
from compiler.graph.kinds.gradient import Backward, Checkpoint, Gradient, changed_by, needed_for
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.kinds.shaping import like
from compiler.graph.nodes import Sink, TensorNode, const, elementwise
from compiler.graph.rewrite import place_of
from compiler.graph.words import operation, short

RULE_FILES = (elements, memory, movement)
"""The modules that register derivative rules when they are imported."""
Swept: TypeAlias = Sequence[TensorNode]
"""The gradient of each input of a sweep."""


def record(
    matches: list[Match] | None, before: TensorNode, after: TensorNode, rule: str, algebra: str,
    described: Any,
) -> None:  # fmt: skip
    """Record a step in `matches`, if given."""
    if matches is not None:
        place = "" if described is None else place_of(described)
        matches.append(Match(rule, algebra, place, before, after, described))


class Sweep:
    """One reverse sweep: the values still to be processed, with their cotangents."""

    def __init__(
        self, start: Backward, provenance: Provenance[Any], matches: list[Match] | None,
        is_part: bool = False,
    ) -> None:  # fmt: skip
        """Set up the sweep. If it `is_part` of another one, it ends at its inputs, where the other
        one continues."""
        self.now = start
        self.provenance = provenance
        self.matches = matches
        self.inputs = frozenset(start.inputs)
        self.order = toposort(start.values, self.inputs if is_part else frozenset())
        self.ends = self.inputs if is_part else frozenset[TensorNode]()
        self.needed = needed_for(self.order, self.inputs)
        self.places = {node: place for place, node in enumerate(self.order)}
        self.loops: dict[object, list[Repeat]] = {}
        for node in self.order:
            if isinstance(node, Repeat) and node not in self.ends:
                self.loops.setdefault(node.loop, []).append(node)
        self.instead: dict[TensorNode, TensorNode] = {}
        """For states of loops, those of loops that store what the backward pass needs."""
        self.cotangents: dict[TensorNode, TensorNode] = {}
        for value, g in zip(start.values, start.cotangents, strict=True):
            self._add(value, g)

    def run(self) -> Swept:
        """Run the sweep: the gradients of the inputs, zeros for those without influence."""
        for node in reversed(self.order):
            if node in self.ends:
                continue
            if isinstance(node, Repeat):
                self._pass_loop(node)
                continue
            is_needed = node in self.needed and any(s in self.needed for s in node.sources)
            if is_needed and node in self.cotangents:
                self._pass(node)
        return [self.cotangents.get(x) or _nothing(x) for x in self.now.inputs]

    def _pass(self, node: TensorNode) -> None:
        """Process a value: add its contributions to the cotangents of its operands."""
        g = self.cotangents[node] if node in self.inputs else self.cotangents.pop(node)
        origin = node.origin
        state.origin = derived(origin, f"gradient of {origin.method}") if origin else None
        shares, rule, algebra, described = _shares(node, g, self.needed)
        for source, share in shares:
            if share is not None and source in self.needed:
                self._add(source, _checked(node, source, share))
        if self.matches is not None:
            self._step(rule, algebra, described)

    def _pass_loop(self, node: Repeat) -> None:
        """Process a loop when its first state is met: all users of its states are done by then."""
        states = [n for n in self.loops[node.loop] if n in self.cotangents]
        is_needed = any(source in self.needed for source in node.sources)
        if not states or node is not self.loops[node.loop][0] or not is_needed:
            return
        cotangents: list[TensorNode | None] = [None] * node.states
        for each in states:
            cotangents[each.index] = self.cotangents.pop(each)
        origin = node.origin
        state.origin = derived(origin, f"gradient of {origin.method}") if origin else None
        swept = loop_derivative(node, cotangents, _pulled)
        for each in self.loops[node.loop]:
            self.instead[each] = swept.states[each.index]
        for source, share in zip(node.sources, swept.sources, strict=True):
            if share is not None and source in self.needed:
                self._add(source, _checked(node, source, share))
        if self.matches is not None:
            self._step("repeat", "d repeat(x; f) = d f, iteration by iteration, from the last",
                       loop_derivative)  # fmt: skip

    def _add(self, node: TensorNode, share: TensorNode) -> None:
        if node not in self.needed:
            return
        held = self.cotangents.get(node)
        self.cotangents[node] = share if held is None else elementwise("add", held, share)

    def _step(self, rule: str, algebra: str, described: Any) -> None:
        """Record the current values and cotangents as the next form of the sweep."""
        before, held = self.now, sorted(self.cotangents, key=self.places.__getitem__)
        state.origin = before.origin
        sources = (*held, *(self.cotangents[node] for node in held), *before.inputs)
        self.now = Backward(sources, len(held))
        self.provenance.replaced(self.now, before)
        record(self.matches, before, self.now, rule, algebra, described)


def check_differentiable(roots: Sequence[TensorNode], inputs: Sequence[TensorNode]) -> None:
    """Raise `GradientError` where an operation between inputs and roots has no derivative."""
    order = toposort(roots)
    wanted = frozenset(inputs)
    way = needed_for(order, wanted)
    reached = set(roots)
    for node in reversed(order):
        if node not in reached or node not in way:
            continue
        if isinstance(node, Backward | Gradient):
            reached.update(node.sources)  # its operations do not exist yet
        elif any(source in way for source in node.sources):
            if why := rules.why_none(node):
                refuse(node, why)
            reached.update(changed_by(node))


def _nothing(x: TensorNode) -> TensorNode:
    """The gradient of a value without influence on the result: zeros."""
    return like(const(0, x.dtype, x.shape), x)


Shares: TypeAlias = "tuple[Iterable[tuple[TensorNode, TensorNode | None]], str, str, Any]"
"""Values with a cotangent for each; the rule's name, its algebra, and its function."""


def _shares(node: TensorNode, g: TensorNode, needed: frozenset[TensorNode]) -> Shares:
    if why := rules.why_none(node):
        refuse(node, why)
    rule = rules.rule_for(node)
    name = operation(node)
    if isinstance(node, Checkpoint):
        again, inputs = node.again(g)
        pulled = zip(node.inputs, pulled_back(again, g, inputs), strict=True)
        return pulled, name, "d checkpoint(f; x) = d f, of x after dy", Checkpoint.again
    if (pair := together.together(node, g)) is not None and pair[0] in needed:
        value, share, function = pair
        return [(value, share)], function.__name__, function.__doc__ or "", function
    if rule is None:
        assert isinstance(node, Composite)
        expanded = node.inlined() if isinstance(node, Kernel) else node.expansion()
        assert expanded is not None
        wanted = tuple(dict.fromkeys(s for s in node.sources if s in needed))
        pulled = zip(wanted, pulled_back(expanded, g, wanted), strict=True)
        return pulled, name, f"d {name}: that of its expansion", type(node).expansion
    described = rules.described(node)
    functions = described if isinstance(described, tuple) else (described,)
    algebra = "; ".join((it.__doc__ or "").partition("\n")[0] for it in functions)
    return zip(node.sources, rule(node, g), strict=True), name, algebra, functions[0]


def pulled_back(root: TensorNode, g: TensorNode, inputs: Sequence[TensorNode]) -> Swept:
    """The gradients of `root` by `inputs` for its cotangent `g` (the VJP), without a record."""
    return _pulled([root], [g], inputs)


def _pulled(
    roots: Sequence[TensorNode], gs: Sequence[TensorNode], inputs: Sequence[TensorNode]
) -> Swept:
    """As `pulled_back`, for several results."""
    outer = state.origin
    sweep = Sweep(Backward((*roots, *gs, *inputs), len(roots)), Provenance(), None, True)
    try:
        cotangents = sweep.run()
    finally:
        state.origin = outer
    if not sweep.instead:
        return cotangents
    return substitute(Sink(tuple(cotangents)), sweep.instead).sources


def refuse(node: TensorNode, why: str) -> NoReturn:
    """Raise the error for an operation that is not differentiable."""
    raise GradientError(
        operation(node), f"no gradient can pass: {why}", got=short(node),
        expected="an operation that has a derivative",
        hint="detach() the values that need no gradient", origin=node.origin,
    )  # fmt: skip


def _checked(node: TensorNode, source: TensorNode, share: TensorNode) -> TensorNode:
    """`share`, checked to have the shape and type of its operand."""
    if (share.shape, share.dtype) == (source.shape, source.dtype):
        return share
    raise InternalError(
        f"derivative of {operation(node)}", "a cotangent is not like its operand",
        got=short(share), expected=short(source), origin=node.origin,
    )  # fmt: skip
