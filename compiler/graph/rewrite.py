"""The rewrite engine: applies named rules bottom-up until none matches.

A rule is a function from a node to its replacement, or None where it does not apply; its
docstring is one line of algebra. `rule_of(...)` declares which node classes (and operations) it
applies to, so that a node is only tried with rules that could match. The engine is iterative,
visits each node once per distinct result, and reports every match to a `Provenance` and, if
asked, a list.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

from compiler.core.errors import InternalError
from compiler.core.node import Node, toposort
from compiler.core.origin import short_name
from compiler.core.passes import StageName, Step
from compiler.core.trace import Match, Provenance

_ROOT = Path(__file__).resolve().parents[2]
N = TypeVar("N", bound=Node)
Function = Callable[[Any], Node | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rewrite; `targets` are node classes or (class, operation) pairs.

    `algebra` is one line such as "x * 1 = x", `source` the `file:line` of the function, and
    `described` the function as written, which `function` calls. A rule can be inserted among
    passes (`compiler.PASSES.after("simplify", rule)`): it is then a pass of its own on `stage`.
    """

    function: Function
    targets: tuple[Any, ...]
    name: str
    algebra: str
    source: str
    described: Any = None
    stage: StageName = "graph"

    def as_pass(self) -> Step:
        """The pass that applies this rule everywhere until it no longer matches."""
        because = self.algebra or f"a rule of its own: {self.source}"
        apply = Apply((self,))
        return Step(self.stage, self.name, apply, because, True, is_own=True, rules=apply.rules)


@dataclass(frozen=True, slots=True)
class Apply:
    """A pass that applies rules everywhere until none matches."""

    rules: tuple[Rule, ...]

    def __call__(
        self, root: N, provenance: Provenance[Any], matches: list[Match] | None = None
    ) -> N:
        return rewrite(root, RuleSet(self.rules), provenance, matches)


def rule_of(*targets: Any) -> Callable[[Function], Rule]:
    """Decorate a function as a rule for `targets`: node classes or (class, op name) pairs."""

    def decorate(function: Function) -> Rule:
        return make_rule(function, targets, function)

    return decorate


def make_rule(function: Function, targets: tuple[Any, ...], described: Any, name: str = "") -> Rule:
    """A rule whose name (unless given), algebra and source are those of `described`."""
    algebra = (described.__doc__ or "").strip().partition("\n")[0]
    name = name or described.__name__.strip("_")
    return Rule(function, targets, name, algebra, place_of(described), described)


def place_of(described: Any) -> str:
    """`compiler/graph/simplify.py:40`: the place where a function or class is defined."""
    code = getattr(described, "__code__", None)
    return "" if code is None else f"{_shown_path(code.co_filename)}:{code.co_firstlineno}"


def _shown_path(file: str) -> str:
    """The path of a file relative to the package, or its name: independent of this machine."""
    path = Path(file)
    is_ours = path.is_relative_to(_ROOT)
    return path.relative_to(_ROOT).as_posix() if is_ours else short_name(file)


class RuleSet:
    """Rules in order, found by the class and operation of a node."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._by_target: dict[Any, list[Rule]] = {}
        for each in self.rules:
            for target in each.targets:
                self._by_target.setdefault(target, []).append(each)
        self._candidates: dict[Any, tuple[Rule, ...]] = {}
        self._settled: WeakSet[Node] = WeakSet()
        """Nodes that no rule changes: earlier runs have simplified most of a body already."""

    def candidates(self, node: Node) -> tuple[Rule, ...]:
        """The rules that apply to nodes of this class and operation, in order."""
        key = (type(node), getattr(node, "op", None))
        rules = self._candidates.get(key)
        if rules is None:
            wanted = {*self._by_target.get(key[0], ()), *self._by_target.get(key, ())}
            rules = self._candidates[key] = tuple(r for r in self.rules if r in wanted)
        return rules

    def match(self, node: Node) -> tuple[Rule, Node] | None:
        """The first rule that changes `node`, with its result."""
        if node in self._settled:
            return None
        for each in self.candidates(node):
            result = each.function(node)
            if result is not None and result is not node and _keeps_extents(node, result):
                return each, result
        self._settled.add(node)
        return None


def _keeps_extents(node: Node, result: Node) -> bool:
    """True if the result has the same symbolic axes: where(true, a, b) = a fails if only b has one.
    """
    return getattr(node, "extents", ()) == getattr(result, "extents", ())


def rewrite(
    root: N,
    rules: RuleSet,
    provenance: Provenance[Any],
    matches: list[Match] | None = None,
    limit: int = 50,
) -> N:
    """`root` with `rules` applied everywhere until none matches.

    `limit` is the number of matches per node of the program after which the rules are assumed not
    to terminate. Raises `InternalError` in that case, and for rules that undo each other; it names
    one of the rules.
    """
    done: dict[Any, Any] = {}
    waits_for: dict[Any, Any] = {}
    names: dict[Any, str] = {}
    stack: list[Any] = [root]
    count, allowed = 0, limit * 100
    while stack:
        node = stack[-1]
        target = waits_for.get(node)
        if target is not None and target in done:
            done[node] = done[target]
        if node in done:
            stack.pop()
            continue
        if target is not None:  # its rewrite has not finished yet: a rule led back to it
            raise InternalError("rewrite", "rules undo each other", got=f"{names[node]} again")
        pending = [s for s in node.sources if s not in done]
        if pending:
            stack.extend(reversed(pending))
            continue
        rebuilt = node.with_sources(tuple([done[s] for s in node.sources]))
        if rebuilt is not node:
            _record_rebuilt(node, rebuilt, provenance, matches)
        matched = rules.match(rebuilt)
        if matched is None:
            done[node] = done[rebuilt] = rebuilt
            continue
        each, result = matched
        provenance.replaced(result, rebuilt)
        if matches is not None:
            match = Match(each.name, each.algebra, each.source, rebuilt, result, each.described)
            matches.append(match)
        count += 1
        if count > allowed:
            allowed = limit * (len(toposort([root])) + 100)  # rarely asked, so counted only now
        if count > allowed:
            raise InternalError("rewrite", "rules never end", got=f"{each.name} again")
        waits_for[node], names[node] = result, each.name
        stack.append(result)
    result_root: N = done[root]
    return result_root


def _record_rebuilt(
    old: Node, new: Node, provenance: Provenance[Any], matches: list[Match] | None
) -> None:
    """Record that `old` became `new`; if `new` existed already, the two have merged."""
    is_merge = new in provenance.numbers and provenance.numbers[new] != provenance.numbers[old]
    provenance.rebuilt(new, old)
    if is_merge and matches is not None:
        matches.append(Match("cse", "equal nodes are one node", "", old, new))
