"""The one rewrite engine: named rules, applied bottom-up until none matches.

A rule is a function from a node to its replacement, or None where it does not apply; its
docstring is one line of algebra. `rule_of(...)` says which node classes (and which operations) it
looks at, so that a node only meets rules that could match. The engine is iterative, visits each
node once per distinct result, and reports every match to a `Provenance` and, if asked, a list.
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
    `described` the function as it was written, which `function` calls. A rule can stand among
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
        """The row that applies this rule everywhere, until it matches no more."""
        because = self.algebra or f"a rule of its own: {self.source}"
        made = Apply((self,))
        return Step(self.stage, self.name, made, because, True, is_own=True, rules=made.rules)


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
    """`compiler/graph/simplify.py:40`: where a function or class begins, as rules state it."""
    code = getattr(described, "__code__", None)
    return "" if code is None else f"{_shown_path(code.co_filename)}:{code.co_firstlineno}"


def _shown_path(file: str) -> str:
    """The file of a rule without what only this machine knows: from the package on, or its name."""
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
        """Nodes that no rule changes: most of a body is as the pass before simplified it."""

    def candidates(self, node: Node) -> tuple[Rule, ...]:
        """The rules that look at nodes like this one, in order."""
        key = (type(node), getattr(node, "op", None))
        found = self._candidates.get(key)
        if found is None:
            wanted = {*self._by_target.get(key[0], ()), *self._by_target.get(key, ())}
            found = self._candidates[key] = tuple(r for r in self.rules if r in wanted)
        return found

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
    """Whether a tensor has the same symbolic axes: where(true, a, b) = a not if b alone has one."""
    return getattr(node, "extents", ()) == getattr(result, "extents", ())


def rewrite(
    root: N,
    rules: RuleSet,
    provenance: Provenance[Any],
    matches: list[Match] | None = None,
    limit: int = 50,
) -> N:
    """`root` with `rules` applied everywhere until none matches.

    `limit` is the number of matches per node of the program after which rules are taken never
    to end. That, and rules that undo each other, is an `InternalError` that names one of them.
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
        if target is not None:  # it is already being waited for: a rule led back to it
            raise InternalError("rewrite", "rules undo each other", got=f"{names[node]} again")
        pending = [s for s in node.sources if s not in done]
        if pending:
            stack.extend(reversed(pending))
            continue
        rebuilt = node.with_sources(tuple([done[s] for s in node.sources]))
        if rebuilt is not node:
            _record_rebuilt(node, rebuilt, provenance, matches)
        found = rules.match(rebuilt)
        if found is None:
            done[node] = done[rebuilt] = rebuilt
            continue
        each, result = found
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
    """Note that `old` became `new`; if `new` was known already, the two have merged."""
    is_merge = new in provenance.numbers and provenance.numbers[new] != provenance.numbers[old]
    provenance.rebuilt(new, old)
    if is_merge and matches is not None:
        matches.append(Match("cse", "equal nodes are one node", "", old, new))
