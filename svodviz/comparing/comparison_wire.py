"""A comparison as JSON: the data of its page, live and exported.

Of both compilations it carries their data without passes, replays, decisions and values.
"""

from typing import TYPE_CHECKING, Final, Literal

from svodviz.comparing.comparison import (
    DIFFERENT,
    EQUAL,
    ONLY_A,
    ONLY_B,
    Comparison,
    Figure,
    KernelPair,
    PassPair,
    UnitPair,
    change,
    did,
    rules,
    written,
)
from svodviz.comparing.pair_nodes import CHANGED, ONLY
from svodviz.foundation.escape import visible
from svodviz.wire.payload import wire
from svodviz.wire.scene import number

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from svodviz.data import pages

FORMAT: Final = "svodviz-comparison"
VERSION: Final = 1


def comparison_wire(comparison: Comparison) -> "pages.ComparisonWire":
    """The comparison as JSON data."""
    a, b = _side(comparison.a), _side(comparison.b)
    numbers = _numbers(a), _numbers(b)
    first, second = comparison.names
    return {
        "format": FORMAT,
        "version": VERSION,
        "names": (visible(first), visible(second)),
        "a": a,
        "b": b,
        "same": comparison.is_same,
        "figures": [figure_row(it) for it in comparison.figures],
        "passes": [_pass(it) for it in comparison.passes],
        "kernels": [_kernel(it) for it in comparison.kernels],
        "stages": {
            stage: [_unit(it, *numbers) for it in pairs]
            for stage, pairs in comparison.stages.items()
        },
        "missing": comparison.missing,
    }


def _side(compilation: "Compilation") -> "pages.Wire":
    """The data of one side, without the parts that a comparison does not show."""
    return {
        **wire(compilation),
        "replays": [], "passes": [], "rules": [], "findings": None, "decisions": [], "plain": [],
        "values": {},
    }  # fmt: skip


def _numbers(side: "pages.Wire") -> dict[str, int]:
    return {name: place for place, name in enumerate(side["entities"])}


def figure_row(it: Figure) -> "pages.FigureRow":
    """One number of both sides with its words."""
    a, b = (None if each is None else number(each) for each in (it.a, it.b))
    return it.name, it.unit, a, b, written(it.a, it.unit), written(it.b, it.unit), change(it)


def mark_of(pair: PassPair | KernelPair | UnitPair) -> "pages.Sign":
    """The sign of a pair."""
    if pair.a is None:
        return ONLY_B
    if pair.b is None:
        return ONLY_A
    return EQUAL if pair.is_same else DIFFERENT


def _pass(it: PassPair) -> "pages.PassPairRow":
    a, b = (did(side) if side else "" for side in (it.a, it.b))
    return it.stage, it.kernel, it.name, a, b, mark_of(it), rules(it)


def _kernel(it: KernelPair) -> "pages.KernelPairRow":
    return {
        "a": it.a and visible(it.a),
        "b": it.b and visible(it.b),
        "mark": mark_of(it),
        "shared": number(it.shared),
        "figures": [figure_row(figure) for figure in it.figures],
    }


def _unit(pair: UnitPair, a: dict[str, int], b: dict[str, int]) -> "pages.UnitPairRow":
    pairing = pair.pairing
    partners: list[tuple[int, int, Literal[0, 1]]] = [
        (a[x], b[y], 1 if pairing.marks_a[x] == CHANGED else 0)
        for x, y in pairing.to_b.items() if x in a and y in b
    ]  # fmt: skip
    return {
        "name": visible(pair.name),
        "a": pair.a[0] if pair.a else -1,
        "b": pair.b[0] if pair.b else -1,
        "same": pair.is_same and pairing.is_same,
        "blocks": pair.blocks,
        "partners": partners,
        "only": (_alone(pairing.marks_a, a), _alone(pairing.marks_b, b)),
    }


def _alone(marks: dict[str, str], places: dict[str, int]) -> list[int]:
    """The entities that only one side has."""
    return [places[it] for it, mark in marks.items() if mark == ONLY and it in places]
