"""A stage's graph as a static SVG: for saved notebooks, for GitHub, for documents."""

import base64
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from svodviz.drawing.graphs import Box, Drawing, draw, shorten
from svodviz.drawing.layout import DrawingLayout, lay_out
from svodviz.drawing.palette import Theme, colour, edge_of, inner, kind_of, outline
from svodviz.foundation.escape import markup, visible
from svodviz.foundation.subject import name_of
from svodviz.wire.refine import pictured

if TYPE_CHECKING:
    import networkx as nx

    from compiler.program.compilation import Compilation

MOST_NODES = 150  # of a picture that can still be read: a choice by eye
MARGIN = 12
BESIDE = 7  # pixels between arrows that lead from one box to the same other one
FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
MARKS = {"+": "added", "−": "removed", "~": "related"}
"""The signs that may stand at a node's corner, with its colour."""


@dataclass(frozen=True)
class Part:
    """A drawing with its upper left corner at the origin."""

    content: str
    width: int
    height: int


def still(compilation: "Compilation", theme: Theme = "light") -> str:
    """The first of graph, kernels and schedule that is small enough to be read as a picture."""
    graph, kernels, schedule = compilation.graph, compilation.kernels, compilation.schedule
    counts = len(graph.nodes), len(kernels.nodes), len(schedule.items)
    for stage, count in zip((graph, kernels, schedule), counts, strict=True):
        if count > MOST_NODES:
            continue
        drawn = pictured(stage)
        if 0 < drawn.number_of_nodes() <= MOST_NODES:
            return svg(drawn, theme, title=f"{name_of(compilation)}: {stage.title}")
    words = f"{name_of(compilation)}: too large for a picture"
    return page(420, 60, [words_at(16, 34, words)], theme, words)


def stand_ins(words: str, picture: str, caption: str) -> dict[str, str]:
    """The fallback where no widget can run: the text, and the SVG by itself and in HTML.

    Some front ends show SVG only as an image of an HTML output.
    """
    encoded = base64.b64encode(picture.encode()).decode()
    image = f'<img alt="{markup(visible(caption))}" src="data:image/svg+xml;base64,{encoded}">'
    return {"text/plain": words, "image/svg+xml": picture, "text/html": image}


def svg(graph: "nx.DiGraph[str]", theme: Theme = "light", *, title: str = "") -> str:
    """A networkx graph of a stage as SVG text."""
    drawn = part(graph, theme)
    height = drawn.height + 2 * MARGIN + (22 if title else 0)
    head = [words_at(MARGIN, 20, title, weight="600")] if title else []
    moved = place(drawn, MARGIN, height - drawn.height - MARGIN)
    return page(drawn.width + 2 * MARGIN, height, [*head, moved], theme, title)


def part(graph: "nx.DiGraph[str]", theme: Theme, marks: Mapping[str, str] | None = None) -> Part:
    """A networkx graph of a stage, with a sign of `MARKS` at the nodes that have one."""
    drawing, marks = draw(graph), marks or {}
    layout = lay_out(drawing)
    parts = [*_groups(layout, theme), *_arrows(drawing, layout, theme)]
    parts += [
        _box(box, *layout.places[box.entity], theme, marks.get(box.entity, ""))
        for box in drawing.boxes
    ]
    return Part("\n".join(parts), layout.width, layout.height)


def place(drawn: Part, x: int, y: int) -> str:
    """A part with its upper left corner at (x, y)."""
    return f'<g transform="translate({x} {y})">\n{drawn.content}\n</g>'


def page(width: int, height: int, parts: Iterable[str], theme: Theme, title: str) -> str:
    """A whole picture."""
    body = "\n".join(parts)
    text = colour("text", theme)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{markup(FONT)}" font-size="12" '
        f'fill="{text}" role="img">\n<title>{markup(visible(title))}</title>\n'
        f'<rect width="100%" height="100%" fill="{colour("page", theme)}"/>\n{body}\n</svg>\n'
    )


def words_at(x: float, y: float, text: str, *, weight: str = "400", size: int = 12) -> str:
    """One line of text."""
    shown = markup(visible(text))
    return f'<text x="{x}" y="{y}" font-weight="{weight}" font-size="{size}">{shown}</text>'


def _groups(layout: DrawingLayout, theme: Theme) -> list[str]:
    return [
        f'<rect x="{it.x}" y="{it.y}" width="{it.width}" height="{it.height}" rx="6" '
        f'fill="{colour("panel", theme)}" stroke="{colour("rule", theme)}"/>'
        + words_at(it.x + 8, it.y + 13, shorten(it.label, max(2, (it.width - 14) // 6)), size=10)
        for it in layout.groups
    ]


def _arrows(drawing: Drawing, layout: DrawingLayout, theme: Theme) -> list[str]:
    paths = []
    drawn: Counter[tuple[str, str]] = Counter()
    for arrow in drawing.arrows:
        ends = (arrow.source, arrow.target)
        route = layout.routes[ends]
        dashes = edge_of(arrow.kind).dashes
        look = f' stroke-dasharray="{dashes}"' if dashes else ""
        if drawn[ends]:
            # Arrows of several kinds between two boxes stand side by side.
            look += f' transform="translate({BESIDE * drawn[ends]} 0)"'
        drawn[ends] += 1
        ink = colour("accent" if arrow.kind == "fusion" else "edge", theme)
        head = "" if arrow.kind == "fusion" else _head(route)
        paths.append(
            f'<path d="{route}{head}" fill="none" stroke="{ink}" stroke-width="1.2"{look}/>'
        )
    return paths


def _head(route: str) -> str:
    """Two strokes at the end of a route."""
    numbers = [int(it) for it in re.findall(r"-?\d+", route)]
    points = list(zip(numbers[::2], numbers[1::2], strict=True))
    x, y = points[-1]
    far = (it for it in reversed(points) if abs(it[0] - x) + abs(it[1] - y) > 1)
    before = next(far, (x, y - 1))
    length = ((x - before[0]) ** 2 + (y - before[1]) ** 2) ** 0.5 or 1.0
    dx, dy = 6 * (before[0] - x) / length, 6 * (before[1] - y) / length
    left = f"{x + dx - 0.45 * dy:.1f} {y + dy + 0.45 * dx:.1f}"
    right = f"{x + dx + 0.45 * dy:.1f} {y + dy - 0.45 * dx:.1f}"
    return f"M{left}L{x} {y}L{right}"


def _box(box: Box, x: int, y: int, theme: Theme, mark: str = "") -> str:
    kind = kind_of(box.kind)
    ink = kind.dark if theme == "dark" else kind.light
    sign = mark or ("◆" if box.facts.get("critical") else "")
    border = colour(MARKS.get(sign, "critical"), theme) if sign else ink.border
    shape = outline(kind.shape, box.width, box.height)
    lines = _block_lines(box) if "text" in box.facts else _label_lines(box)
    if kind.shape == "double":
        second = inner(box.width, box.height)
        lines.insert(0, f'<path d="{second}" fill="none" stroke="{ink.border}"/>')
    bold = 'font-weight="700" font-size="14"' if mark else ""
    corner = f'<text x="{box.width - 4}" y="4" fill="{border}" {bold}>{sign}</text>' if sign else ""
    stroke = f'stroke="{border}" stroke-width="{2.5 if sign else 1.2}"'
    dashes = ' stroke-dasharray="5 3"' if mark == "−" else ""
    return (
        f'<g transform="translate({x} {y})"><path d="{shape}" fill="{ink.fill}" {stroke}{dashes}/>'
        f"{''.join(lines)}{corner}</g>"
    )


def _label_lines(box: Box) -> list[str]:
    top = (box.height - 16 * len(box.label)) / 2 + 12
    return [
        f'<text x="{box.width / 2}" y="{top + 15.5 * index}" text-anchor="middle" '
        f'font-size="{11 if index else 12}">{markup(line)}</text>'
        for index, line in enumerate(box.label)
    ]


def _block_lines(box: Box) -> list[str]:
    return [
        words_at(12, 17 + 16 * index, line, weight="400" if index else "600", size=12 - bool(index))
        for index, line in enumerate(box.label)
    ]
