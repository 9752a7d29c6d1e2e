"""Choices for sums of products of small types: on which machines, how, and what comes of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Options, Tensor, compile
from compiler.core.dtypes import bfloat16
from compiler.core.reason import Reason
from compiler.loops.choices import Dot, Pack
from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.choose import choose
from compiler.loops.choosing.choose_words import words
from compiler.machines.named import MACHINES
from tests.loops.transformed import assert_same, body_of, transform

Array = np.ndarray[Any, Any]
ZEN4 = MACHINES["amd-zen4"].model
OPTIONS = Options(machine="amd-zen4")
LEAST = {"b": -128, "B": 0, "h": -(2**15)}
MOST = {"b": 127, "B": 255, "h": 2**15 - 1}


@pytest.mark.parametrize(("machine", "bytes_", "signs", "halves"), [
    ("amd-zen4", "shifted", "plain", "plain"), ("intel-spr", "shifted", "plain", "plain"),
    ("intel-alderlake", "shifted", "plain", ""), ("arm-neoverse-n1", "plain", "shifted", ""),
    ("apple-m1", "plain", "shifted", ""), ("arm-neoverse-v1", "plain", "plain", "plain"),
    ("amd-zen3", "", "", ""), ("x86-avx512", "", "", ""), ("arm-neon", "", "", ""),
])  # fmt: skip
def test_machines(machine: str, bytes_: str, signs: str, halves: str) -> None:
    model = MACHINES[machine].model
    for name, form in (("bytes", bytes_), ("signs", signs), ("halves", halves)):
        found = choose(body_of(f"matmul of {name}", 64, 64, 64), model).of(Dot)
        assert [row.form for row in found] == [form] * bool(form), name


@pytest.mark.parametrize(("sizes", "why"), [
    ((64, 64, 8), "too short for words"), ((3, 64, 64), "so few rows"),
])  # fmt: skip
def test_what_is_left_to_others(sizes: tuple[int, int, int], why: str) -> None:
    seen = accesses(body_of("matmul of bytes", *sizes))
    assert seen is not None
    found = words(seen, ZEN4)
    assert isinstance(found, Reason) and why in found


def test_other_types_are_left_to_others() -> None:
    for name in ("matmul", "matmul of integers"):
        seen = accesses(body_of(name, 64, 64, 64))
        assert seen is not None
        assert "no instruction sums" in str(words(seen, ZEN4))


@settings(max_examples=12)
@given(st.sampled_from(["bytes", "signs", "halves"]), st.integers(4, 9), st.integers(1, 40),
       st.integers(16, 24), st.sampled_from(["amd-zen4", "intel-alderlake", "arm-neoverse-n1"]))
def test_loops_of_any_size(name: str, m: int, n: int, k: int, machine: str) -> None:
    before = body_of(f"matmul of {name}", m, n, k)
    assert_same(before, transform(before, choose(before, MACHINES[machine].model)))


def values(kind: str, shape: tuple[int, ...], seed: int = 0) -> Array:
    """All values of a type, its ends often."""
    random, low, high = np.random.default_rng(seed), LEAST[kind], MOST[kind]
    values = random.integers(low, high + 1, shape)
    ends = random.choice([low, high, 0], shape)
    return np.where(random.random(shape) < 0.3, ends, values).astype(kind)


def whole(a: Array) -> Array:
    return a.astype(np.int32)


def int32(a: Array) -> Tensor:
    return Tensor(a).cast("int32")


def checked(made: Tensor, expected: Array, options: Options = OPTIONS, dots: int = 1) -> None:
    """Machine code computes `expected`, bit for bit, with so many kernels that multiply words."""
    compilation = compile(made, options)
    found = sum(choices.has("dot") for choices in compilation.choices.values())
    assert found == dots, compilation.decisions
    (result,) = compilation.run()
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("kinds", "sizes"), [
    ("bb", (13, 65, 35)), ("bB", (6, 16, 64)), ("Bb", (4, 200, 67)), ("BB", (130, 9, 129)),
    ("hh", (13, 65, 35)), ("bb", (200, 96, 256)),
])  # fmt: skip
def test_products_are_exact(kinds: str, sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    a, b = values(kinds[0], (m, k)), values(kinds[1], (k, n), 1)
    checked(int32(a) @ int32(b), whole(a) @ whole(b))


def test_ends_of_types_and_sums_that_wrap() -> None:
    for kinds in ("bb", "BB", "hh"):
        a, b = (np.full(shape, LEAST[kinds[0]] or 255).astype(kinds[0])
                for shape in ((8, 4096), (4096, 16)))  # fmt: skip
        with np.errstate(over="ignore"):
            checked(int32(a) @ int32(b), whole(a) @ whole(b))


A, B = values("b", (24, 40)), values("b", (40, 48), 1)
ROWS, COLUMNS = values("b", (40, 24)), values("b", (48, 40))
BATCH, OTHERS = values("B", (3, 24, 40)), values("b", (3, 40, 48))
SQUARE = values("b", (48, 48))
PRODUCTS: dict[str, tuple[Callable[[], Tensor], Callable[[], Array]]] = {
    "rows turned": (lambda: int32(ROWS).T @ int32(B), lambda: whole(ROWS).T @ whole(B)),
    "columns turned": (lambda: int32(A) @ int32(COLUMNS).T, lambda: whole(A) @ whole(COLUMNS).T),
    "by itself": (lambda: _squared(Tensor(SQUARE)), lambda: whole(SQUARE) @ whole(SQUARE)),
    "by itself, turned": (
        lambda: _gram(Tensor(SQUARE)), lambda: whole(SQUARE) @ whole(SQUARE).T,
    ),
    "batches": (lambda: int32(BATCH) @ int32(OTHERS), lambda: whole(BATCH) @ whole(OTHERS)),
    "unsigned sums": (
        lambda: Tensor(A).cast("uint32") @ Tensor(B).cast("uint32"),
        lambda: A.astype(np.uint32) @ B.astype(np.uint32),
    ),
    "a zero point": (lambda: (int32(A) - 77) @ int32(B), lambda: (whole(A) - 77) @ whole(B)),
    "a zero point of each row": (
        lambda: (int32(A) - int32(A[:, :1])) @ int32(B),
        lambda: (whole(A) - whole(A[:, :1])) @ whole(B),
    ),
    "then another scale": (
        lambda: ((int32(A) @ int32(B)).float() * 0.01).round().clip(-128, 127).cast("int8"),
        lambda: np.clip(np.round((whole(A) @ whole(B)).astype(np.float32) * np.float32(0.01)),
                        -128, 127).astype(np.int8),
    ),
}  # fmt: skip


def _squared(x: Tensor) -> Tensor:
    return x.cast("int32") @ x.cast("int32")


def _gram(x: Tensor) -> Tensor:
    return x.cast("int32") @ x.cast("int32").T


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_every_form(name: str) -> None:
    made, expected = PRODUCTS[name]
    checked(made(), expected())


def test_one_layer_after_another_stays_in_bytes() -> None:
    """Values stored between layers have a narrow type and are padded with zeros."""
    x, w = values("B", (1, 16, 8, 20)), values("b", (16, 16, 3, 3))
    made, expected = int32(x), whole(x)
    for _ in range(2):
        made = made.conv2d(int32(w), None, 1, 1).float().mul(2.0**-9).round()
        made = made.clip(0, 255).cast("uint8").cast("int32")
        seen = np.pad(expected, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(seen, (3, 3), axis=(2, 3))
        sums = np.einsum("nchwij,ocij->nohw", windows, whole(w)).astype(np.float32)
        expected = np.clip(np.round(sums * np.float32(2.0**-9)), 0, 255).astype(np.int32)
    checked(made.cast("uint8"), expected.astype(np.uint8), dots=2)


def test_nothing_to_sum_or_to_write() -> None:
    for m, k, n in ((0, 40, 16), (24, 0, 16), (24, 40, 0), (1, 1, 1)):
        a, b = values("b", (m, k)), values("b", (k, n))
        checked(int32(a) @ int32(b), whole(a) @ whole(b), dots=0)


@pytest.mark.parametrize(("step", "border"), [(1, 1), (2, 1), (1, 0)])
def test_convolutions(step: int, border: int) -> None:
    x, w = values("B", (1, 10, 12, 20)), values("b", (16, 10, 3, 3))
    padded = np.pad(whole(x), ((0, 0), (0, 0), (border, border), (border, border)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    expected = np.einsum("nchwij,ocij->nohw", seen[:, :, ::step, ::step], whole(w))
    checked(int32(x).conv2d(int32(w), None, step, border), expected.astype(np.int32))


def test_halves_are_near() -> None:
    random = np.random.default_rng(0)
    a, b = (
        random.standard_normal(shape).astype(bfloat16.numpy) for shape in ((37, 129), (129, 50))
    )
    compilation = compile(Tensor(a) @ Tensor(b), OPTIONS)
    assert compilation.choices["k0"].has("dot")
    sums = compile(Tensor(a).cast("float32") @ Tensor(b).cast("float32"), OPTIONS)
    assert sums.choices["k0"].has("dot")
    x, y = a.astype(np.float64), b.astype(np.float64)
    error = np.abs(sums.run()[0] - x @ y)
    assert np.all(error <= 2.0**-24 * 129 * (np.abs(x) @ np.abs(y)))


def test_left_out_by_name_and_by_machine() -> None:
    product = int32(A) @ int32(B)
    loops = compile(product, OPTIONS).choices["k0"]
    without = replace(OPTIONS, loops={"k0": loops.without("dot")})
    checked(product, whole(A) @ whole(B), without, dots=0)
    none = replace(OPTIONS, machine=replace(ZEN4, dots=()))
    checked(product, whole(A) @ whole(B), none, dots=0)


def test_rows_that_are_apart_are_copied_once() -> None:
    packs = choose(body_of("matmul of bytes", 64, 64, 64), ZEN4).of(Pack)
    turned = compile(int32(ROWS).T @ int32(B), OPTIONS).choices["k0"].of(Pack)
    assert [row.slot for row in packs] == [2] and {row.slot for row in turned} == {1, 2}
