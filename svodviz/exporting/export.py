"""Exports: the explorer as one HTML file, any stage as SVG, DOT and others."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import graphviz
import networkx as nx

from compiler.core import plain_graph
from compiler.core.replacing import write_text
from svodviz.drawing.graphs import Facts, draw
from svodviz.drawing.palette import edge_of, kind_of
from svodviz.exporting.picture import svg
from svodviz.exporting.script import page_script, style_sheet
from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import markup, script_json, visible, xml_text
from svodviz.foundation.packing import FOR_FILES, pack_text
from svodviz.foundation.stages import BY_ID, EXPORTED, StageRow, Unit, printed, units
from svodviz.foundation.subject import compilation_of, name_of
from svodviz.wire.measured import measured_row
from svodviz.wire.refine import pictured
from svodviz.wire.scene import plain
from svodviz.wire.schedule import schedule_row, schedule_text

if TYPE_CHECKING:
    from compiler.core.stage import Stage
    from compiler.program.compilation import Compilation
    from svodviz.data import pages, records

Maker: TypeAlias = Literal["command line", "Python", "notebook"]
"""The caller that exports a page: `svodviz explore`, `export_html`, or nbconvert of a notebook."""
FORMATS = ("svg", "dot", "graphml", "json", "txt")
PACKED_ABOVE = 150_000  # characters of data above which the page carries them compressed: a choice

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
body {{ margin: 0; }}
{style}
</style>
</head>
<body data-maker="{maker}">
<noscript>{picture}</noscript>
<script type="application/json" class="data" data-packed="{packed}">{data}</script>
<script type="application/json" class="state">{state}</script>
<script type="module">
{script}
</script>
</body>
</html>
"""

_START = """\
const textOf = (name) => document.querySelector(`script.${name}`);
const listeners = new Map();
let values = {};
const model = {
  get: (name) => values[name],
  set: (name, value) => {
    values[name] = value;
    (listeners.get(`change:${name}`) || []).forEach((listener) => listener());
  },
  save_changes: () => {},
  on: (event, listener) => listeners.set(event, [...(listeners.get(event) || []), listener]),
  off: (event, listener) => listeners.set(
    event, (listeners.get(event) || []).filter((it) => it !== listener)),
};
let close = null;
const reset = async () => {
  close?.();
  document.querySelector(".svodviz")?.remove();
  listeners.clear();
  const data = textOf("data");
  values = {
    maker: document.body.dataset.maker,
    wire: data.dataset.packed === "gzip"
      ? await unpacked(data.textContent).catch((error) => error) : JSON.parse(data.textContent),
    state: JSON.parse(textOf("state").textContent),
  };
  close = await render({ model, el: document.body, fullPage: true });
};
window.svodviz = { model, reset };
await reset();
"""


def export_html(
    wire: "pages.Page",
    path: str | Path | None = None,
    *,
    state: Mapping[str, object] | None = None,
    picture: str = "",
    maker: Maker = "Python",
) -> str:
    """One self-contained HTML page without network requests.

    `wire` is the data of a compilation (see `wire`), `picture` an SVG for browsers without scripts;
    `maker` made it: in whose words the page says how it is made with more in it.
    Returns the page's text, and writes it to `path` where one is given. `window.svodviz.model` in
    the page has the state that scripts can read and set; `window.svodviz.reset()` shows the page
    as it was when it opened.
    """
    data = script_json(wire)
    is_packed = len(data) > PACKED_ABOVE
    page = _PAGE.format(
        title=markup(f"{_title(wire)} · svodviz"),
        style=style_sheet(),
        picture=picture,
        packed="gzip" if is_packed else "no",
        maker=maker,
        data=pack_text(data, FOR_FILES) if is_packed else data,
        state=script_json(state or {}),
        script=f"{page_script()}{_START}",
    )
    if path is not None:
        write_text(path, page)
    return page


def _title(wire: "pages.Page") -> str:
    if wire["format"] == "svodviz-comparison":
        return " and ".join(wire["names"])
    return wire["name"]


def export_stage(compilation: "Compilation", stage: str, form: str, *, kernel: str = "") -> str:
    """One stage as text: "svg", "dot", "graphml", "json" (nodes and edges) or "txt" (printed form).

    What is in the JSON says docs/schema.json. Where a stage has several parts `kernel` names one;
    otherwise they come as one graph. Raises ValueError for a stage, format or kernel that does not
    exist.
    """
    units_of_stage = _found(compilation, stage, kernel)
    if form not in FORMATS:
        raise ValueError(f"export: no format {form!r}; expected one of {list(FORMATS)}")
    if form == "txt" and stage == "schedule":
        return f"{schedule_text(compilation)}\n"
    if form == "txt":
        return "\n\n".join(printed(unit.stage) for unit in units_of_stage) + "\n"
    graph = _composed(units_of_stage)
    title = f"{name_of(compilation)}: {BY_ID[stage].label}"
    if form != "json":
        return _WRITERS[form](graph, title)
    data = _data(graph, title)
    if stage in ("schedule", "run"):
        _add_schedule(data, compilation, units_of_stage[0].stage)
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def graph_of(subject: object, stage: str, *, kernel: str = "") -> "nx.DiGraph[str]":
    """One stage of a tensor or compilation as the explorer draws it: kinds, groups and devices are
    attributes of its nodes, plain ones as those of `to_networkx`. Where it has several parts
    `kernel` names one; otherwise all are in it.

    Raises ValueError for a stage or kernel that does not exist.
    """
    drawn = _composed(_found(compilation_of(subject, by="graph_of"), stage, kernel))
    return plain_graph.plain(drawn)


def _composed(parts: list[Unit]) -> "nx.DiGraph[str]":
    return nx.compose_all([pictured(unit.stage) for unit in parts])


def _found(compilation: "Compilation", stage: str, kernel: str) -> list[Unit]:
    if stage not in EXPORTED:
        raise ValueError(f"export: no stage {stage!r}; expected one of {list(EXPORTED)}")
    return _chosen(compilation, BY_ID[stage], kernel)


def _add_schedule(data: "pages.StageGraph", compilation: "Compilation", stage: "Stage") -> None:
    """Adds the parts of the schedule's JSON but its graph; "e" are positions in "entities"."""
    from compiler.ask.measurement import Measurement

    entities = Entities()
    data["schedule"], data["entities"] = schedule_row(compilation, entities), entities.names
    if isinstance(stage, Measurement):
        data["measured"] = measured_row(stage)


def _chosen(compilation: "Compilation", row: StageRow, kernel: str) -> list[Unit]:
    candidates = list(units(compilation, row))
    if row.id == "graph" and not kernel:
        return candidates[:1]
    chosen = [unit for unit in candidates if kernel in ("", unit.name)]
    if not candidates:
        raise ValueError(f"export: the program has no kernel, so nothing in stage {row.id!r}")
    if not chosen:
        names = ", ".join(it.name for it in candidates)
        raise ValueError(f"no kernel {kernel!r} in stage {row.id!r}; expected one of {names}")
    return chosen


def _svg(graph: "nx.DiGraph[str]", title: str) -> str:
    return svg(graph, title=visible(title))


def _dot(graph: "nx.DiGraph[str]", title: str) -> str:
    drawing = draw(graph)
    number = {box.entity: f"n{index}" for index, box in enumerate(drawing.boxes)}
    picture = graphviz.Digraph(
        comment="", graph_attr={"label": graphviz.escape(visible(title)), "labelloc": "t"},
        node_attr={"shape": "box", "style": "filled", "fontname": "monospace"},
    )  # fmt: skip
    for box in drawing.boxes:
        ink = kind_of(box.kind).light
        # Lines of code begin at the left, under each other; those of a label are centred.
        end = "\\l" if "text" in box.facts else "\\n"
        label = end.join(map(graphviz.escape, box.label)) + (end if "text" in box.facts else "")
        tip = graphviz.escape(visible(box.entity))
        picture.node(number[box.entity], label, fillcolor=ink.fill, color=ink.border, tooltip=tip)
    for arrow in drawing.arrows:
        look = edge_of(arrow.kind)
        ends = number[arrow.source], number[arrow.target]
        tip = graphviz.escape(arrow.kind)
        picture.edge(*ends, style=look.dot, arrowhead=look.dot_head, tooltip=tip)
    return str(picture.source)


def _graphml(graph: "nx.DiGraph[str]", title: str) -> str:
    flat = plain_graph.plain(graph)
    flat.graph["title"] = xml_text(visible(title))
    return "\n".join(nx.generate_graphml(flat)) + "\n"


def _data(graph: "nx.DiGraph[str]", title: str) -> "pages.StageGraph":
    nodes = [
        cast("pages.StageNode", {"entity": str(key), **_plain(facts)})
        for key, facts in graph.nodes(data=True)
    ]
    edges = [
        cast("pages.StageEdge", {"source": str(a), "target": str(b), **_plain(facts)})
        for a, b, facts in graph.edges(data=True)
    ]
    return {"format": "svodviz-graph", "version": 1, "title": title, "nodes": nodes,
            "edges": edges}  # fmt: skip


def _plain(facts: Facts) -> "dict[str, records.Json]":
    return {visible(name): plain(it) for name, it in facts.items()}


_WRITERS: "dict[str, Callable[[nx.DiGraph[str], str], str]]" = {
    "svg": _svg, "dot": _dot, "graphml": _graphml,
}  # fmt: skip
