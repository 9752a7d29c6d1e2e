"""Graphs of kernels and items as the pictures need them: kinds told apart, loops as groups.

    kernel graph   each op gets its own kind, what a loop repeats becomes a group with its turns
    schedule, run  all kinds of dependency between two items, fusion opportunities, loops as groups
    LLVM, assembly jumps told apart, blocks with their loops
    both graphs    the device of a node and the variables that its extents depend on; of tensor
                   nodes also the user's functions that made them ("module")

A stage makes a new graph whenever it is asked for one: it is refined in its place.
"""

import re
from collections.abc import Iterator
from typing import Any

import networkx as nx

from svodviz.wire.items import loop_rows

KINDS = {
    "customcall": "callback",
    "transfer": "transfer",
    "synchronize": "sync",
    "definelocal": "local",
    "after": "order",
    "range": "loop",
    "end": "loop",
    "bind": "variable",
    "definevar": "variable",
    "mstack": "lanes",
    "mselect": "lanes",
}
JUMPS = {"taken": "jump", "true": "jump", "false": "jump", "next": "next"}
_BOUNDS = re.compile(r"(-?\d+) … (-?\d+)")


def pictured(stage_id: str, stage: Any) -> "nx.DiGraph[str]":
    """The graph of a stage as it is drawn and exported."""
    graph = stage.to_networkx()
    if stage_id == "graph":
        return _with_places(graph, stage)
    if stage_id == "kernels":
        return _kernel_graph(_with_places(graph, stage))
    if stage_id in ("llvm", "optimized", "asm"):
        return _flow(graph)
    if stage_id == "schedule" and getattr(stage, "items", ()):
        return _schedule(graph, stage)
    if stage_id == "run":
        return _schedule(graph, stage.schedule)
    return graph


def _flow(graph: "nx.DiGraph[str]") -> "nx.DiGraph[str]":
    """Control flow: jumps by their way, blocks with the innermost loop around them.

    Loops are no groups: a layout ranks the blocks of a group by themselves, heads at the bottom.
    """
    for _, facts in graph.nodes(data=True):
        if facts.get("loop"):
            is_head = facts["loop"] == facts["op"]
            facts["name"] = "↻ loop" if is_head else f"in {facts['loop']}"
            facts["name"] += f", {facts['depth']} deep" if facts["depth"] > 1 else ""
    for _, _, facts in graph.edges(data=True):
        if facts.get("way"):
            facts["kind"] = "back" if facts["back"] else JUMPS[facts["way"]]
    return graph


def _with_places(graph: "nx.DiGraph[str]", stage: Any) -> "nx.DiGraph[str]":
    """The graph with the device of each node that has one, and what its extents depend on."""
    modules = getattr(stage, "modules", {})
    for node in getattr(stage, "nodes", ()):
        facts = graph.nodes.get(stage.entity(node), {})
        if getattr(node, "device", ""):
            facts["device"] = str(node.device)
        extents = [it for it in getattr(node, "extents", ()) if it is not None]
        if extents:
            words = (str(getattr(it, "described", it)) for it in extents)
            facts["variables"] = ", ".join(dict.fromkeys(words))
        facts["module"] = modules.get(node, "")
    return graph


def _kernel_graph(graph: "nx.DiGraph[str]") -> "nx.DiGraph[str]":
    for _, facts in graph.nodes(data=True):
        facts["kind"] = KINDS.get(facts.get("op", ""), facts.get("kind", ""))
    for source, target, facts in graph.edges(data=True):
        ops = (graph.nodes[source].get("op"), graph.nodes[target].get("op"))
        if ops[0] == "range" and ops[1] in ("end", "bind"):
            facts["kind"] = "loop"
    for counter in [it for it, op in graph.nodes(data="op") if op == "range"]:
        label = _loop_label(graph, counter)
        for member in _members(graph, counter):
            graph.nodes[member]["group"] = label
    return graph


def _members(graph: "nx.DiGraph[str]", counter: str) -> Iterator[str]:
    """The range, what counts in it, its ends and the calls that they repeat."""
    yield counter
    for user in graph.successors(counter):
        if graph.nodes[user].get("op") == "bind":
            yield user
        if graph.nodes[user].get("op") == "end":
            yield user
            yield from (
                source for source, _, operand in graph.in_edges(user, data="operand")
                if operand == 0
            )  # fmt: skip


def _loop_label(graph: "nx.DiGraph[str]", counter: str) -> str:
    """`loop %1: i = 0 … 2, 3 turns`"""
    names = {
        str(graph.nodes[variable].get("argument", "")).split(" ")[0]
        for bind in graph.successors(counter) if graph.nodes[bind].get("op") == "bind"
        for variable in graph.predecessors(bind) if graph.nodes[variable].get("op") == "definevar"
    }  # fmt: skip
    bounds = str(graph.nodes[counter].get("argument", ""))
    found = _BOUNDS.fullmatch(bounds)
    if found:
        low, high = int(found[1]), int(found[2])
        turns = f"{max(0, high - low)} turn{'' if high - low == 1 else 's'}"
        graph.nodes[counter]["argument"] = f"{bounds}, {turns}"
        bounds = f"{low} … {high - 1}, {turns}"
    name = ", ".join(sorted(names)) or "counter"
    return f"loop %{counter.partition(':')[2]}: {name} = {bounds}"


def _schedule(graph: "nx.DiGraph[str]", schedule: Any) -> "nx.DiGraph[str]":
    entities = {item.item_id: schedule.entity(item.item_id) for item in schedule.items}
    for _, facts in graph.nodes(data=True):
        # The argument of an item begins with its name, which the label has already.
        facts["argument"] = str(facts.get("argument", "")).removeprefix(facts.get("name", ""))
    for edge in schedule.dependencies:
        facts = graph.edges[entities[edge.producer], entities[edge.consumer]]
        facts["kinds"] = tuple(dict.fromkeys((*facts.get("kinds", ()), edge.kind)))
    for found in getattr(schedule, "opportunities", None) or ():
        if found.first == found.second:
            continue  # taken: the two are one
        ends = entities[found.first], entities[found.second]
        if not graph.has_edge(*ends):
            graph.add_edge(*ends, operand=-1, kind="fusion")
        graph.edges[ends]["fusion"] = found.reason
    for number, (names, label, positions) in enumerate(_together(schedule)):
        for position in positions:
            entity = schedule.entity(schedule.items[position].item_id)
            graph.nodes[entity]["group"] = f"loop {number} of {', '.join(names)}: {label}"
    return graph


def _together(schedule: Any) -> Iterator[tuple[list[str], str, list[int]]]:
    """Names, label and items of each loop; calls that take turns with each other are one loop."""
    names: list[str] = []
    positions: list[int] = []
    label, turns = "", 0
    for loop in sorted(loop_rows(schedule), key=lambda it: min(it["items"])):
        items = loop["items"]
        if not positions or min(items) > max(positions) or len(items) != turns:
            if positions:
                yield names, label, positions
            names, positions, label, turns = [], [], loop["label"], len(items)
        names.append(str(schedule.items[items[0]].operation.name))
        positions.extend(items)
    if positions:
        yield names, label, positions
