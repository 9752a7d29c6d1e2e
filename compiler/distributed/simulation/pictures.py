"""pictures: lanes over time, and curves over numbers of workers, as self-contained SVG.

Each picture has its own background, so it reads the same on light and dark pages. No meaning rests
on colour alone: curves have distinct marks and labels, bars a title.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from compiler.core.printable import printable
from compiler.core.text import counted, duration, number

INK, FAINT, GRID, CARD, CRITICAL = "#24292f", "#57606a", "#d8dee4", "#ffffff", "#bf3a00"
FILLS = {"compute": "#9aa6f2", "send": "#66bfe2", "receive": "#b8e0f0"}
"""Fills of bars. Computation has the height of the lane, a transfer half of it."""
CURVES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that people with colour vision deficiency can distinguish (Okabe and Ito, 2008)."""
WIDTH, LEFT, RIGHT, TOP, ROW, FOOT = 860, 96, 40, 48, 22, 34
PANEL, HEIGHT = 400, 260
LEAST = 0.3
"""Pixels of the narrowest bar: a choice by eye. Of several narrower bars at one place, one is
drawn."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar on a lane: its `kind` (of `FILLS`), nanoseconds, and items of the schedule."""

    lane: int
    kind: str
    start: float
    end: float
    name: str
    items: tuple[int, ...]
    is_critical: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over numbers of workers. From `mark` workers on, `lost_to` is most of the time instead
    of computation; 0 for none."""

    name: str
    workers: tuple[int, ...]
    speedup: tuple[float, ...]
    efficiency: tuple[float, ...]
    mark: int = 0
    lost_to: str = ""


def lanes(names: Mapping[int, str], bars: Iterable[Bar], end: float, title: str) -> str:
    """The picture of lanes, one per worker in `names`."""
    rows = {lane: place for place, lane in enumerate(names)}
    bottom = TOP + ROW * max(len(rows), 1)
    scale = (WIDTH - LEFT - RIGHT) / max(end, 1e-9)
    parts = list(_head(WIDTH, bottom + FOOT, title))
    for lane, place in rows.items():
        parts.append(_text(LEFT - 8, TOP + ROW * place + 15, names[lane], INK, "end"))
    for step in range(5):
        x = LEFT + step / 4 * (WIDTH - LEFT - RIGHT)
        parts.append(_line(x, TOP, x, bottom))
        parts.append(_text(x, bottom + 16, duration(end * step / 4), FAINT, "middle"))
    parts += (_bar(bar, TOP + ROW * rows[bar.lane], scale) for bar in _seen(bars, rows, scale))
    return "\n".join([*parts, "</svg>"])


def _seen(bars: Iterable[Bar], rows: Mapping[int, int], scale: float) -> Iterator[Bar]:
    """The visible bars of the drawn lanes; of several too narrow ones at one place, one."""
    drawn: dict[tuple[int, str], float] = {}
    for bar in sorted(bars, key=lambda it: it.start):
        key, end = (bar.lane, bar.kind), bar.end * scale
        is_narrow = end - bar.start * scale < LEAST
        if bar.lane not in rows or (is_narrow and end - drawn.get(key, -1.0) < LEAST):
            continue
        drawn[key] = end
        yield bar


def _bar(bar: Bar, top: float, scale: float) -> str:
    half = bar.kind != "compute"
    y, height = top + 3 + (8 if bar.kind == "receive" else 0), 8 if half else 16
    edge = f' stroke="{CRITICAL}" stroke-width="1.2"' if bar.is_critical else ""
    count = f", {counted(len(bar.items), 'item')}" if bar.items else ""
    title = f"{bar.kind}: {bar.name}{count}, {duration(bar.end - bar.start)}"
    return (
        f'<rect x="{LEFT + bar.start * scale:.2f}" y="{y:g}" height="{height}" '
        f'width="{max((bar.end - bar.start) * scale, LEAST):.2f}" fill="{FILLS[bar.kind]}"{edge}>'
        f"<title>{_words(title)}</title></rect>"
    )


def curves(rows: Sequence[Curve], title: str) -> str:
    """Speed-up on the left, both axes logarithmic, and efficiency on the right."""
    height = TOP + HEIGHT + FOOT + 18 * len(rows)
    parts = list(_head(2 * PANEL + 60, height, title))
    most = max((n for row in rows for n in row.workers), default=1)
    speeds = [s for row in rows for s in row.speedup]
    span = math.log2(min([*speeds, 1.0])), math.log2(max([*speeds, most, 2.0]))
    parts += _panel(40, "speed-up", most, [(2.0**e, e) for e in _exponents(*span)], span)
    ideal = " ".join(f"{_x(40, n, most):.1f},{_y(math.log2(n), span):.1f}" for n in (1, most))
    dashed = f'fill="none" stroke="{FAINT}" stroke-dasharray="4 4"'
    parts.append(f'<polyline points="{ideal}" {dashed}/>')
    best = max([e for row in rows for e in row.efficiency], default=1.0)
    shares = 0.0, max(best, 1.1)
    ticks = [(n / 4, n / 4) for n in range(int(4 * shares[1]) + 1)]
    parts += _panel(60 + PANEL, "efficiency", most, ticks, shares)
    for place, row in enumerate(rows):
        colour = CURVES[place % len(CURVES)]
        y = TOP + HEIGHT + FOOT + 18 * place + 4
        parts += [_sign(place, 50, y - 4, colour), _text(64, y, _legend(row), INK)]
        logs = [math.log2(max(s, 1e-9)) for s in row.speedup]
        parts += _curve(row, place, 40, most, logs, span, row.speedup)
        parts += _curve(row, place, 60 + PANEL, most, row.efficiency, shares, row.efficiency)
    return "\n".join([*parts, "</svg>"])


def _legend(row: Curve) -> str:
    if not row.mark:
        return f"{row.name}: computing takes longer than communication and overhead, always"
    return f"{row.name}: {row.lost_to} takes longer than computing from {row.mark:,} on (ring)"


def _exponents(low: float, high: float) -> range:
    """The exponents of the labelled powers of two: at most about ten."""
    first, last = math.floor(low), math.ceil(high)
    return range(first, last + 1, max(1, (last - first) // 8))


def _panel(
    left: float, name: str, most: int, ticks: Sequence[tuple[float, float]],
    span: tuple[float, float],
) -> Iterator[str]:  # fmt: skip
    for value, place in ticks:
        if span[0] - 1e-9 <= place <= span[1] + 1e-9:
            y = _y(place, span)
            yield _line(left, y, left + PANEL - 40, y)
            yield _text(left - 6, y + 4, number(value), FAINT, "end")
    for exponent in _exponents(0, math.log2(max(most, 2))):
        yield _text(_x(left, 2.0**exponent, most), TOP + HEIGHT + 14, number(2.0**exponent), FAINT,
                    "middle")  # fmt: skip
    yield _text(left + (PANEL - 40) / 2, TOP - 6, f"{name}, by workers", INK, "middle")


def _curve(
    row: Curve, place: int, left: float, most: int, values: Sequence[float],
    span: tuple[float, float], numbers: Sequence[float],
) -> Iterator[str]:  # fmt: skip
    colour = CURVES[place % len(CURVES)]
    points = [(_x(left, n, most), _y(v, span)) for n, v in zip(row.workers, values, strict=True)]
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for (x, y), workers, value in zip(points, row.workers, numbers, strict=True):
        title = f"{row.name}, {workers:,}: {number(value)}"
        yield _sign(place, x, y, colour, title)
        if workers == row.mark:
            yield (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none" stroke="{CRITICAL}" '
                   'stroke-width="2"/>')  # fmt: skip


def _sign(place: int, x: float, y: float, colour: str, title: str = "") -> str:
    """The mark of a curve: circle, square, diamond."""
    words = f"<title>{_words(title)}</title>" if title else ""
    if place % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">{words}</circle>'
    turned = f' transform="rotate(45 {x:.1f} {y:.1f})"' if place % 3 == 2 else ""
    return (f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"'
            f"{turned}>{words}</rect>")  # fmt: skip


def _x(left: float, workers: float, most: int) -> float:
    return left + 8 + math.log2(workers) / math.log2(max(most, 2)) * (PANEL - 60)


def _y(value: float, span: tuple[float, float]) -> float:
    return TOP + HEIGHT * (1 - (value - span[0]) / max(span[1] - span[0], 1e-9))


def _head(width: float, height: float, title: str) -> Iterator[str]:
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    font = 'font-family="system-ui, sans-serif" font-size="12"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>'
    yield f"<title>{_words(title)}</title>"
    card = f'width="{width - 1:g}" height="{height - 1:g}" rx="8" fill="{CARD}" stroke="{GRID}"'
    yield f'<rect x="0.5" y="0.5" {card}/>'
    yield (f'<text x="16" y="22" fill="{INK}" font-size="14" font-weight="600">{_words(title)}'
           "</text>")  # fmt: skip


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{GRID}"/>'


def _text(x: float, y: float, words: str, colour: str, anchor: str = "start") -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"'
    return f"<text {where}>{_words(words)}</text>"


def _words(text: str) -> str:
    return escape(printable(text))
