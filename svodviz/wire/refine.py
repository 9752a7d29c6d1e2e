"""Graphs of kernels and items as the pictures need them: with kinds, and loops as groups.

    kernel graph   each op gets its own kind, what a loop repeats is a group that says how often;
                   a buffer that one call fills stands below it, calls have their titles
    schedule, run  all kinds of dependency between two items, fusion opportunities, loops as groups,
                   what kernels do
    LLVM, assembly kinds of jumps, blocks with their loops
    both graphs    the device of a node and the variables that its extents depend on; of tensor
                   nodes also the user's functions that made them ("module")

A stage makes a new graph whenever it is asked for one: it is refined in its place.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from svodviz.wire.items import loop_rows

if TYPE_CHECKING:
    import networkx as nx

    from compiler.core.node import Node
    from compiler.core.stage import Stage
    from compiler.graph.nodes import TensorNode
    from compiler.graph.printer import Graph
    from compiler.schedule.calls import KernelGraph
    from compiler.schedule.kinds import Range
    from compiler.schedule.printer import Schedule

    Picture: TypeAlias = nx.DiGraph[str]

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


def pictured(stage: "Stage") -> "Picture":
    """The graph of a stage as it is drawn and exported."""
    from compiler.ask.measurement import Measurement
    from compiler.graph.printer import Graph
    from compiler.llvm.looking.listing import Listing
    from compiler.llvm.source import Source
    from compiler.schedule.calls import KernelGraph
    from compiler.schedule.printer import Schedule

    graph: Picture = stage.network()
    match stage:
        case Graph():
            return _tensor_graph(graph, stage)
        case KernelGraph():
            return _kernel_graph(graph, stage)
        case Source() | Listing():
            return _flow(graph)
        case Schedule():
            return _schedule(graph, stage)
        case Measurement():
            return _schedule(graph, stage.schedule)
        case _:
            return graph


def _flow(graph: "Picture") -> "Picture":
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


def _tensor_graph(graph: "Picture", stage: "Graph") -> "Picture":
    """The graph with the device of each buffer, and the functions of the user that made nodes."""
    for node in stage.nodes:
        facts = graph.nodes[stage.entity(node)]
        facts |= _places(node)
        facts["module"] = stage.modules.get(node, "")
        if callers := stage.callers.get(node):
            facts["callers"] = [int(it.partition(":")[2]) for it in callers]
        if stage.scopes.get(node, -1) >= 0:
            facts["scope"] = stage.scopes[node]
        if partners := stage.partners.get(node):
            if partners.nodes:
                facts["partners"] = [stage.numbers[it] for it in partners.nodes]
            if partners.is_back:
                facts["back"] = True
    return graph


def _places(node: "TensorNode") -> dict[str, str]:
    """The device of a buffer or a copy, and what the extents of a node depend on."""
    from compiler.graph.kinds.placement import Copy
    from compiler.graph.nodes import Buffer

    facts = {"device": node.device} if isinstance(node, Buffer | Copy) and node.device else {}
    words = dict.fromkeys(it.described for it in node.extents if it is not None)
    return facts | ({"variables": ", ".join(words)} if words else {})


def _kernel_graph(graph: "Picture", stage: "KernelGraph") -> "Picture":
    from compiler.graph.nodes import TensorNode
    from compiler.schedule.kinds import Bind, End, Range

    users: dict[Range, list[Node]] = {it: [] for it in stage.nodes if isinstance(it, Range)}
    for node in stage.nodes:
        facts = graph.nodes[stage.entity(node)]
        if isinstance(node, TensorNode):
            facts |= _places(node)
        facts["module"] = ""
        facts["kind"] = KINDS.get(facts["op"], facts["kind"])
        for source in node.sources if isinstance(node, End | Bind) else ():
            if isinstance(source, Range):
                users[source].append(node)
                graph.edges[stage.entity(source), stage.entity(node)]["kind"] = "loop"
    for counter, users_of in users.items():
        label = _loop_label(graph, stage, counter, users_of)
        for member in _members(counter, users_of):
            graph.nodes[stage.entity(member)]["group"] = label
    for call, title in stage.titles.items():
        facts = graph.nodes[stage.entity(call)]
        facts |= {"argument": title.short, "note": title.place}
    _results_below(graph, stage)
    return graph


_OF_BUFFERS = ("op", "kind", "argument", "dtype", "shape", "name")


def _results_below(graph: "Picture", stage: "KernelGraph") -> None:
    """Places the buffer that a call writes below it: as it is after the call, and only once."""
    from compiler.graph.nodes import Buffer
    from compiler.schedule.kinds import After, End

    for node in stage.nodes:
        if not (isinstance(node, After) and len(node.sources) == 2):
            continue
        buffer, run = node.sources
        call = run.sources[0] if isinstance(run, End) else run
        first, below, end = (stage.entity(it) for it in (buffer, node, call))
        is_filled = isinstance(buffer, Buffer) and buffer.unique < 0
        if is_filled and set(graph.successors(first)) == {end, below}:
            graph.nodes[below].update({key: graph.nodes[first][key] for key in _OF_BUFFERS})
            graph.remove_node(first)
            graph.edges[stage.entity(run), below]["kind"] = "data"


def _members(counter: "Range", users: "list[Node]") -> "Iterator[Node]":
    """The range, what counts in it, its ends and the calls that they repeat."""
    from compiler.schedule.kinds import Bind, End

    yield counter
    for user in users:
        if isinstance(user, Bind):
            yield user
        if isinstance(user, End):
            yield user
            yield user.sources[0]


def _loop_label(
    graph: "Picture", stage: "KernelGraph", counter: "Range", users: "list[Node]"
) -> str:
    """`loop %1: i = 0 … 2, 3 iterations`"""
    from compiler.schedule.kinds import Bind, DefineVar

    bound = (source for user in users if isinstance(user, Bind) for source in user.sources)
    names = {it.name for it in bound if isinstance(it, DefineVar)}
    facts, low, high = graph.nodes[stage.entity(counter)], counter.low, counter.high
    bounds = facts["argument"]
    if isinstance(low, int) and isinstance(high, int):
        trips = f"{max(0, high - low)} iteration{'' if high - low == 1 else 's'}"
        facts["argument"] = f"{bounds}, {trips}"
        bounds = f"{low} … {high - 1}, {trips}"
    name = ", ".join(sorted(names)) or "counter"
    return f"loop %{stage.numbers[counter]}: {name} = {bounds}"


def _schedule(graph: "Picture", schedule: "Schedule") -> "Picture":
    entities = {item.item_id: schedule.entity(item.item_id) for item in schedule.items}
    for _, facts in graph.nodes(data=True):
        # The argument of an item begins with its name, which the label has already.
        facts["argument"] = str(facts.get("argument", "")).removeprefix(facts.get("name", ""))
    for position, title in schedule.titles.items():
        facts = graph.nodes[entities[schedule.items[position].item_id]]
        facts["argument"] = f" {title.work}{facts['argument']}"
    for edge in schedule.dependencies:
        facts = graph.edges[entities[edge.producer], entities[edge.consumer]]
        facts["kinds"] = tuple(dict.fromkeys((*facts.get("kinds", ()), edge.kind)))
    for opportunity in schedule.opportunities:
        if opportunity.first == opportunity.second:
            continue  # taken: the two are one
        ends = entities[opportunity.first], entities[opportunity.second]
        if not graph.has_edge(*ends):
            graph.add_edge(*ends, operand=-1, kind="fusion")
        graph.edges[ends]["fusion"] = opportunity.reason
    for number, (names, label, positions) in enumerate(_together(schedule)):
        for position in positions:
            entity = schedule.entity(schedule.items[position].item_id)
            graph.nodes[entity]["group"] = f"loop {number} of {', '.join(names)}: {label}"
    return graph


def _together(schedule: "Schedule") -> Iterator[tuple[list[str], str, list[int]]]:
    """Names, label and items of each loop; calls that alternate are one loop."""
    names: list[str] = []
    positions: list[int] = []
    label, trips = "", 0
    for loop in sorted(loop_rows(schedule), key=lambda it: min(it["items"])):
        items = loop["items"]
        if not positions or min(items) > max(positions) or len(items) != trips:
            if positions:
                yield names, label, positions
            names, positions, label, trips = [], [], loop["label"], len(items)
        names.append(schedule.items[items[0]].operation.name)
        positions.extend(items)
    if positions:
        yield names, label, positions
