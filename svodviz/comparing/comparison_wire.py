"""A comparison as JSON: what its page shows, live and exported.

    {"format": "svodviz-comparison", "version": 1,
     "names":   [a, b]
     "a", "b":  the compilations as in `wire`, without passes, their frames, decisions and values
     "figures": [figure]
     "passes":  [[stage, kernel, name, did or "", did or "", mark, rules]]
     "kernels": [{"a": name or null, "b", "mark", "shared", "figures": [figure]}]
     "stages":  {id: [pair]}
     "missing": {id: reason}}

    figure  [name, unit, a or null, b or null, words a, words b, change]
    pair    {"name", "a": position or -1, "b", "same", "blocks": [[tag, a, a, b, b]],
             "partners": [[entity of a, entity of b, 1 if they differ]],
             "only": [[entity of a], [entity of b]]}

Marks are "=", "~" (differs), "−" (only in a) and "+" (only in b).
"""

from typing import Any

from svodviz.comparing.comparison import Comparison, Figure, KernelPair, PassPair, UnitPair
from svodviz.comparing.comparison_text import (
    DIFFERENT,
    EQUAL,
    ONLY_A,
    ONLY_B,
    change,
    did,
    rules,
    written,
)
from svodviz.comparing.pair_nodes import CHANGED, ONLY
from svodviz.foundation.escape import visible
from svodviz.wire.payload import wire
from svodviz.wire.scene import Wire, plain

FORMAT, VERSION = "svodviz-comparison", 1
# What the page of one compilation shows and this one does not.
_LEFT_OUT: Wire = {"films": [], "passes": [], "rules": [], "decisions": [], "plain": [],
                   "values": {}}


def comparison_wire(comparison: Comparison) -> Wire:
    """The comparison as JSON data (see the module's docstring)."""
    a, b = (wire(it) | _LEFT_OUT for it in (comparison.a, comparison.b))
    numbers = [{name: number for number, name in enumerate(it["entities"])} for it in (a, b)]
    return {
        "format": FORMAT,
        "version": VERSION,
        "names": [visible(it) for it in comparison.names],
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


def figure_row(it: Figure) -> list[Any]:
    """One number of both sides with its words."""
    words = written(it.a, it.unit), written(it.b, it.unit)
    return [it.name, it.unit, plain(it.a), plain(it.b), *words, change(it)]


def mark_of(pair: PassPair | KernelPair | UnitPair) -> str:
    """The sign of a pair."""
    if pair.a is None:
        return ONLY_B
    if pair.b is None:
        return ONLY_A
    return EQUAL if pair.is_same else DIFFERENT


def _pass(it: PassPair) -> list[Any]:
    words = [did(side) if side else "" for side in (it.a, it.b)]
    return [it.stage, it.kernel, it.name, *words, mark_of(it), rules(it)]


def _kernel(it: KernelPair) -> Wire:
    return {
        "a": it.a and visible(it.a),
        "b": it.b and visible(it.b),
        "mark": mark_of(it),
        "shared": plain(it.shared),
        "figures": [figure_row(figure) for figure in it.figures],
    }


def _unit(pair: UnitPair, a: dict[str, int], b: dict[str, int]) -> Wire:
    pairing = pair.pairing
    partners = [
        [a[x], b[y], int(pairing.marks_a[x] == CHANGED)]
        for x, y in pairing.to_b.items() if x in a and y in b
    ]  # fmt: skip
    only = [
        [numbers[it] for it, mark in marks.items() if mark == ONLY and it in numbers]
        for marks, numbers in ((pairing.marks_a, a), (pairing.marks_b, b))
    ]
    return {
        "name": visible(pair.name),
        "a": pair.a[0] if pair.a else -1,
        "b": pair.b[0] if pair.b else -1,
        "same": pair.is_same and pairing.is_same,
        "blocks": [list(it) for it in pair.blocks],
        "partners": partners,
        "only": only,
    }
