"""why_not: the reason why a rule does not match a node: the first condition that failed, with its
values.

The rule runs once more on the node, and the line that it returns from is noted. What decides there
is read off its source: the condition of a guard (`if not …: return None`), of a choice
(`return x if … else None`), or of a branch that was not taken; of several joined by "and" or "or",
the one that decided. Rules need no words of their own for this, a learner's neither.

Relies on: rules read nodes and make nodes, and do nothing else.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from compiler.core.dtypes import DType
from compiler.core.errors import PassError
from compiler.core.node import Node, toposort
from compiler.core.origin import no_origin
from compiler.core.printable import ShownAsText, printout
from compiler.core.trace import PassRecord, code_of
from compiler.graph.nodes import TensorNode
from compiler.graph.rewrite import Rule
from compiler.graph.words import describe_argument, operation, short
from compiler.loops.invariants import describe
from compiler.loops.nodes import ScalarNode
from compiler.pipeline.rows import PASSES
from compiler.settings.options import Options
from compiler.stages.stages import ProgramStages

LONGEST = 80


@dataclass(frozen=True, slots=True)
class WhyNot(ShownAsText):
    """The reason why a rule leaves a node alone, or that it does not (`matches`)."""

    rule: str
    node: str
    matches: bool
    words: str
    condition: str = ""
    """The source of the condition that decided."""
    values: tuple[tuple[str, str], ...] = ()
    """The values that the condition looked at, by name."""
    place: str = ""
    """`file:line` of the condition."""

    def __str__(self) -> str:
        lines = [f"{self.rule} at {self.node}: {self.words}"]
        lines += [f"  {self.condition}   {self.place}"] if self.condition else []
        return printout([*lines, *(f"  {name} = {value}" for name, value in self.values)])


def rules_of(record: PassRecord, options: Options) -> tuple[Rule, ...]:
    """The rules of a pass; none where it is no set of rules."""
    rows = options.passes or PASSES
    rules = (r.rules for r in rows if (r.stage, r.name) == (record.stage, record.name))
    return next(rules, ())


def why_not(compilation: ProgramStages, rule: str | Rule, node: str | Node) -> WhyNot:
    """The reason why `rule` does not match `node`, an entity such as "graph:12" or a node itself.

    An entity is looked at as it stands when the pass with the rule has ended. Raises `PassError`
    where no pass has the rule, or no program of that pass the node.
    """
    lacking = None
    for record, row in _passes_with(compilation, rule, node):
        there = _in_record(record, node)
        if there is not None:
            return _matched(record, row, there) or explain(row, there)
        lacking = record
    if isinstance(rule, Rule) and isinstance(node, Node):
        return explain(rule, node)
    if lacking is not None:
        what = f"the node is no part of the program when {lacking.name} runs"
        hint = _elsewhere(compilation.passes, lacking, node)
        expected = "a node before or after it"
        raise PassError("why_not", what, got=str(node), expected=expected, hint=hint)
    wanted = _name_of(rule)
    names = {r.name for each in compilation.passes for r in rules_of(each, compilation.options)}
    expected = ", ".join(sorted(names))
    raise PassError("why_not", f"no pass has a rule {wanted}", got=wanted, expected=expected)


def _passes_with(
    compilation: ProgramStages, rule: str | Rule, node: str | Node
) -> Iterator[tuple[PassRecord, Rule]]:
    """The passes on a node's stage that have a rule, with the rule; a rule that no pass has is
    taken as one of its stage."""
    for record in compilation.passes:
        if isinstance(node, str) and not node.startswith(record.prefix):
            continue
        rows = [r for r in rules_of(record, compilation.options) if r.name == _name_of(rule)]
        if not rows and isinstance(rule, Rule) and record.stage == rule.stage:
            rows = [rule]
        if rows:
            yield record, rows[0]


def _name_of(rule: str | Rule) -> str:
    return rule.name if isinstance(rule, Rule) else rule


def _elsewhere(passes: tuple[PassRecord, ...], record: PassRecord, node: str | Node) -> str:
    """Another pass in which a node can be found, in words."""
    same = [r for r in passes if (r.stage, r.kernel) == (record.stage, record.kernel)]
    other = next((r for r in same if _in_record(r, node) is not None), None)
    if other is None:
        return ""
    is_later = same.index(other) > same.index(record)
    return f"{other.name} {'makes it, and runs later' if is_later else 'still had it'}"


def _in_record(record: PassRecord, node: str | Node) -> Node | None:
    """The node that an entity is when a pass has ended, or else was when it began."""
    for root in (record.after, record.before):
        for each in toposort([root]):
            if each is node or record.entity(each) == node:
                return each
    return None


def _matched(record: PassRecord, rule: Rule, node: Node) -> WhyNot | None:
    """The answer that the rule did match, if it did."""
    number = record.numbers[node]
    for count, match in enumerate(record.matches, 1):
        if match.rule == rule.name and record.numbers[match.before] == number:
            words = f"it matched: rewrite {count} of {record.name}, to {described(match.after)}"
            return WhyNot(rule.name, described(match.before), True, words)
    return None


def explain(rule: Rule, node: Node) -> WhyNot:
    """The reason why a rule does not match a node as it is."""
    looked_at = (type(node), (type(node), getattr(node, "op", None)))
    if not any(target in looked_at for target in rule.targets):
        words = f"it looks at {_listed(rule)}, and this is {_kind(node)}"
        return WhyNot(rule.name, described(node), False, words)
    with no_origin():
        seen = _Run(inspect.unwrap(rule.function), node)
    if seen.error:
        return WhyNot(rule.name, described(node), False, f"it fails: {seen.error}")
    if isinstance(seen.result, Node) and seen.result is not node:
        if getattr(node, "extents", ()) != getattr(seen.result, "extents", ()):
            words = "what it returns has other variable extents"
            return WhyNot(rule.name, described(node), False, words)
        words = f"it matches: {described(seen.result)} takes its place"
        return WhyNot(rule.name, described(node), True, words)
    if seen.result is node:
        return WhyNot(rule.name, described(node), False,
                      "it returns the node itself: nothing to do")  # fmt: skip
    return seen.refusal(rule, described(node))


class _Run:
    """One run of a rule on a node: what it returned, from which line, knowing what."""

    def __init__(self, function: Any, node: Node) -> None:
        self.function, self.result, self.error = function, None, ""
        self.line, self.known = 0, dict[str, Any]()
        code, before = function.__code__, sys.gettrace()
        sys.settrace(lambda frame, event, value: self._enter(code, frame))
        try:
            self.result = function(node)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
        finally:
            sys.settrace(before)

    def _enter(self, code: CodeType, frame: FrameType) -> Any:
        return self._note if frame.f_code is code else None

    def _note(self, frame: FrameType, event: str, value: object) -> Any:
        self.line = frame.f_lineno
        if event == "return":
            self.known = {**frame.f_globals, **frame.f_locals}
        return self._note

    def refusal(self, rule: Rule, node: str) -> WhyNot:
        """The condition that made the rule return None."""
        text = code_of(self.function)
        if not text:
            return WhyNot(rule.name, node, False, "it returned None; its source cannot be read")
        first = self.function.__code__.co_firstlineno
        conditions = _deciding(ast.parse(text), self.line - first + 1, self.known)
        place = f"{rule.source.rpartition(':')[0]}:{self.line}"
        if not conditions:
            words = "it came to its end without a node to put there"
            return WhyNot(rule.name, node, False, words, place=place)
        (part, holds), *others = (_decided(*each, self.known) for each in conditions)
        words = {True: "this holds, which rules it out", False: "this does not hold",
                 None: "this found nothing"}[holds]  # fmt: skip
        more = [f"{ast.get_source_segment(text, it)}" for it, _ in others]
        words += f", and neither does {' nor '.join(more)}" if more else ""
        place = f"{rule.source.rpartition(':')[0]}:{first + part.lineno - 1}"
        shown = tuple(_values(part, self.known))
        condition = " ".join((ast.get_source_segment(text, part) or "").split())
        return WhyNot(rule.name, node, False, words, condition, shown, place)


def _deciding(
    tree: ast.Module, line: int, names: Mapping[str, Any]
) -> list[tuple[ast.expr, bool | None]]:
    """The conditions that led to the return in `line`, the first first: each an expression, and
    whether it held (None: it is the value that was None)."""
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    skipped: list[tuple[ast.expr, bool | None]] = []
    guard: tuple[ast.expr, bool | None] | None = None
    here: ast.stmt | None = None
    for before, here in _statements_at(function.body, line):
        skipped += [
            (each.test, False) for each in before
            if isinstance(each, ast.If) and _returns_node(each) and not _value(each.test, names)
        ]  # fmt: skip
        if isinstance(here, ast.If):
            if _holds_line(here.body, line):
                guard = here.test, True
            elif not here.orelse and _returns_node(here):
                skipped.append((here.test, False))
        elif isinstance(here, ast.Match):
            guard = here.subject, None
    if isinstance(here, ast.Return) and here.value is not None and not _is_none(here.value):
        return [*skipped, _of_choice(here.value, names)]
    return [guard] if guard is not None else skipped


def _statements_at(
    body: list[ast.stmt], line: int
) -> Iterator[tuple[list[ast.stmt], ast.stmt | None]]:
    """The statements that hold a line, from the outermost, each with those before it in its body;
    None in a body that does not hold it."""
    while True:
        here = next((s for s in body if s.lineno <= line <= (s.end_lineno or line)), None)
        yield body[: body.index(here)] if here else body, here
        if isinstance(here, ast.If):
            body = here.body if _holds_line(here.body, line) else here.orelse
            continue
        body = next((part for part in _parts(here) if _holds_line(part, line)), [])
        if not body:
            return


def _parts(statement: ast.stmt | None) -> list[list[ast.stmt]]:
    """The bodies of a loop, of `with`, `try` or `match`."""
    match statement:
        case ast.For() | ast.While():
            return [statement.body, statement.orelse]
        case ast.With():
            return [statement.body]
        case ast.Try():
            handlers = [each.body for each in statement.handlers]
            return [statement.body, *handlers, statement.orelse, statement.finalbody]
        case ast.Match():
            return [case.body for case in statement.cases]
        case _:
            return []


def _holds_line(body: list[ast.stmt], line: int) -> bool:
    """True if a line stands in a body."""
    return any(s.lineno <= line <= (s.end_lineno or line) for s in body)


def _returns_node(branch: ast.If) -> bool:
    """True if a branch returns something that is not None as it stands."""
    returns = [n for s in branch.body for n in ast.walk(s) if isinstance(n, ast.Return)]
    return any(r.value is not None and not _is_none(r.value) for r in returns)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _of_choice(value: ast.expr, names: Mapping[str, Any]) -> tuple[ast.expr, bool | None]:
    """The condition of `x if … else None`, inside out; else the expression that gave None."""
    while isinstance(value, ast.IfExp):
        held = bool(_value(value.test, names))
        chosen = value.body if held else value.orelse
        if _is_none(chosen):
            return value.test, held
        value = chosen
    return value, None


def _decided(
    condition: ast.expr, holds: bool | None, names: Mapping[str, Any]
) -> tuple[ast.expr, bool | None]:
    """The part of a condition that decided: of "and" the first that fails, of "or" that holds."""
    if holds is None:
        return condition, None
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        return _decided(condition.operand, not holds, names)
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.Or) == holds:
        deciding = (p for p in condition.values if bool(_value(p, names)) == holds)
        return _decided(next(deciding, condition.values[-1]), holds, names)
    return condition, holds


def _value(expression: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of an expression of the rule; a name in it may be unknown by then."""
    try:
        return eval(compile(ast.Expression(expression), "<rule>", "eval"), dict(names))
    except Exception:
        return None


def _values(part: ast.expr, names: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names and attributes that a condition looks at, with what they are."""
    inner = {child for n in ast.walk(part) if isinstance(n, ast.Attribute | ast.Subscript)
             for child in ast.walk(n) if child is not n}  # fmt: skip
    targets = {name.id for n in ast.walk(part) if isinstance(n, ast.comprehension)
           for name in ast.walk(n.target) if isinstance(name, ast.Name)}  # fmt: skip
    seen = dict[str, str]()
    for each in ast.walk(part):
        read = {n.id for n in ast.walk(each) if isinstance(n, ast.Name)}
        if not isinstance(each, ast.Name | ast.Attribute | ast.Subscript):
            continue
        if each not in inner and not read & targets:
            value = _value(each, names)
            if not callable(value) or isinstance(value, Node):
                seen[ast.unparse(each)] = described(value)
    yield from seen.items()


def described(value: object) -> str:
    """A value in a few words: a node as it is printed."""
    if isinstance(value, TensorNode):
        argument = f" {describe_argument(value)}".rstrip()
        word = operation(value)
        return f"{word}{'' if argument.strip() in word else argument} {short(value)}"
    if isinstance(value, ScalarNode):
        return describe(value)
    if isinstance(value, tuple) and all(isinstance(each, Node) for each in value):
        return ", ".join(map(described, value))
    text = value.name if isinstance(value, DType) else repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _kind(node: Node) -> str:
    if isinstance(node, TensorNode):
        return operation(node).split(" ")[0]
    return describe(node) if isinstance(node, ScalarNode) else type(node).__name__


def _listed(rule: Rule) -> str:
    """The nodes that a rule looks at, in words."""
    words = targets_of(rule)
    return ", ".join(words[:6]) + (" and others" if len(words) > 6 else "")


def targets_of(rule: Rule) -> list[str]:
    """The operations and kinds of node that a rule looks at."""
    words = (t[1] if isinstance(t, tuple) else t.__name__.lower() for t in rule.targets)
    return list(dict.fromkeys("any operation" if word == "alu" else word for word in words))
