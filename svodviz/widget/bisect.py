"""bisect: an explorer opened at the first pass, and the first rewrite, that made a result wrong."""

from svodviz.foundation.subject import compilation_of
from svodviz.widget.explorer import Explorer
from svodviz.wire.checks import tried


def bisect(subject: object, *inputs: object) -> Explorer:
    """An explorer at the first wrong rewrite of what `explore` takes; at the graph if all is right.

    Its `bisection` says what was found, and every run of the search: print it.
    """
    from compiler.ask.bisect import bisect as search

    compilation = compilation_of(subject, *inputs, by="bisect")
    found = search(compilation)
    state: dict[str, object] = {}
    if found.place >= 0:
        state = {"stage": "passes", "pass": found.place, "step": found.step or -1, "view": "graph"}
        if found.match is not None:
            state["selected"] = compilation.passes[found.place].entity(found.match.after)
    explorer = Explorer(compilation, tried(found), **state)
    explorer.bisection = found
    return explorer
