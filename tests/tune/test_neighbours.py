"""Neighbours: one thing differs, each is described by its change, and many are legal."""

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core.errors import CompileError
from compiler.loops.choices import PLAIN, Choices, Stream, Tile, parse, text
from compiler.machines.model import DEFAULT
from compiler.pipeline.kernels import compile_kernel
from compiler.tune.neighbours import Space, neighbours, space


def ones(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


PROGRAMS = {
    "elementwise": lambda: ones(4096) * ones(4096) + 1,
    "rows": lambda: ones(64, 256).sum(1),
    "columns": lambda: ones(64, 256).sum(0),
    "product": lambda: ones(48, 64) @ ones(64, 96),
    "transpose": lambda: ones(64, 96).T + 1,
}


def made(name: str, loops: str = "auto") -> tuple[Space, Choices]:
    options = Options(trace=True, loops=loops)  # type: ignore[arg-type]
    kernel = compiler.compile(PROGRAMS[name](), options)._kernels[0]
    return space(kernel.whole, DEFAULT), kernel.choices


@pytest.mark.parametrize("loops", ["auto", "plain"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_is_another_one_and_says_how(name: str, loops: str) -> None:
    known, choices = made(name, loops)
    found = neighbours(choices, known)
    assert len(found) > 5 and all(move.change and move.kind for move in found)
    assert text(choices) not in {text(move.choices) for move in found}
    assert found == neighbours(choices, known)


@pytest.mark.parametrize("name", PROGRAMS)
def test_their_text_is_read_again(name: str) -> None:
    known, choices = made(name)
    for move in neighbours(choices, known):
        assert text(parse(text(move.choices))) == text(move.choices)


@pytest.mark.parametrize("loops", ["auto", "plain"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_some_are_legal_and_the_others_are_refused(name: str, loops: str) -> None:
    compilation = compiler.compile(PROGRAMS[name](), Options(loops=loops))  # type: ignore[arg-type]
    kernel = compilation._kernels[0]
    known, _ = made(name, loops)
    legal = 0
    for move in neighbours(kernel.choices, known)[::3]:
        try:
            compile_kernel("k", kernel.body, Options(loops={"k": move.choices}), 0)
            legal += 1
        except CompileError:
            continue
    assert legal >= 2


def test_tiles_of_one_reason_change_together() -> None:
    known, _ = made("product")
    given = parse("tile i0 24; tile i0.1 6; tile i0.2 6; tile i1 32")
    sizes = {tuple(t.size for t in m.choices.of(Tile)) for m in neighbours(given, known)
             if m.kind == "sizes"}  # fmt: skip
    assert (24, 8, 8, 32) in sizes and not any(a != b for _, a, b, _ in sizes)


def test_lanes_only_double_or_halve() -> None:
    known, _ = made("elementwise")
    given = parse("tile i0 16; vectorize i0.1")
    sizes = {m.choices.of(Tile)[0].size for m in neighbours(given, known) if m.kind == "sizes"}
    assert sizes == {8, 32}


def test_blocks_take_the_choices_inside() -> None:
    known, _ = made("elementwise")
    given = parse("tile i0 16; vectorize i0.1; parallelize i0.0 2")
    found = {text(m.choices) for m in neighbours(given, known) if m.kind == "blocks"}
    inner = "tile i0.1 16 peel; vectorize i0.1.1; parallelize i0.1.0 2"
    assert f"tile i0 512 peel; {inner}" in found


def test_a_kernel_without_choices_can_get_every_kind() -> None:
    known, _ = made("product", "plain")
    kinds = {m.kind for m in neighbours(PLAIN, known)}
    assert {"orders", "moved", "shared", "vectors", "blocks", "unrolled", "staged"} <= kinds


def test_streams_are_only_of_what_is_stored() -> None:
    known, _ = made("columns", "plain")
    streams = [s.slot for m in neighbours(PLAIN, known) for s in m.choices.of(Stream)]
    assert streams == list(known.stored)
