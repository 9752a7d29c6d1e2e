"""A stage's graph as a still SVG: for saved notebooks, for GitHub, for documents."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from svodviz.escape import markup
from svodviz.graphs import Box, Drawing, draw, shorten
from svodviz.layout import Layout, lay_out
from svodviz.palette import Theme, colour, edge_of, inner, kind_of, outline
from svodviz.refine import pictured
from svodviz.subject import name_of

MOST = 400  # nodes of a picture that can still be read
MARGIN = 12
BESIDE = 7  # pixels between arrows that lead from one box to the same other one
FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def still(compilation: Any, theme: Theme = "light") -> str:
    """The first of graph, kernels and schedule that is small enough to be read as a picture."""
    for name in ("graph", "kernels", "schedule"):
        stage = getattr(compilation, name)
        if len(getattr(stage, "nodes", ())) > MOST:
            continue
        graph = pictured(name, stage)
        if 0 < graph.number_of_nodes() <= MOST:
            return svg(graph, theme, title=f"{name_of(compilation)}: {stage.title}")
    words = f"{name_of(compilation)}: too large for a picture"
    return _page(420, 60, [_words(16, 34, words)], theme, words)


def svg(graph: Any, theme: Theme = "light", *, title: str = "") -> str:
    """A networkx graph of a stage as SVG text."""
    drawing = draw(graph)
    layout = lay_out(drawing)
    parts = [*_groups(layout, theme), *_arrows(drawing, layout, theme)]
    parts += [_box(box, *layout.places[box.entity], theme) for box in drawing.boxes]
    height = layout.height + 2 * MARGIN + (22 if title else 0)
    moved = f'<g transform="translate({MARGIN} {height - layout.height - MARGIN})">'
    head = [_words(MARGIN, 20, title, weight="600")] if title else []
    return _page(layout.width + 2 * MARGIN, height, [*head, moved, *parts, "</g>"], theme, title)


def _page(width: int, height: int, parts: Iterable[str], theme: Theme, title: str) -> str:
    body = "\n".join(parts)
    text = colour("text", theme)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{markup(FONT)}" font-size="12" '
        f'fill="{text}" role="img">\n<title>{markup(title)}</title>\n'
        f'<rect width="100%" height="100%" fill="{colour("page", theme)}"/>\n{body}\n</svg>\n'
    )


def _words(x: float, y: float, text: str, *, weight: str = "400", size: int = 12) -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}" font-size="{size}">{markup(text)}</text>'


def _groups(layout: Layout, theme: Theme) -> list[str]:
    return [
        f'<rect x="{it.x}" y="{it.y}" width="{it.width}" height="{it.height}" rx="6" '
        f'fill="{colour("panel", theme)}" stroke="{colour("rule", theme)}"/>'
        + _words(it.x + 8, it.y + 13, shorten(it.label, max(2, (it.width - 14) // 6)), size=10)
        for it in layout.groups
    ]


def _arrows(drawing: Drawing, layout: Layout, theme: Theme) -> list[str]:
    paths = []
    beside: Counter[tuple[str, str]] = Counter()
    for arrow in drawing.arrows:
        ends = (arrow.source, arrow.target)
        route = layout.routes[ends]
        dashes = edge_of(arrow.kind).dashes
        look = f' stroke-dasharray="{dashes}"' if dashes else ""
        if beside[ends]:
            # Arrows of several kinds between two boxes stand side by side.
            look += f' transform="translate({BESIDE * beside[ends]} 0)"'
        beside[ends] += 1
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


def _box(box: Box, x: int, y: int, theme: Theme) -> str:
    kind = kind_of(box.kind)
    ink = kind.dark if theme == "dark" else kind.light
    is_critical = bool(box.facts.get("critical"))
    border = colour("critical", theme) if is_critical else ink.border
    shape = outline(kind.shape, box.width, box.height)
    lines = _block_lines(box) if "text" in box.facts else _label_lines(box)
    if kind.shape == "double":
        second = inner(box.width, box.height)
        lines.insert(0, f'<path d="{second}" fill="none" stroke="{ink.border}"/>')
    sign = f'<text x="{box.width - 4}" y="4" fill="{border}">◆</text>' if is_critical else ""
    stroke = f'stroke="{border}" stroke-width="{2.5 if is_critical else 1.2}"'
    return (
        f'<g transform="translate({x} {y})"><path d="{shape}" fill="{ink.fill}" {stroke}/>'
        f"{''.join(lines)}{sign}</g>"
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
        _words(12, 17 + 16 * index, line, weight="400" if index else "600", size=12 - bool(index))
        for index, line in enumerate(box.label)
    ]
