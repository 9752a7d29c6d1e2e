"""Which values a page shows: of nodes of the graph and of kernels, as far as time allows.

The page asks for the value of a node that it was given none of, as long as Python is there.
"""

import math
import re
import time
from collections.abc import Sequence
from typing import Any

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Json, Progress, request
from svodviz.foundation.values import Preview, preview
from svodviz.wire.scene import Wire

LIMIT, SECONDS = 600, 2.0
HURRIED_SECONDS = 0.2  # the same for a program with more nodes than LIMIT


def previews(
    compilation: Any, stages: Sequence[Wire], entities: Entities, notes: list[str]
) -> dict[str, Preview]:
    """The previews of all nodes that are drawn, by entity; `notes` get what was left out."""
    rows = _drawn(stages)
    names = entities.names
    wanted = list(dict.fromkeys(node["e"] for node in rows))
    found: dict[str, Preview] = {}
    until = time.monotonic() + (SECONDS if len(wanted) <= LIMIT else HURRIED_SECONDS)
    for count, number in enumerate(wanted):
        if count >= LIMIT or time.monotonic() > until:
            notes.append(f"values of {count:,} of {len(wanted):,} nodes were computed")
            break
        try:
            value = compilation.values(names[number])
        except Exception as error:
            notes.append(visible(f"no values: {type(error).__name__}: {error}"))
            break
        if value is not None:
            found[str(number)] = preview(value)
    else:
        _note_large({it["e"]: it.get("shape", "") for it in rows}, found, notes)
    return found


@request("value")
def answer(explorer: Any, arguments: dict[str, Any], progress: Progress) -> Json:
    """The preview of one node's value; null where it has none."""
    value = explorer.compilation.values(str(arguments["entity"]))
    return None if value is None else preview(value)


def _drawn(stages: Sequence[Wire]) -> list[Wire]:
    """The nodes that may have values; a graph too large to be drawn shows none of its own."""
    return [
        node
        for stage in stages
        for unit in stage["units"]
        if stage["id"] in ("graph", "kernels") and unit["scene"] and not unit["note"]
        for node in unit["scene"]["nodes"]
    ]


def _note_large(shapes: dict[int, str], found: dict[str, Preview], notes: list[str]) -> None:
    """Says how many nodes have no value because they, or what they come from, are too large."""
    from compiler.ask.values import MOST

    left = [shape for number, shape in shapes.items() if shape and str(number) not in found]
    sizes = [math.prod(map(int, re.findall(r"\d+", shape))) for shape in left]
    if found and max(sizes, default=0) > MOST:
        notes.append(f"no values of {len(left):,} nodes: they have more than {MOST:,} elements, "
                     "or follow from some that do")  # fmt: skip
