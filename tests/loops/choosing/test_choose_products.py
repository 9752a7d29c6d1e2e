"""Choices for sums of products: tiles, parts for cores, panels; at usual and odd sizes."""

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor, Variable
from compiler.core.reason import Reason
from compiler.loops.choices import Choices, Pack, Parallelize, Tile, Unroll, text
from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.choose import choose
from compiler.loops.choosing.choose_products import products
from compiler.machines.model import DEFAULT
from tests.loops.transformed import assert_close, assert_same, body_of, on_machine, transform
from tests.search.choosing import bodies, plain_loops
from tests.search.terms import program

NAMES = ("matmul", "matmul of integers", "x @ w.T", "x.T @ w", "bmm")
ODD = ((251, 253, 13), (2, 19, 5), (17, 10, 33), (100, 3, 4), (33, 65, 3), (1, 64, 64), (19, 70, 2))


def chosen(name: str, m: int, n: int, k: int) -> Choices:
    """The choices by default."""
    return choose(body_of(name, m, n, k), DEFAULT)


@pytest.mark.parametrize("sizes", ODD)
@pytest.mark.parametrize("name", NAMES)
def test_machine_code_at_odd_sizes(name: str, sizes: tuple[int, int, int]) -> None:
    expected, found = on_machine(name, *sizes, "auto")
    assert_close(found, expected)


@pytest.mark.parametrize(("m", "n", "k"), [
    (257, 769, 31), (521, 61, 97), (1021, 17, 97), (64, 1021, 33), (7, 4099, 70),
])  # fmt: skip
@pytest.mark.parametrize("name", ["matmul", "x @ w.T", "x.T @ w"])
def test_machine_code_shared_out_at_odd_sizes(name: str, m: int, n: int, k: int) -> None:
    assert chosen(name, m, n, k).of(Parallelize)
    expected, found = on_machine(name, m, n, k, "auto")
    assert_close(found, expected)


@pytest.mark.parametrize("sizes", [(13, 20, 5), (12, 70, 3), (50, 5, 9)])
@pytest.mark.parametrize("name", NAMES)
def test_loops_at_odd_sizes(name: str, sizes: tuple[int, int, int]) -> None:
    before = body_of(name, *sizes)
    assert_same(before, transform(before, choose(before, DEFAULT)))


@pytest.mark.parametrize(("name", "sizes", "axis"), [
    ("matmul", (256, 256, 256), "i1.0"),
    ("matmul", (1024, 64, 256), "i0.0"),
    ("matmul", (1024, 192, 256), "i0.0"),
    ("matmul", (17, 2048, 256), "i1.0"),
    ("bmm", (128, 16, 512), "i0.0"),
])  # fmt: skip
def test_cores_get_parts_of_one_length(name: str, sizes: tuple[int, int, int], axis: str) -> None:
    found = chosen(name, *sizes).of(Parallelize)
    names = {"bmm": ("i0", "i1.0", "i2.0")}.get(name, (axis,))
    assert len(found) == 1 and found[0].axis in names


@pytest.mark.parametrize(("sizes", "height", "width"), [
    ((1024, 1024, 64), 6, 64), ((4, 1024, 64), 4, 64), ((128, 10, 64), 16, 16),
    ((96, 3, 400), 16, 4),
])  # fmt: skip
def test_tiles_fit_the_result(sizes: tuple[int, int, int], height: int, width: int) -> None:
    cuts = {cut.axis: cut for cut in chosen("matmul", *sizes).of(Tile)}
    rows = next(cut for name, cut in cuts.items() if name in ("i0", "i0.1") and cut.size < 64)
    assert (rows.size, cuts["i1"].size) == (height, width)


def test_a_result_that_no_tile_fills_is_masked() -> None:
    cuts = {cut.axis: cut.tail for cut in chosen("matmul", 64, 61, 64).of(Tile)}
    assert cuts["i1"] == "mask" and cuts["i0"] == "peel"


def test_a_panel_is_packed_where_it_is_read_again() -> None:
    assert chosen("matmul", 1024, 1024, 1024).of(Pack)
    assert not chosen("matmul", 16, 1024, 1024).of(Pack)
    assert chosen("matmul", 96, 2048, 2048).of(Pack)
    assert chosen("x @ w.T", 6, 64, 64).of(Pack)


@pytest.mark.parametrize(("sizes", "why"), [
    ((48, 256, 256), "256 pieces of 256 bytes, 1,024 apart, stay in the level-2 cache"),
    ((256, 64, 64), "64 pieces of 256 bytes, 256 apart, stay in the nearest cache"),
    ((256, 256, 256), "256 pieces of 256 bytes, 1,024 apart, stay in the level-2 cache"),
    ((1024, 1024, 512), "512 pieces of 256 bytes, 4,096 apart, do not stay in the level-2 cache"),
    ((1024, 2048, 2048), "2,048 pieces of 256 bytes, 8,192 apart: the addresses"),
])  # fmt: skip
def test_a_panel_is_packed_unless_it_stays_near(sizes: tuple[int, int, int], why: str) -> None:
    choices = chosen("matmul", *sizes)
    assert why in f"{choices} {choices.refused}"
    assert bool(choices.of(Pack)) is not (sizes[0] == 48 or why.endswith("the nearest cache"))


def test_rows_are_shared_out_evenly_where_that_is_possible() -> None:
    cut = next(cut for cut in chosen("matmul", 1024, 64, 256).of(Tile) if cut.axis == "i0")
    assert cut.size == 512


def test_a_short_sum_stands_side_by_side() -> None:
    assert "r2" in {c.axis for c in chosen("matmul", 64, 10, 3).of(Unroll)}
    assert not chosen("matmul", 64, 10, 3).of(Pack)
    assert "r2" not in {c.axis for c in chosen("matmul", 64, 64, 5).of(Unroll)}


@pytest.mark.parametrize(("name", "sizes"), [
    ("matmul", (300, 2, 5)), ("x.T @ w", (1000, 2, 17)), ("matmul", (1000, 3, 3)),
    ("x @ w.T", (3, 1000, 3)), ("matmul", (100, 3, 100)),
])  # fmt: skip
def test_what_llvm_makes_vectors_of_is_left_to_it(name: str, sizes: tuple[int, int, int]) -> None:
    assert not len(chosen(name, *sizes))
    expected, found = on_machine(name, *sizes, "auto")
    assert_close(found, expected)


@pytest.mark.parametrize(("name", "sizes"), [
    ("matmul", (1000, 2, 17)), ("x @ w.T", (2, 1000, 17)), ("matmul", (97, 4, 89)),
    ("x.T @ w", (100, 3, 100)), ("matmul", (64, 8, 64)),
])  # fmt: skip
def test_and_no_more_than_that(name: str, sizes: tuple[int, int, int]) -> None:
    assert len(chosen(name, *sizes))


def test_rows_of_short_sums_are_left_to_llvm_unless_cores_share_them() -> None:
    assert not len(chosen("matmul", 64, 64, 3))
    assert chosen("matmul", 2048, 1024, 3).of(Parallelize)


def test_reasons_name_the_values_looked_at() -> None:
    reasons = " ".join(c.because for c in chosen("matmul", 509, 1021, 251))
    assert "509 rows by 1021 columns" in reasons and "24 accumulators" in reasons


def test_few_results_stay_plain() -> None:
    seen = accesses(body_of("matmul", 2, 3, 100))
    assert seen is not None and isinstance(products(seen, DEFAULT), Reason)


def test_the_text_of_a_usual_product() -> None:
    assert text(chosen("matmul", 48, 64, 64)) == (
        "tile i0 6 peel; tile i1 64 peel; tile i1.1 16 peel; "
        "reorder i1.0 i0.0 i0.1 i0.2 i1.1.0 i1.1.1; "
        "unroll i0.1; unroll i0.2; unroll i1.1.0; vectorize i1.1.1"
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_any_number_of_rows(threads: int) -> None:
    rows, weights = Variable("rows", 1, 300), np.ones((64, 70), np.float32)
    for count in (1, 5, 24, 37, 300):
        x = np.arange(count * 64, dtype=np.float32).reshape(count, 64) % 7
        product = Tensor(x, symbolic={0: rows}) @ Tensor(weights)
        plan = compiler.prepare(product, Options(threads=threads))
        np.testing.assert_array_equal(plan.run([x, weights])[0], x @ weights)
        assert "lanes" in str(compiler.compile(product, Options(threads=threads)).loops[0])


def of_program(text_of_program: str) -> Choices:
    """The choices for the one kernel of a program."""
    (body,) = bodies(program(text_of_program))
    return choose(plain_loops(body), DEFAULT)


def test_a_panel_that_the_sum_does_not_move_is_not_packed() -> None:
    product = "Tensor.einsum('abcf,adef->cebad', x0, x1.expand(8, 6, 7, 3))"
    found = of_program(f"x0 = float32[8, 7, 8, 3]; x1 = float32[1, 6, 7, 1]; {product}")
    assert found.of(Tile) and not found.of(Pack)
    why = next(r.because for r in found.refused if r.kind == "pack")
    assert "each column is one element for the whole sum" in why


@pytest.mark.parametrize("n", [2, 3, 4, 5, 9])
def test_two_of_a_variable_number_of_rows_are_never_side_by_side(n: int) -> None:
    found = of_program(f"x0 = float32[n<={n}, 40]; x1 = float32[40, 200]; x0 @ x1")
    heights = [tile.size for tile in found.of(Tile) if tile.axis == "i0"]
    assert heights and 2 not in heights
