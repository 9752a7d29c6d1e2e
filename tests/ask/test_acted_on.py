"""The parts that choices about loops acted on: axes with extents, memory, what was made of them."""

from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.ask.matched import matched
from compiler.loops.choices import show
from compiler.loops.transforms.axes import axes


def bound(program: Tensor, choices: str) -> dict[str, dict[str, str]]:
    """For each choice, and each coalesce, what it acted on."""
    loops: Any = {"k0": choices} if choices else "auto"
    made = compile(program, Options(trace=True, loops=loops))
    found: dict[str, dict[str, str]] = {}
    for record in made.passes:
        for step, match in enumerate(record.matches, 1) if record.stage == "loops" else ():
            told = matched(made, record, step)
            if told is not None and not told.nanoseconds:
                found[match.algebra if record.name != "coalesce" else "coalesce"] = dict(
                    told.bindings)  # fmt: skip
    return found


def values(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(0).random(shape).astype(np.float32))


ONE = lambda: values(1000) * 2.0  # noqa: E731
TWO = lambda: values(40, 30).mT.contiguous()  # noqa: E731
PRODUCT = lambda: values(64, 100) @ values(100, 32)  # noqa: E731
SOFTMAX = lambda: values(8, 100).softmax()  # noqa: E731


@pytest.mark.parametrize(("program", "choices", "choice", "expected"), [
    (ONE, "tile i0 16", "tile i0 16 peel", {
        "axis": "i0 in 1000", "size": "16", "tail": "peel",
        "loops made": "i0.0 in 62, i0.1 in 16, i0.2 in 8"}),
    (ONE, "tile i0 16 mask", "tile i0 16 mask", {
        "axis": "i0 in 1000", "size": "16", "tail": "mask",
        "loops made": "i0.0 in 63, i0.1 in 16"}),
    (ONE, "tile i0 4; unroll i0.1", "unroll i0.1", {
        "axis": "i0.1 in 4", "side by side": "4 iterations"}),
    (ONE, "tile i0 8; vectorize i0.1", "vectorize i0.1", {"axis": "i0.1 in 8", "lanes": "8"}),
    (ONE, "parallelize i0 4", "parallelize i0 4", {
        "axis": "i0 in 1000", "tasks": "4", "iterations of a task": "250"}),
    (ONE, "parallelize i0 3", "parallelize i0 3", {
        "axis": "i0 in 1000", "tasks": "3", "iterations of a task": "333 or 334"}),
    (ONE, "tile i0 8; vectorize i0.1; stream 0", "stream 0", {"argument": "out f32[1000]"}),
    (TWO, "reorder i1 i0", "reorder i1 i0", {
        "axes": "i1 in 40, i0 in 30", "order before": "i0, i1", "order after": "i1, i0"}),
    (PRODUCT, "tile i1 16; reorder i1.0 i0 i1.1; pack 2 i1.0", "pack 2 i1.0", {
        "argument": "in2 f32[3200]", "at": "i1.0 in 2", "loops made": "i3 in 100, i4 in 16",
        "memory made": "local0 f32[1600], 6,400 bytes"}),
    (PRODUCT, "accumulate r2 4 i0", "accumulate r2 4 i0", {
        "axis": "r2 in 100 reduction", "rows": "4", "at": "i0 in 64",
        "loops made": "i3 in 32, r4 in 4 reduction unrolled, s6 in 32 serial, "
                      "s5 in 24 serial, r7 in 4 reduction unrolled",
        "memory made": "local0 f32[32], 128 bytes"}),
    (SOFTMAX, "cache_row r3 i1", "cache_row r3 i1", {
        "axis": "r3 in 100 reduction", "into": "i1 in 100", "loops made": "i4 in 100",
        "memory made": "local0 f32[100], 400 bytes"}),
])  # fmt: skip
def test_each_choice(program: Any, choices: str, choice: str, expected: dict[str, str]) -> None:
    assert bound(program(), choices)[choice] == expected


def test_loops_that_become_one() -> None:
    assert bound(values(4, 8) * 2.0, "")["coalesce"]["loops"] == "i0 in 4, i1 in 8"


@pytest.mark.parametrize("program", [ONE, TWO, PRODUCT, SOFTMAX])
def test_every_choice_made_by_default_says_on_which_axes_it_acted(program: Any) -> None:
    made = compile(program(), Options(trace=True))
    done = [(r, step, m) for r in made.passes if r.stage == "loops"
            for step, m in enumerate(r.matches, 1) if m.rule == r.name != "simplify"]  # fmt: skip
    chosen = {show(choice) for choices in made.choices.values() for choice in choices}
    assert {m.algebra for _, _, m in done} & chosen
    for record, step, match in done:
        told = matched(made, record, step)
        assert told is not None and told.bindings, match.algebra
        known = axes(match.before)
        for name, value in told.bindings:
            if name in ("axis", "into"):
                axis = known[value.split()[0]]
                assert value.startswith(f"{axis.name} in {axis.extent}")
