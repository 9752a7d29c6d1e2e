"""Convolutions as register tiles: the values at awkward sizes, and what was chosen, and why."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from compiler import Options, Tensor, Variable, compile
from compiler.loops.choices import Pack, Tile
from compiler.loops.choosing.choose import choose
from compiler.machines.model import DEFAULT
from tests.evaluate import assert_same, evaluate
from tests.rows import whole_loops

Array = np.ndarray[Any, Any]
Case = tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]
PADDED = {"padding": 1}
TRANSFORMED = pytest.mark.parametrize("engine", ["loops", "lowered", "machine"])
CASES: dict[str, Case] = {
    "3x3": ((2, 5, 9, 32), (17, 5, 3, 3), PADDED),
    "odd": ((1, 3, 11, 29), (10, 3, 3, 3), PADDED),
    "no border": ((2, 4, 7, 18), (9, 4, 3, 3), {}),
    "every second": ((2, 3, 9, 37), (20, 3, 3, 3), {"padding": 1, "stride": 2}),
    "every third of few": ((1, 3, 19, 31), (5, 3, 5, 5), {"padding": 2, "stride": 3}),
    "apart": ((1, 4, 13, 21), (8, 4, 3, 3), {"padding": 2, "dilation": 2}),
    "1x1": ((2, 7, 5, 17), (19, 7, 1, 1), {}),
    "1x1 every second": ((2, 7, 9, 33), (16, 7, 1, 1), {"stride": 2}),
    "7x7": ((1, 3, 23, 40), (16, 3, 7, 7), {"padding": 3, "stride": 2}),
    "groups": ((2, 8, 6, 20), (12, 2, 3, 3), {"padding": 1, "groups": 4}),
    "each channel": ((2, 6, 30, 33), (6, 1, 3, 3), {"padding": 1, "groups": 6}),
    "each channel, every second": (
        (2, 6, 9, 33), (6, 1, 5, 5), {"padding": 2, "groups": 6, "stride": 2},
    ),
    "short rows": ((2, 16, 7, 7), (24, 16, 3, 3), PADDED),
    "four pixels": ((1, 16, 4, 4), (33, 16, 3, 3), PADDED),
    "rows alone": ((2, 5, 1, 101), (13, 5, 1, 5), {"padding": (0, 2)}),
    "one channel": ((1, 1, 40, 50), (1, 1, 3, 3), PADDED),
}  # fmt: skip


def inputs(name: str, dtype: Any = np.float32) -> tuple[Array, Array]:
    """Random numbers, the same at each call; small integers where the type has no others."""
    generator = np.random.default_rng(5)
    shapes = CASES[name][:2]
    if np.dtype(dtype).kind == "i":
        x, w = (generator.integers(-4, 5, shape).astype(dtype) for shape in shapes)
    else:
        x, w = (generator.standard_normal(shape).astype(dtype) for shape in shapes)
    return x, w


def expected(x: Array, w: Array, given: dict[str, Any]) -> Array:
    """The convolution by NumPy, of windows that it slides itself."""
    pads = np.broadcast_to(given.get("padding", 0), 2)
    step, gap, groups = (given.get(k, 1) for k in ("stride", "dilation", "groups"))
    wide = np.pad(x, [(0, 0), (0, 0), *((n, n) for n in pads)])
    reach = [gap * (k - 1) + 1 for k in w.shape[2:]]
    view = sliding_window_view(wide, reach, axis=(2, 3))[:, :, ::step, ::step, ::gap, ::gap]
    parts = np.split(view.astype(np.float64), groups, 1), np.split(w.astype(np.float64), groups, 0)
    products = [np.einsum("nchwkl,ockl->nohw", *each) for each in zip(*parts, strict=True)]
    return np.concatenate(products, 1)


def chosen(name: str, threads: int = 1) -> list[str]:
    """The choices for the loops of the convolution, each with its reason."""
    x, w = inputs(name)
    compilation = compile(Tensor(x).conv2d(Tensor(w), **CASES[name][2]), Options(threads=threads))
    last = compilation.decisions[-1].subject
    return [d.reason for d in compilation.decisions if d.subject == last and ": " in d.reason]


@TRANSFORMED
@pytest.mark.parametrize("name", CASES)
def test_convolutions(name: str, engine: str) -> None:
    given, (x, w) = CASES[name][2], inputs(name)
    got = evaluate(Tensor(x).conv2d(Tensor(w), **given), engine)
    np.testing.assert_allclose(got, expected(x, w, given), rtol=1e-4, atol=1e-4)


def test_pixels_are_lanes_where_windows_begin_at_each() -> None:
    choices = chosen("3x3")
    words = "tile i1 6 peel: 2 vectors of 16 pixels by 6 channels, of 32 pixels, 17 channels, "
    assert choices[0].startswith(f"{words}sums of 45: about ")
    assert not any(each.startswith("pack") for each in choices)


def test_channels_are_lanes_where_windows_are_apart() -> None:
    choices = chosen("every third of few")
    assert "channels by" in choices[0]
    (packed,) = [each for each in choices if each.startswith(("pack 2: ", "pack 2 i1.0: "))]
    assert packed.endswith("channels next to each other, for all pixels")


def test_pixels_are_lanes_where_every_second_is_a_window() -> None:
    assert "2 vectors of 16 pixels by 7 channels" in chosen("every second")[0]
    x, w = np.ones((2, 6, 13, 37), np.float32), np.ones((6, 1, 5, 5), np.float32)
    compilation = compile(Tensor(x).conv2d(Tensor(w), groups=6, stride=2), Options(threads=1))
    assert any(" lines, of " in d.reason for d in compilation.decisions)


def test_pooled_pairs_are_vectors() -> None:
    x = np.ones((1, 8, 40, 36), np.float32)
    for pooled in (Tensor(x).max_pool2d(2), Tensor(x).avg_pool2d(3, stride=2)):
        assert compile(pooled).choices["k0"].has("vectorize")


@TRANSFORMED
@pytest.mark.parametrize("width", [2, 3, 8, 9, 33, 64, 67])
def test_pools_of_every_second(width: int, engine: str) -> None:
    x = np.random.default_rng(width).standard_normal((2, 3, 7, width)).astype(np.float32)
    x[0, 0, 2, width // 2], x[1, 2, 4, 0] = np.nan, -np.inf
    view = sliding_window_view(x, (2, 2), axis=(2, 3))[:, :, ::2, ::2]
    assert_same(evaluate(Tensor(x).max_pool2d(2), engine), view.max((-1, -2)))


def test_lines_share_weights_where_no_channels_share_an_image() -> None:
    assert " lines, of 33 pixels, 30 lines, sums of 9: " in chosen("each channel")[0]


def test_a_bias_and_relu_stay_in_registers() -> None:
    x, w = inputs("3x3")
    bias = np.arange(17, dtype=np.float32)
    made = Tensor(x).conv2d(Tensor(w), Tensor(bias), padding=1).relu()
    assert len(compile(made).schedule.items) == 2
    want = np.maximum(expected(x, w, PADDED) + bias[:, None, None], 0)
    for engine in ("loops", "lowered", "machine"):
        np.testing.assert_allclose(evaluate(made, engine), want, rtol=1e-4, atol=1e-4)


@TRANSFORMED
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
@pytest.mark.parametrize("name", ["3x3", "every second", "each channel"])
def test_other_types(name: str, dtype: Any, engine: str) -> None:
    given, (x, w) = CASES[name][2], inputs(name, dtype)
    got = evaluate(Tensor(x).conv2d(Tensor(w), **given), engine)
    assert_same(got, expected(x, w, given).astype(dtype), rtol=1e-9)


def test_work_that_is_worth_it_is_shared_out() -> None:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((1, 32, 32, 32)).astype(np.float32)
    w = generator.standard_normal((64, 32, 3, 3)).astype(np.float32)
    made = Tensor(x).conv2d(Tensor(w), padding=1)
    reasons = [d.reason for d in compile(made, Options(threads=2)).decisions]
    assert any(r.startswith("parallelize i0.0 2: ") for r in reasons)
    assert not any("parallelize" in r for r in chosen("one channel", threads=2))
    got = evaluate(made, "machine")
    np.testing.assert_allclose(got, expected(x, w, PADDED), rtol=1e-3, atol=1e-3)


def test_groups_are_an_axis_of_their_own() -> None:
    x, w = np.ones((1, 16, 20, 20), np.float32), np.ones((32, 4, 3, 3), np.float32)
    decisions = compile(Tensor(x).conv2d(Tensor(w), groups=4, padding=1)).decisions
    assert any(d.reason == "tile i0 8 peel: 4 groups of 8 iterations" for d in decisions)


@pytest.mark.parametrize(("images", "at"), [(1, "i0.0"), (2, "i1.0")])
def test_many_weights_are_packed_by_block(images: int, at: str) -> None:
    x, w = np.ones((images, 300, 9, 9), np.float32), np.ones((512, 300, 3, 3), np.float32)
    made = Tensor(x).conv2d(Tensor(w), stride=2)
    loops = whole_loops(compile(made, Options(loops="plain")))
    packs = choose(loops, replace(DEFAULT, cores=2)).of(Pack)
    assert [(p.slot, p.at) for p in packs] == [(2, at)]
    assert packs[0].because.startswith("weights of ")


@pytest.mark.parametrize(("l2", "channels"), [(1 << 20, 64), (1 << 19, 16)])
def test_packed_weights_stay_in_the_second_cache(l2: int, channels: int) -> None:
    x, w = np.ones((1, 128, 16, 16), np.float32), np.ones((128, 128, 3, 3), np.float32)
    loops = whole_loops(compile(Tensor(x).conv2d(Tensor(w)), Options(loops="plain")))
    caches = (DEFAULT.cache_bytes[0], l2, DEFAULT.cache_bytes[2])
    choices = choose(loops, replace(DEFAULT, cache_bytes=caches, multiply_adds=1.0))
    assert [row.size for row in choices.of(Tile) if row.axis == "i0"] == [channels]


def test_a_batch_of_variable_size() -> None:
    generator = np.random.default_rng(2)
    x = generator.standard_normal((6, 8, 14, 20)).astype(np.float32)
    w = generator.standard_normal((16, 8, 3, 3)).astype(np.float32)
    n = Variable("n", 1, 6)
    made = compile(Tensor(x)[: n.bind(4)].conv2d(Tensor(w), padding=1))
    assert any("16 channels by" in d.reason for d in made.decisions)
    np.testing.assert_allclose(made.run()[0], expected(x[:4], w, PADDED), rtol=1e-4, atol=1e-4)


def test_few_lanes_change_places_to_be_stored() -> None:
    """64 lanes of one byte fit in a vector, but LLVM takes 25 s to write their exchange."""
    x, y = Tensor(np.ones((129, 200), np.uint8)), Tensor(np.ones((3, 200), np.uint8))
    (choices,) = compile((x @ y.mT).reshape(387)).choices.values()
    assert "3 vectors of 32 channels by 3 pixels" in str(choices)
