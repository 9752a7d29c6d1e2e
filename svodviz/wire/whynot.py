"""Why a rule leaves a node alone, asked from the page; and the rules that there are to ask about.

    rulebook   [[stage, pass, [rule], [[target]]]]     each set of rules once, in the order in which
                                                       they run; what each rule looks at
"""

from typing import Any

from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Json, Progress, request


def rulebook(compilation: Any) -> list[list[Any]]:
    """The names of the rules of each pass that is a set of rules."""
    from compiler.ask.why_not import rules_of, targets_of

    options = getattr(compilation, "options", None)
    if options is None:
        return []
    found: dict[tuple[str, str], list[Any]] = {}
    for record in compilation.passes:
        rules = rules_of(record, options)
        if rules:
            key = visible(record.stage), visible(record.name)
            names = [visible(rule.name) for rule in rules]
            targets = [[visible(it) for it in targets_of(rule)] for rule in rules]
            found.setdefault(key, [names, targets])
    return [[stage, name, *rules] for (stage, name), rules in found.items()]


@request("why not")
def answer(explorer: Any, arguments: dict[str, Any], progress: Progress) -> Json:
    """What `compiler.why_not` says about a rule and an entity, in printable parts."""
    from compiler.ask.why_not import why_not
    from compiler.core.errors import CompileError

    rule, entity = str(arguments.get("rule", "")), str(arguments.get("entity", ""))
    try:
        found = why_not(explorer.compilation, rule, entity)
    except CompileError as error:
        hint = f": {error.hint}" if error.hint else ""
        return {"matches": False, "words": visible(f"{error.problem}{hint}"), "condition": "",
                "place": "", "values": []}  # fmt: skip
    return {
        "matches": found.matches,
        "words": visible(found.words),
        "condition": visible(found.condition),
        "place": visible(found.place),
        "values": [[visible(name), visible(value)] for name, value in found.values],
    }
