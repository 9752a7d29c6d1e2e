"""The public calls that made a graph, and the scopes around them, as data for the page.

They are found here and not in the page: call stacks are the compiler's, and what is alike is found
on its own nodes, once, in time that grows as the program does.
"""

from typing import TYPE_CHECKING

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from svodviz.data import records


def scope_rows(compilation: "Compilation", entities: Entities) -> "list[records.ScopeRow]":
    """Each scope with its result and the entities of its lines, as far as the listing has these."""
    rows = compilation.scopes.rows
    lines = compilation.user_source.entities if rows else {}
    return [
        (it.kind, visible(it.name), it.parent,
         [entities.number(lines[place]) for place in it.places if place in lines], it.count,
         -1 if it.result is None else entities.number(compilation.entity(it.result)))
        for it in rows
    ]  # fmt: skip
