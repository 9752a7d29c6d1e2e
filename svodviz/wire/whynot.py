"""Answers why a rule does not match a node, and lists the rules that can be asked about.

The rulebook has each set of rules once, in order, with the operations that each rule matches.
"""

from typing import TYPE_CHECKING, TypedDict

from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Arguments, Asked, Progress, request

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from svodviz.data import records


class WhyNot(TypedDict):
    """The reasons why a rule does not match, in printable parts; `matches` if it does."""

    matches: bool
    words: str
    condition: str
    place: str
    values: list[tuple[str, str]]


def rulebook(compilation: "Compilation") -> "list[records.RuleSet]":
    """The names of the rules of each pass that is a set of rules."""
    from compiler.ask.why_not import rules_of, targets_of

    rules_by_pass: dict[tuple[str, str], tuple[list[str], list[list[str]]]] = {}
    for record in compilation.passes:
        rules = rules_of(record, compilation.options)
        if rules:
            key = visible(record.stage), visible(record.name)
            names = [visible(rule.name) for rule in rules]
            targets = [[visible(it) for it in targets_of(rule)] for rule in rules]
            rules_by_pass.setdefault(key, (names, targets))
    return [(*key, *rules) for key, rules in rules_by_pass.items()]


@request("why not")
def answer(explorer: Asked, arguments: Arguments, progress: Progress) -> WhyNot:
    """The answer of `compiler.why_not` about a rule and an entity, in printable parts."""
    from compiler.ask.why_not import why_not
    from compiler.core.errors import CompileError

    rule, entity = str(arguments.get("rule", "")), str(arguments.get("entity", ""))
    try:
        reasons = why_not(explorer.compilation, rule, entity)
    except CompileError as error:
        hint = f": {error.hint}" if error.hint else ""
        return {"matches": False, "words": visible(f"{error.problem}{hint}"), "condition": "",
                "place": "", "values": []}  # fmt: skip
    return {
        "matches": reasons.matches,
        "words": visible(reasons.words),
        "condition": visible(reasons.condition),
        "place": visible(reasons.place),
        "values": [(visible(name), visible(value)) for name, value in reasons.values],
    }
