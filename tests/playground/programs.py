"""Kernels to look at: products, sums and movement, with choices of every kind."""

import numpy as np

import compiler
from compiler import Options, Tensor
from compiler.program.compilation import Compilation

TILED = (
    "tile i0 4; tile i1 16; tile r2 8; reorder i0.0 i1.0 i0.1 i1.1; vectorize i1.1; unroll i0.1"
)


def product(
    rows: int = 24, loops: str = "plain", columns: int = 24, depth: int = 24
) -> Compilation:
    """A product of two matrices as one kernel, k0."""
    rng = np.random.default_rng(0)
    a = Tensor(rng.random((rows, depth), np.float32), name="a")
    b = Tensor(rng.random((depth, columns), np.float32), name="b")
    return compiler.compile(a @ b, Options(loops=choices(loops), threads=2, cache=False))


def choices(loops: str) -> object:
    """Choices as `Options(loops=…)` takes them: a word, or choices for k0."""
    return loops if loops in ("auto", "plain") else {"k0": loops}


def padded_sums() -> Tensor:
    """Sums over windows with a border of zeros: predicates."""
    x = Tensor(np.arange(63, dtype=np.float32).reshape(7, 9), name="x")
    return x.pad(((1, 1), (2, 0))).unfold(0, 3).sum((1,))


def gathered() -> Tensor:
    """Elements at places that data say."""
    x = Tensor(np.arange(40, dtype=np.float32), name="x")
    where = Tensor(np.array([3, 1, 39, 0], np.int64), name="where")
    return x[where]
