"""Choices made by default run, compute the same, and say why."""

from dataclasses import replace

import pytest

from compiler.loops.choices import Choices, Parallelize, Stream, Tile, parse, text
from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.choose import choose
from compiler.machines.model import DEFAULT
from tests.loops.transformed import (
    PROGRAMS,
    SIZES,
    assert_close,
    assert_same,
    body_of,
    on_machine,
    transform,
)
from tests.search.choosing import bodies, plain_loops
from tests.search.terms import program


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_chosen_computes_the_same(name: str, n: int) -> None:
    for m, k in ((1, 3), (17, 16), (64, 31)):
        before = body_of(name, m, n, k)
        chosen = choose(before, DEFAULT)
        assert_same(before, transform(before, chosen))


@pytest.mark.parametrize(("m", "n", "k"), [(17, 97, 31), (64, 64, 64)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_machine_code_of_what_is_chosen(name: str, m: int, n: int, k: int) -> None:
    expected, found = on_machine(name, m, n, k, "auto")
    assert_close(found, expected)


@pytest.mark.parametrize("name", [
    "elementwise", "softmax", "layernorm", "matmul", "x @ w.T", "bmm", "transpose",
])  # fmt: skip
def test_machine_code_that_is_shared_out(name: str) -> None:
    sizes = 515, 770, 67
    assert choose(body_of(name, *sizes), DEFAULT).of(Parallelize)
    expected, found = on_machine(name, *sizes, "auto")
    assert_close(found, expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_choice_has_a_reason_and_a_text(name: str) -> None:
    chosen = choose(body_of(name, 64, 97, 64), DEFAULT)
    assert all(choice.because for choice in chosen)
    assert text(parse(text(chosen))) == text(chosen)


@pytest.mark.parametrize(("name", "expected"), [
    ("elementwise", "tile i1 64 peel; tile i1.1 16 peel; unroll i1.1.0; vectorize i1.1.1; "
                    "tile i1.2 16 peel; vectorize i1.2.1"),
    ("row sums", "tile r1 64 peel; tile r1.1 16 peel; unroll r1.1.0; vectorize r1.1.1; "
                 "tile r1.2 16 peel; vectorize r1.2.1; "
                 "tile r1.2.2 16 mask; vectorize r1.2.2.1"),
    ("transpose", "tile i1 16 peel; tile i0 4 peel; tile i1.1 4 peel; "
                  "reorder i1.0 i0.0 i0.2 i1.1.0 i1.1.2 i0.1 i1.1.1; unroll i0.1; "
                  "vectorize i1.1.1"),
])  # fmt: skip
def test_small_kernels_of_each_kind(name: str, expected: str) -> None:
    assert text(choose(body_of(name, 7, 97, 16), DEFAULT)) == expected


def test_cores_only_for_work_that_is_worth_it() -> None:
    few, many = body_of("vector", 1, 1024, 1), body_of("vector", 1, 2**24, 1)
    assert not choose(few, DEFAULT).of(Parallelize)
    assert choose(many, DEFAULT).of(Parallelize)
    assert choose(many, DEFAULT).of(Stream)
    assert not choose(few, DEFAULT).of(Stream)


def test_plain_loops_are_shared_out_where_the_work_is_worth_it() -> None:
    for count, shared in {1000: "", 2_000_000: "parallelize i0 2"}.items():
        (body,) = bodies(program(f"x0 = float32[5000]; x1 = int64[{count}]; x0[x1]"))
        choices = choose(plain_loops(body), DEFAULT)
        assert choices.is_plain and text(choices) == shared
        assert any(row.kind == "vectorize" for row in choices.refused)


def test_a_product_is_packed_and_shared_out_by_rows() -> None:
    chosen = choose(body_of("matmul", 1024, 1024, 1024), DEFAULT)
    assert {type(c).__name__ for c in chosen} == {
        "Tile", "Reorder", "Pack", "Unroll", "Vectorize", "Parallelize",
    }  # fmt: skip
    assert chosen.of(Parallelize)[0].axis == "i0.0"


def test_what_is_too_small_stays_plain() -> None:
    for name in PROGRAMS:
        assert choose(body_of(name, 1, 1, 2), DEFAULT) == Choices()


def test_steps_of_accesses() -> None:
    seen = accesses(body_of("matmul", 8, 5, 6))
    assert seen is not None
    named = {a.argument.name: {r.name: s for r, s in a.steps.items()} for a in seen.loads}
    assert named == {"in1": {"i0": 6, "r2": 1}, "in2": {"r2": 5, "i1": 1}}


@pytest.mark.parametrize(("m", "n", "k", "first"), [
    (4096, 4096, 1, "tile i1 2048 peel; parallelize i1.0 2; tile i1.1 32 peel; tile i0 16 peel"),
    (4093, 4073, 1, "tile i1 2032 peel; parallelize i1.0 2; tile i1.1 64 peel; tile i0 16 peel"),
    (100000, 16, 1, "tile i0 50000 peel; parallelize i0.0 2; tile i0.1 16 peel; tile i1 16 peel"),
    (16, 16, 1, "tile i0 16 peel; tile i1 16 peel"),
    (3, 100000, 1, ""),
])  # fmt: skip
def test_transposes_read_rows_of_the_input_in_order(m: int, n: int, k: int, first: str) -> None:
    chosen = choose(body_of("transpose", m, n, k), DEFAULT)
    rows = sorted(chosen, key=lambda row: not isinstance(row, Tile | Parallelize))
    assert text(Choices(tuple(rows))).startswith(first)


def test_stores_past_the_caches_are_of_whole_lines() -> None:
    for (m, n), streams in {(4096, 4096): 1, (4093, 4073): 0, (512, 512): 0, (4096, 4): 0}.items():
        assert len(choose(body_of("transpose", n, m, 1), DEFAULT).of(Stream)) == streams


def test_rests_of_rests_are_seen_to_be_apart() -> None:
    body, three = body_of("transpose", 5, 100_000, 1), replace(DEFAULT, cores=3)
    chosen = choose(body, three)
    assert chosen.of(Parallelize)[0].tasks == 3
    assert len(transform(body, chosen).sources) > 2
