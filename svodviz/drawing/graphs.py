"""From the networkx graph of a stage to boxes and arrows with their labels and sizes.

    line 1   glyph, op, name and argument   mul · buffer x · reduce add axes (2) · ↻ range 0 … 3
    line 2   dtype and shape, device        f32[64,10] · f32[64,10] CPU:1

Sizes follow from a fixed advance per character, so a drawing does not depend on installed fonts.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from textwrap import dedent
from typing import TYPE_CHECKING, TypeAlias

from svodviz.drawing.palette import kind_of
from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    import networkx as nx

Facts: TypeAlias = Mapping[str, object]
"""The facts that a stage gives of a node or an edge of its graph."""

ADVANCE = 7.3  # pixels per column of a 12 px monospace font; the widest common ones have 7.25
SMALL_ADVANCE = 6.7
LINE, PADDING = 16, 24
LONGEST_LABEL, LONGEST_BLOCK = 34, 9


@dataclass(frozen=True)
class Box:
    """One node as drawn: its words, its size in pixels, and the facts the inspector shows."""

    entity: str
    op: str
    kind: str
    argument: str
    dtype: str
    shape: str
    name: str
    group: str
    label: tuple[str, ...]
    width: int
    height: int
    facts: dict[str, object]

    def at_least(self, width: int, height: int) -> "Box":
        """The same box, grown where it is smaller than the given size."""
        return replace(self, width=max(self.width, width), height=max(self.height, height))


@dataclass(frozen=True)
class Arrow:
    """One edge: from producer to user, as which operand (-1: none)."""

    source: str
    target: str
    operand: int = -1
    kind: str = "data"


@dataclass(frozen=True)
class Drawing:
    """Boxes and arrows of one graph, in the graph's own order."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def columns(text: str) -> int:
    """Columns a text takes in a monospace font: wide characters take two, marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def shorten(text: str, longest: int = LONGEST_LABEL) -> str:
    """`text` in at most `longest` columns, with an ellipsis where something is left out."""
    if columns(text) <= longest:
        return text
    kept, width = "", 0
    for character in text:
        width += columns(character)
        if width > longest - 1:
            break
        kept += character
    return f"{kept.rstrip()}…"


def draw(graph: "nx.DiGraph[str]") -> Drawing:
    """The boxes and arrows of a stage's graph."""
    boxes = tuple(box_of(str(key), attributes) for key, attributes in graph.nodes(data=True))
    arrows = (arrow for edge in graph.edges(data=True) for arrow in arrows_of(*edge))
    return Drawing(boxes, tuple(arrows))


def box_of(entity: str, attributes: Facts) -> Box:
    """The box of one node with the attributes its stage gives it."""
    block = str(attributes.get("text") or "")
    words = [str(attributes.get(name) or "") for name in _WORDS]
    look = _look(*words, _place(attributes), block)
    named = {name: attributes[name] for name in _FACTS if name in attributes}
    facts = {name: visible(it) if isinstance(it, str) else it
             for name, it in named.items() if it not in _NOTHING}  # fmt: skip
    if block:
        lines = dedent(block.expandtabs(4)).splitlines()
        facts["text"] = [visible(line) for line in lines]
    return Box(entity, *look, facts)


_WORDS = ("op", "kind", "argument", "dtype", "shape", "name", "group")
_FACTS = (
    "cost", "critical", "slack", "start", "finish", "device", "variables", "module", "scope",
    "callers", "partners", "back", "strides",
)  # fmt: skip
_NOTHING = (None, "")


@lru_cache(8192)
def _look(
    op: str, kind: str, argument: str, dtype: str, shape: str, name: str, group: str,
    where: str, block: str,
) -> tuple[str, str, str, str, str, str, str, tuple[str, ...], int, int]:
    """Printable words, label and size of a box. Most boxes of a program look like another."""
    words = (op, kind, argument, dtype, shape, name, group)
    text = {key: visible(word) for key, word in zip(_WORDS, words, strict=True)}
    label = _block_label(text, block) if block else _label(text, where)
    size = _size(label, is_block=bool(block))
    return (*text.values(), label, *size)  # type: ignore[return-value]


def _label(text: dict[str, str], where: str = "") -> tuple[str, ...]:
    # The second line says the dtype; some arguments end in it too.
    argument = f" {text['argument']}".removesuffix(f" {text['dtype'] or '?'}").strip()
    words = [text["op"], text["name"], argument]
    first = shorten(" ".join(dict.fromkeys(word for word in words if word)) or "?")
    glyph = kind_of(text["kind"]).glyph
    first = f"{glyph} {first}" if glyph else first
    second = shorten(" ".join(filter(None, (text["dtype"] + text["shape"], where))))
    return (first, second) if second else (first,)


def _place(attributes: Facts) -> str:
    """The device of a buffer, unless it is the plain one that needs no words; what is noted."""
    device = attributes.get("device", "") if attributes.get("op") == "buffer" else ""
    words = "" if device == "CPU" else str(device)
    return visible(" ".join(filter(None, (words, str(attributes.get("note") or "")))))


def _block_label(text: dict[str, str], block: str) -> tuple[str, ...]:
    lines = [visible(line) for line in dedent(block.expandtabs(4)).splitlines()]
    if lines[0].rstrip() == f"{text['op'].partition(' ')[0]}:":
        lines = lines[1:]  # the title says the same
    left_out = len(lines) - LONGEST_BLOCK
    shown = lines if left_out <= 1 else [*lines[:LONGEST_BLOCK], f"… {left_out} more lines"]
    name = " ".join(filter(None, (text["op"], text["name"])))
    title = " · ".join(filter(None, (name, text["argument"])))
    return (shorten(title, 46), *(shorten(line, 46) for line in shown))


def _size(label: tuple[str, ...], *, is_block: bool) -> tuple[int, int]:
    first = columns(label[0]) * ADVANCE
    rest = max((columns(line) * SMALL_ADVANCE for line in label[1:]), default=0.0)
    width = max(first, rest, 40.0) + PADDING
    height = 8 + LINE * len(label) + (6 if is_block else 0)
    return 2 * int(width / 2 + 0.999), height


def arrow_of(source: str, target: str, attributes: Facts) -> Arrow:
    """The arrow of one edge with the attributes its stage gives it."""
    operand = attributes.get("operand", -1)
    return Arrow(
        source,
        target,
        operand if isinstance(operand, int) else -1,
        visible(attributes.get("kind", "data") or "data"),
    )


def arrows_of(source: str, target: str, attributes: Facts) -> list[Arrow]:
    """The arrows of one edge: one for each of its `kinds`, and a link where it has a `fusion`."""
    first = arrow_of(source, target, attributes)
    if "kinds" not in attributes and "fusion" not in attributes:
        return [first]
    named = attributes.get("kinds")
    kinds = [visible(it) for it in named] if isinstance(named, tuple) and named else [first.kind]
    if "fusion" in attributes and "fusion" not in kinds:
        kinds.append("fusion")
    return [replace(first, kind=kind) for kind in dict.fromkeys(kinds)]
