"""The meaning of each operation, for the inspector: from the compiler's own tables and classes."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from svodviz.data import records


def operation_words(
    stages: "Iterable[records.Stage]", replays: "Iterable[records.Replay]"
) -> dict[str, str]:
    """For each operation drawn in a stage or a replay what it means; those unknown are left out."""
    scenes = [unit["scene"] for stage in stages for unit in stage["units"] if unit["scene"]]
    names = {node["op"] for scene in (*scenes, *replays) for node in scene["nodes"]}
    texts = {name: _words(name) for name in sorted(names)}
    return {name: visible(words) for name, words in texts.items() if words}


def _words(name: str) -> str:
    from compiler.ops.table import OPS, REDUCTIONS

    first, _, last = name.partition(" ")
    if first == "reduce" and last in REDUCTIONS:
        return f"{REDUCTIONS[last].meaning}; folded by {REDUCTIONS[last].combine}"
    if name in OPS:
        row = OPS[name]
        kinds = ", ".join(sorted(row.accepts))
        return f"{row.meaning}; of {kinds}" + ("; expands into others" if row.expansion else "")
    return _of_class(first.replace("_", ""))


def _of_class(name: str) -> str:
    """The first line of what the class of this name says about itself."""
    from compiler.graph import nodes
    from compiler.graph.kinds import effects, placement
    from compiler.loops import nodes as loops
    from compiler.lowered import instructions, machine

    for module in (nodes, effects, placement, loops, instructions, machine):
        member: object = next((it for key, it in vars(module).items() if key.lower() == name), None)
        if isinstance(member, type) and member.__doc__:
            return member.__doc__.strip().splitlines()[0].replace("`", "")
    return ""
