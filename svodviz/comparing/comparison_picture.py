"""A comparison as a static SVG: both graphs with their differences, and the numbers of both."""

from itertools import accumulate

from svodviz.comparing.comparison import (
    DIFFERENT,
    ONLY_A,
    ONLY_B,
    Comparison,
    UnitPair,
    figure_lines,
)
from svodviz.comparing.pair_nodes import CHANGED, ONLY
from svodviz.drawing.graphs import ADVANCE, columns
from svodviz.drawing.palette import Theme
from svodviz.exporting.picture import MARGIN, MOST_NODES, Part, page, part, place, words_at
from svodviz.foundation.stages import BY_ID
from svodviz.wire.refine import pictured

STAGES = ("graph", "kernels", "schedule")
GAP, LINE = 28, 17
SIGNS = f"{ONLY_A} only in a    {ONLY_B} only in b    {DIFFERENT} differs"


def still_of_two(comparison: Comparison, theme: Theme = "light") -> str:
    """The first graphs that differ and are small enough to be read, above the figures."""
    first, second = comparison.names
    parts = [_lines([f"a  {first}", f"b  {second}"], weight="600")]
    chosen = _chosen(comparison)
    if chosen:
        parts += [_lines([_title(chosen)]), _both(chosen, theme)]
    parts.append(_lines(figure_lines(comparison)))
    tops = accumulate((it.height + MARGIN for it in parts), initial=MARGIN)
    *places, height = tops
    width = max(it.width for it in parts) + 2 * MARGIN
    content = [place(it, MARGIN, y) for it, y in zip(parts, places, strict=True)]
    return page(width, height, content, theme, f"{first} and {second} side by side")


def _chosen(comparison: Comparison) -> UnitPair | None:
    """The pair that is drawn: of those that can be read, the first that differs, else the first."""
    pairs = [pair for stage in STAGES for pair in comparison.stages.get(stage, ())]
    small = [it for it in pairs if it.a and it.b and 0 < _size(it) <= MOST_NODES]
    return next((it for it in small if not it.pairing.is_same), small[0] if small else None)


def _size(pair: UnitPair) -> int:
    return len(pair.pairing.marks_a) + len(pair.pairing.marks_b)


def _title(pair: UnitPair) -> str:
    words = f"{BY_ID[pair.stage].label} {pair.name}".strip()
    return f"{words}: no difference" if pair.pairing.is_same else f"{words}:    {SIGNS}"


def _both(pair: UnitPair, theme: Theme) -> Part:
    """The graphs of both, side by side."""
    sides = ((pair.a, pair.pairing.marks_a, ONLY_A), (pair.b, pair.pairing.marks_b, ONLY_B))
    drawings = [
        part(pictured(side[1].stage), theme, _signs(marks, alone))
        for side, marks, alone in sides if side
    ]  # fmt: skip
    lefts = list(accumulate((it.width + GAP for it in drawings), initial=0))
    content = "\n".join(place(it, x, 0) for it, x in zip(drawings, lefts, strict=False))
    return Part(content, lefts[-1] - GAP, max(it.height for it in drawings))


def _signs(marks: dict[str, str], alone: str) -> dict[str, str]:
    signs = {CHANGED: DIFFERENT, ONLY: alone}
    return {node: signs[mark] for node, mark in marks.items() if mark}


def _lines(texts: list[str], weight: str = "400") -> Part:
    """Lines below each other; their spaces stay, so that columns do."""
    kept = [text.replace(" ", "\u00a0") for text in texts]
    rows = [words_at(0, LINE * n + 12, text, weight=weight) for n, text in enumerate(kept)]
    width = max((columns(text) for text in texts), default=0) * ADVANCE
    return Part("\n".join(rows), round(width), LINE * len(texts))
