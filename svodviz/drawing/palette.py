"""One palette for every drawing, light and dark, with the words of its legend.

Pale fills under black text, deep fills under light text. Hues follow the colour-blind safe set of
Okabe and Ito ("Color Universal Design", 2008), thinned out. No meaning rests on colour alone: each
kind also has an outline of its own or a glyph before its words, every state a sign, a dash or a
border, and every kind of edge its own dashes.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from svodviz.data import pages

Shape = Literal[
    "box", "pill", "slant", "hexagon", "double", "square", "arrow", "bars", "fold", "stack"
]
Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Ink:
    """Fill and border of one kind under one theme."""

    fill: str
    border: str


@dataclass(frozen=True)
class Kind:
    """The style of a kind of node, and its text in the legend."""

    name: str
    shape: Shape
    light: Ink
    dark: Ink
    words: str
    glyph: str = ""


@dataclass(frozen=True)
class Edge:
    """The style of a kind of edge: its dashes in SVG and in DOT, and its text in the legend."""

    name: str
    dashes: str
    words: str
    dot: str = "dashed"
    dot_head: str = "normal"


KINDS = (
    Kind("buffer", "pill", Ink("#d8e9f8", "#2b6ca8"), Ink("#17354f", "#6fb1e6"), "storage"),
    Kind("const", "pill", Ink("#ececec", "#6d6d6d"), Ink("#33363b", "#a9adb5"), "constant"),
    Kind("elementwise", "box", Ink("#fbf1cf", "#937100"), Ink("#3c3312", "#d9b94a"), "elementwise"),
    Kind("movement", "slant", Ink("#eae4f6", "#6a4fa0"), Ink("#2f2647", "#b49be0"), "movement"),
    Kind("reduce", "hexagon", Ink("#fce1cb", "#a8540c"), Ink("#472a12", "#eda366"), "reduction"),
    Kind("memory", "square", Ink("#d3eeea", "#0b6f63"), Ink("#113a35", "#5cc4b4"), "memory"),
    Kind("cast", "slant", Ink("#f8e0ec", "#a03b73"), Ink("#422032", "#e08fbb"), "cast"),
    Kind("control", "square", Ink("#e3e7ec", "#4c5b6c"), Ink("#293039", "#c4d0de"), "control"),
    Kind("call", "double", Ink("#e9efd9", "#5b7418"), Ink("#2b3512", "#b0c96a"), "call"),
    Kind("kernel", "double", Ink("#dfe3fa", "#3d4bb0"), Ink("#232a52", "#9aa6f2"), "kernel"),
    Kind("transfer", "arrow", Ink("#d6eef8", "#1b7396"),
         Ink("#123746", "#66bfe2"), "transfer", "⇉"),
    Kind("sync", "bars", Ink("#fde3d7", "#b04a1e"),
         Ink("#47210f", "#f29a72"), "synchronisation", "‖"),
    Kind("callback", "fold", Ink("#f3e2f5", "#8a3f96"),
         Ink("#3b2040", "#d193db"), "host function", "ƒ"),
    Kind("local", "pill", Ink("#dcefd9", "#3a7a30"),
         Ink("#1d391a", "#83c878"), "scratch memory", "▫"),
    Kind("order", "square", Ink("#ecebe4", "#6c6750"), Ink("#323026", "#bbb48f"), "ordering", "⇣"),
    Kind("loop", "hexagon", Ink("#fdf0c4", "#8a6c00"), Ink("#3b310a", "#dcbc42"), "loop", "↻"),
    Kind("unrolled", "stack", Ink("#efe3f7", "#7b4a9c"),
         Ink("#34223f", "#c79be3"), "unroll: iterations side by side", "⋮"),
    Kind("vector", "bars", Ink("#d9eefb", "#1b6f9c"),
         Ink("#123548", "#69bfe8"), "lanes of a vector", "▥"),
    Kind("cores", "hexagon", Ink("#e2f0d5", "#4a7a1e"),
         Ink("#263a15", "#9bcb6c"), "shared by cores", "⇶"),
    Kind("variable", "pill", Ink("#f7e3ea", "#9c4262"), Ink("#41222d", "#dd92ac"), "variable", "≔"),
    Kind("lanes", "stack", Ink("#e0e6f2", "#455f94"),
         Ink("#232c40", "#95aee0"), "device lanes", "≡"),
    Kind("index", "square", Ink("#eef0df", "#6d7148"), Ink("#32341f", "#bcc18c"), "index"),
    Kind("basicblock", "square", Ink("#f6f6f3", "#77776f"), Ink("#26272a", "#8d9097"), "block"),
)
OTHER = Kind("other", "box", Ink("#f2f2f2", "#6d6d6d"), Ink("#303236", "#a9adb5"), "other")
EDGES = (
    Edge("data", "", "data", "solid"),
    Edge("anti", "7 4", "anti (write after read)"),
    Edge("output", "9 3 2 3", "output (write after write)", "dashed", "empty"),
    Edge("control", "2 3", "control (order only)", "dotted"),
    Edge("order", "5 3", "order"),
    Edge("loop", "4 2 1 2", "loop counter", "dotted", "odot"),
    Edge("jump", "14 2", "jump", "solid"),
    Edge("next", "2 6", "goes on below", "dotted"),
    Edge("back", "8 3", "jump back: a loop", "dashed", "empty"),
    Edge("fusion", "1 5", "could be one kernel", "dotted", "none"),
)
EDGE_BY_NAME = {edge.name: edge for edge in EDGES}
BY_NAME = {kind.name: kind for kind in (*KINDS, OTHER)}

# States and surroundings: name -> (light, dark).
COLOURS = {
    "page": ("#ffffff", "#16181c"),
    "panel": ("#f7f8f9", "#1d2025"),
    "raised": ("#ffffff", "#262a31"),
    "rule": ("#d9dde2", "#353a43"),
    "strong-rule": ("#b4bac3", "#555c68"),
    "text": ("#17191c", "#e9ebee"),
    "soft": ("#565d67", "#a3abb6"),
    "faint": ("#636a74", "#9aa2ae"),
    "accent": ("#0b62b4", "#74b4f2"),
    "accent-fill": ("#e3effa", "#1b3450"),
    "edge": ("#8a919b", "#737b87"),
    "edge-strong": ("#17191c", "#f2f4f6"),
    "selected": ("#0b62b4", "#8cc4ff"),
    "related": ("#7c4d00", "#f0c674"),
    "related-fill": ("#fdf3d6", "#3a3118"),
    "added": ("#14763a", "#58cf83"),
    "added-fill": ("#e2f5e8", "#143322"),
    "removed": ("#b3261e", "#ff8a80"),
    "removed-fill": ("#fcebea", "#3b1c1a"),
    "critical": ("#bf3a00", "#ff9a5c"),
    "slack": ("#868d97", "#6c7480"),
    "keyword": ("#7a3e9d", "#cba6f0"),
    "number": ("#0a5fa6", "#86c0f5"),
    "string": ("#186a3b", "#8fd6a6"),
    "comment": ("#5f6873", "#98a1ae"),
    "register": ("#8a4b08", "#e7b577"),
}


def kind_of(name: str) -> Kind:
    """The drawing of a kind; kinds the palette does not know are drawn plainly."""
    return BY_NAME.get(name, OTHER)


def edge_of(name: str) -> Edge:
    """The drawing of a kind of edge; kinds the palette does not know are dashed."""
    return EDGE_BY_NAME.get(name, EDGE_BY_NAME["order"])


def colour(name: str, theme: Theme = "light") -> str:
    """One colour of the surroundings or states."""
    return COLOURS[name][theme == "dark"]


def variables(theme: Theme) -> str:
    """The palette as CSS custom properties."""
    lines = [f"--{name}: {colour(name, theme)};" for name in COLOURS]
    for kind in BY_NAME.values():
        ink = kind.dark if theme == "dark" else kind.light
        lines += [f"--{kind.name}-fill: {ink.fill};", f"--{kind.name}-border: {ink.border};"]
    return " ".join(lines)


def css() -> str:
    """Both themes, chosen by `data-theme` on the explorer's root."""
    kinds = (
        f'.svodviz [data-kind="{name}"] '
        f"{{ --fill: var(--{name}-fill); --border: var(--{name}-border); }}"
        for name in BY_NAME
    )
    themes = (
        f'.svodviz[data-theme="{theme}"] {{ color-scheme: {theme}; {variables(theme)} }}'
        for theme in ("light", "dark")
    )
    edges = (
        f'.svodviz [data-edge="{edge.name}"] {{ stroke-dasharray: {edge.dashes or "none"}; }}'
        for edge in EDGES
    )
    return "\n".join([*themes, *kinds, *edges])


def legend() -> "list[pages.KindRow]":
    """Rows of the legend."""
    return [(kind.name, kind.shape, kind.words, kind.glyph) for kind in BY_NAME.values()]


def edge_legend() -> "list[pages.EdgeKind]":
    """Rows of the legend of edges."""
    return [(edge.name, edge.dashes, edge.words) for edge in EDGES]


def inner(width: float, height: float) -> str:
    """The second line of a double outline."""
    return f"M3.5 3.5H{round(width) - 3.5}V{round(height) - 3.5}H3.5z"


def outline(shape: Shape, width: float, height: float) -> str:
    """The SVG path of a node's outline, around (0, 0) as its upper left corner."""
    w, h = round(width), round(height)
    match shape:
        case "pill":
            r = h // 2
            arc = f"a{r} {r} 0 0 1"
            return f"M{r} 0H{w - r}{arc} 0 {h}H{r}{arc} 0 {-h}z"
        case "slant":
            return f"M8 0H{w}L{w - 8} {h}H0z"
        case "hexagon":
            return f"M9 0H{w - 9}L{w} {h // 2}L{w - 9} {h}H9L0 {h // 2}z"
        case "square" | "double":
            return f"M0 0H{w}V{h}H0z"
        case "arrow":
            return f"M0 0H{w - 10}L{w} {h // 2}L{w - 10} {h}H0z"
        case "bars":
            return f"M0 0H{w}V{h}H0zM4 0V{h}M{w - 4} 0V{h}"
        case "fold":
            return f"M0 0H{w - 9}L{w} 9V{h}H0zM{w - 9} 0V9H{w}"
        case "stack":
            return f"M0 4H{w - 4}V{h}H0zM4 4V0H{w}V{h - 4}H{w - 4}"
        case _:
            arc = "a4 4 0 0 1"
            return f"M4 0H{w - 4}{arc} 4 4V{h - 4}{arc} -4 4H4{arc} -4 -4V4{arc} 4 -4z"
