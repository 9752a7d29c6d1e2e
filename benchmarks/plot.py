"""Results as one SVG picture: for each workload, how many times slower than svodviz each peer is.

A row per workload, a dot per peer on a logarithmic axis; svodviz is the line at 1. It stands on a
card of its own, so that it reads the same on a light and on a dark page.
"""

import math
from collections.abc import Callable, Iterator
from xml.sax.saxutils import escape

from benchmarks.results import OURS, Run
from benchmarks.workloads import AWKWARD
from compiler.core.text import counted

COLOURS = {
    "numpy": "#0072b2", "numba": "#56b4e9", "torch": "#d55e00", "torch.compile": "#e69f00",
    "jax": "#009e73", "tinygrad": "#cc79a7",
}  # fmt: skip
"""Distinguishable without seeing colours as most do."""
OTHER = "#555555"
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
WIDTH, LEFT, RIGHT, TOP, ROW, FOOT = 860, 160, 40, 84, 26, 46
INK, FAINT, GRID, CARD = "#24292f", "#57606a", "#d8dee4", "#ffffff"


def plot(run: Run) -> str:
    """The picture of a run's usual sizes."""
    rows = [name for name in run.workloads if not name.endswith(AWKWARD)]
    peers = [p for p in run.peers() if p != OURS and not p.endswith(" out=")]
    found = {(w, p): r for w in rows for p in peers if (r := run.ratio(w, p)) is not None}
    low, high = _bounds(list(found.values()))
    height = TOP + ROW * max(1, len(rows)) + FOOT

    def x(ratio: float) -> float:
        part = math.log(ratio / low) / math.log(high / low)
        return round(LEFT + part * (WIDTH - LEFT - RIGHT), 1)

    lines = [*_head(height, run.threads), *_legend(peers), *_axis(low, high, height, x)]
    for n, workload in enumerate(rows):
        y = TOP + ROW * n + ROW // 2
        lines.append(_text(LEFT - 12, y + 4, workload, INK, "end"))
        if n % 2:
            lines.insert(2, f'<rect x="1" y="{y - ROW // 2}" width="{WIDTH - 2}" height="{ROW}"'
                            ' fill="#f6f8fa"/>')  # fmt: skip
        for peer in peers:
            if (ratio := found.get((workload, peer))) is not None:
                title = f"{workload}: {peer} takes {ratio:.2f} times as long as svodviz"
                lines.append(
                    f'<circle cx="{x(ratio)}" cy="{y}" r="5" fill="{COLOURS.get(peer, OTHER)}"'
                    f' fill-opacity="0.85"><title>{escape(title)}</title></circle>'
                )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _bounds(ratios: list[float]) -> tuple[float, float]:
    """The ticks that hold all ratios and 1."""
    least, most = min([*ratios, 0.8]), max([*ratios, 2.0])
    low = max((t for t in TICKS if t <= least), default=least)
    return low, min((t for t in TICKS if t >= most), default=most)


def _head(height: int, threads: int) -> Iterator[str]:
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    font = 'font-family="system-ui, sans-serif" font-size="13"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>'
    card = f'width="{WIDTH - 1}" height="{height - 1}" rx="8" fill="{CARD}" stroke="{GRID}"'
    yield f'<rect x="0.5" y="0.5" {card}/>'
    title = f"Time relative to svodviz, float32, {counted(threads, 'thread')}"
    yield f'<text x="20" y="28" fill="{INK}" font-size="15" font-weight="600">{title}</text>'


def _legend(peers: list[str]) -> Iterator[str]:
    x = 20.0
    for peer in peers:
        yield f'<circle cx="{x + 5}" cy="50" r="5" fill="{COLOURS.get(peer, OTHER)}"/>'
        yield _text(x + 15, 54, peer, INK)
        x += 36 + 7.5 * len(peer)


def _axis(low: float, high: float, height: int, x: Callable[[float], float]) -> Iterator[str]:
    bottom = height - FOOT
    for tick in (t for t in TICKS if low <= t <= high):
        place, is_ours = x(tick), tick == 1
        colour, width = (INK, 2) if is_ours else (GRID, 1)
        yield (f'<line x1="{place}" y1="{TOP - 6}" x2="{place}" y2="{bottom}" stroke="{colour}"'
               f' stroke-width="{width}"/>')  # fmt: skip
        yield _text(place, bottom + 16, f"{tick:g}×", INK if is_ours else FAINT, "middle")
    yield _text(x(1), TOP - 10, "svodviz", INK, "middle")
    yield _text(WIDTH - RIGHT, bottom + 34, "the peer is slower →", FAINT, "end")


def _text(x: float, y: float, words: str, colour: str, anchor: str = "start") -> str:
    where = f'x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}"'
    return f"<text {where}>{escape(words)}</text>"
