"""Programs written with tensors, one per feature of the compiler; what the machine code runs on."""

from collections.abc import Callable

import numpy as np

from compiler.tensor import Tensor

_rng = np.random.default_rng(11)


def floats(*shape: int, dtype: str = "float32") -> Tensor:
    """Random numbers of a normal distribution."""
    return Tensor(_rng.standard_normal(shape).astype(dtype))


def integers(*shape: int) -> Tensor:
    """Random whole numbers from -9 to 9."""
    return Tensor(_rng.integers(-9, 10, shape))


def softmax() -> Tensor:
    """One kernel, with two reductions inside."""
    return floats(16, 10).softmax(1)


def layernorm() -> Tensor:
    """Reductions of reductions."""
    return floats(8, 32).layernorm(1)


def perceptron() -> Tensor:
    """Two layers, each a product with an epilogue."""
    x, first, second = floats(8, 20), floats(20, 16), floats(16, 4)
    hidden = (x @ first + floats(16)).relu()
    return (hidden @ second + floats(4)).softmax(1)


def argmax() -> Tensor:
    """The first of equal maxima."""
    return integers(6, 7).argmax(1)


def moved() -> Tensor:
    """A pad, a flip and a slice with a step."""
    return floats(5, 6).pad(((1, 2), (0, 3))).flip(1)[1::2, ::3]


def joined() -> Tensor:
    """Two tensors side by side."""
    return floats(3, 4).cat(floats(3, 2), dim=1)


def spread() -> Tensor:
    """Variance and standard deviation."""
    x = floats(4, 9, dtype="float64")
    return x.var(1) + x.std(1)


def truth() -> Tensor:
    """any and all of comparisons."""
    x = floats(5, 6)
    return (x > 0).any(1) & ~(x > 1).all(1)


def whole() -> Tensor:
    """A product of integer matrices, which wraps."""
    return integers(5, 6) @ integers(6, 4)


def nothing() -> Tensor:
    """No elements in, no elements out."""
    return (floats(0, 4) + 1).exp()


def empty_sum() -> Tensor:
    """No elements in, zeros out."""
    return floats(3, 0).sum(1)


def scalar() -> Tensor:
    """Rank 0 throughout."""
    return (Tensor(np.array(2.5, "float32")) * 2).sqrt()


def halves() -> Tensor:
    """Half precision."""
    return (floats(4, 8, dtype="float16") * 3).sum(0)


def constant() -> Tensor:
    """A result that needs no input."""
    return Tensor.full((3, 2), 1.5) + Tensor.arange(2)


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    each.__name__: each
    for each in (
        softmax, layernorm, perceptron, argmax, moved, joined, spread, truth, whole, nothing,
        empty_sum, scalar, halves, constant,
    )
}  # fmt: skip
