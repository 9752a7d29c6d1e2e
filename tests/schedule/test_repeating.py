"""Values recomputed at each use, or stored: the decision follows from both costs."""

from dataclasses import replace

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.graph.nodes import Buffer, Cast, Reduce, TensorNode, const
from compiler.machines.model import DEFAULT
from compiler.schedule.repeating import in_words
from compiler.settings.options import Options
from tests.loops.programs import data, matmul, op, softmax
from tests.schedule.test_partition import parts, realized, reasons


def decision(name: str, *roots: TensorNode, options: Options | None = None) -> tuple[bool, str]:
    """The decision about an operation: true if it is fused, and the reason."""
    found = reasons(parts(*roots, options=options))
    return next((is_fused, why) for op_name, is_fused, why in found if op_name == name)


@pytest.mark.parametrize("rows", [64, 4096])
def test_one_kernel_goes_twice_over_a_row(rows: int) -> None:
    x = op("exp", data(rows, 1024))
    both = op("mul", x, data(rows, 1024))
    root = op("add", Reduce((x,), "sum", (1,)), Reduce((both,), "sum", (1,)))
    is_fused, why = decision("exp", root)
    assert is_fused and why.startswith(f"{rows * 1024:,} evaluations where it is read cost")
    assert realized(parts(root)) == [f"add {rows},1"]


@pytest.mark.parametrize(("name", "is_fused"), [("exp", True), ("neg", True), ("sin", False)])
def test_two_kernels_read_what_one_element_costs(name: str, is_fused: bool) -> None:
    x = op(name, data(4096, 1024))
    found, why = decision(name, Reduce((x,), "sum", (1,)), Reduce((x,), "max", (1,)))
    assert found == is_fused and why.startswith("8,388,608 evaluations where it is read cost")


def test_both_costs_are_in_the_words() -> None:
    x = op("exp", data(4096, 1024))
    why = decision("exp", Reduce((x,), "sum", (1,)), Reduce((x,), "max", (1,)))[1]
    # 0.12 ns and 4 bytes at 30 per ns, twice; once, then 4 bytes at 12 per ns written, twice read
    expected = (
        "8,388,608 evaluations where it is read cost 2,125.11 µs; once, in memory, "
        "2,780.52 µs; saves 16,777,216 bytes"
    )
    assert why == expected


@pytest.mark.parametrize(("n", "is_fused"), [(4, True), (16, False), (64, False), (512, False)])
def test_a_dear_operand_of_a_product_is_computed_once(n: int, is_fused: bool) -> None:
    operand = op("tanh", op("exp", data(n, n)))
    found, why = decision("tanh", matmul(operand, data(n, n)))
    assert found == is_fused and why.startswith(f"{n**3:,} evaluations where it is read cost")


@pytest.mark.parametrize(("n", "is_fused"), [(4, True), (16, True), (64, False)])
def test_a_cheap_operand_of_a_product(n: int, is_fused: bool) -> None:
    assert decision("max", matmul(op("relu", data(n, n)), data(n, n)))[0] == is_fused


def test_what_is_chosen_for_each_of_nine_windows_is_chosen_once() -> None:
    """Without the choice in its loop, the maximum of a window is twice as fast."""
    pooled = compiler.compile(Tensor(np.ones((4, 8, 32, 32), np.float32)).max_pool2d(3, 1, 1))
    assert len(pooled.schedule.items) == 2
    assert any("the loops of the fused kernel" in d.reason for d in pooled.decisions if not d.taken)


def test_what_a_fused_sum_folds_is_not_written_for_it() -> None:
    """Its results are fewer: nine windows read each result, and none of its products."""
    x, w = (Tensor(np.ones(s, np.float32)) for s in ((1, 8, 28, 28), (16, 8, 3, 3)))
    images = x.conv2d(w).conv2d(Tensor(np.ones((16, 1, 3, 3), np.float32)), groups=16).node
    found = parts(images)
    sizes = [node.size for node in found.realized]
    assert max(sizes) <= 16 * 26 * 26, "no product of a pixel and a weight"


def test_a_product_that_two_kernels_read_is_written() -> None:
    product = matmul(data(64, 64), data(64, 64))
    result = parts(op("exp", product), op("neg", product))
    assert realized(result) == ["reduce sum 64,64,1", "exp 64,64", "neg 64,64"]
    # 64 products of 2 × 4 bytes at 160 per ns, multiplied and added in 0.014 ns; twice, or once
    why = (
        "2 kernels read the result; fused, each would repeat the reduction: 8,192 evaluations "
        "where it is read cost 38.80 µs; once, in memory, 20.01 µs"
    )
    assert reasons(result)[0] == ("reduce sum", False, why)


def test_the_machine_decides() -> None:
    x = op("exp", data(4096, 1024))
    roots = Reduce((x,), "sum", (1,)), Reduce((x,), "max", (1,))
    fast = replace(DEFAULT, read=(500.0, 250.0, 120.0, 40.0), write=(500.0, 250.0, 120.0, 28.0))
    assert decision("exp", *roots)[0]
    assert not decision("exp", *roots, options=Options(machine=fast))[0]


@pytest.mark.parametrize("columns", [10, 1024, 4096])
def test_softmax_stays_one_kernel(columns: int) -> None:
    assert realized(parts(softmax(data(64, columns)))) == [f"fdiv 64,{columns}"]


def test_conversions_of_small_factors_belong_to_their_sum() -> None:
    """Factors of dot products of bytes: their conversions, and the zero point below them."""
    def bytes_of(number: int) -> TensorNode:
        return Buffer((), number, (8, 8), dtypes.int8, f"b{number}")

    a, b = (Cast((bytes_of(n),), dtypes.int32) for n in (1, 2))
    zero = const(3, dtypes.int32, (8, 8))
    shifted = op("sub", a, zero)
    for left, wanted in ((a, {a, b}), (shifted, {shifted, zero, a, b})):
        total = Reduce((op("mul", left, b),), "sum", (1,))
        assert in_words(toposort([total])) == wanted
    wide = Cast((Buffer((), 3, (8, 8), dtypes.int32, "wide"),), dtypes.int32)
    for product in (op("mul", a, wide), op("add", a, b)):
        assert in_words(toposort([Reduce((product,), "sum", (1,))])) == set()
    assert in_words(toposort([Reduce((op("mul", a, b),), "max", (1,))])) == set()
