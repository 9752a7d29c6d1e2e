"""Sums of products: their parts are found, whatever order their operands are in."""

import pytest

from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.products import Product, product_of
from tests.loops.transformed import body_of


def parts(name: str, m: int, n: int, k: int) -> Product | None:
    """The parts of a program's body."""
    seen = accesses(body_of(name, m, n, k))
    assert seen is not None
    return product_of(seen)


@pytest.mark.parametrize(("name", "panel", "is_in_order"), [
    ("matmul", "in2", True),
    ("matmul of integers", "in2", True),
    ("x @ w.T", "in2", False),
    ("x.T @ w", "in2", True),
    ("bmm", "in2", True),
])  # fmt: skip
def test_parts(name: str, panel: str, is_in_order: bool) -> None:
    found = parts(name, 8, 5, 6)
    assert found is not None
    assert found.panel.argument.name == panel and found.other.argument.name != panel
    assert found.is_panel_in_order is is_in_order
    assert (found.rows.extent, found.columns.extent) == (8, 5)
    assert [r.extent for r in found.folded] == [6]


@pytest.mark.parametrize("name", ["softmax", "layernorm", "elementwise", "row sums", "convolution"])
def test_other_kernels_are_no_products(name: str) -> None:
    assert parts(name, 8, 5, 6) is None


def test_batches_stand_outside() -> None:
    found = parts("bmm", 8, 5, 6)
    assert found is not None and [r.extent for r in found.outside] == [3]


def test_vectors_are_no_matrices() -> None:
    assert parts("matmul", 1, 5, 6) is None
    assert parts("matmul", 5, 1, 6) is None
