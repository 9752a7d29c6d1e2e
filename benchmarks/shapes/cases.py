"""Random single operations: alternating kinds, shapes by seed and number.

A case says its operation three times: ours, PyTorch's, and in NumPy for the check. Work is spread
evenly over the powers of ten, from what a call alone takes to a few milliseconds.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from benchmarks.networks.library import Array
from benchmarks.networks.on_numpy import Numpy, windows
from compiler import Tensor

Shape: TypeAlias = tuple[int, ...]
Random: TypeAlias = np.random.Generator
LEAST, MOST = 64, 2**22
"""Elements of an array."""
LEAST_WORK, MOST_WORK = 2e3, 5e8
"""Multiply-adds of a convolution or a product."""
EACH = 0
"""As many groups as there are channels."""


@dataclass(frozen=True, slots=True)
class Case:
    """One operation on inputs of given shapes; `torch` takes the module first.

    An input of whole numbers has `below` as its bound: all that are not the first are floats.
    """

    kind: str
    text: str
    shapes: tuple[Shape, ...]
    ours: Callable[..., Tensor]
    torch: Callable[..., Any]
    numpy: Callable[..., Any]
    below: int = 0

    def arrays(self) -> list[Array]:
        """The inputs, float32; the first are whole numbers where there is a bound."""
        random = np.random.default_rng(0)
        made: list[Array] = [random.standard_normal(shape, np.float32) for shape in self.shapes]
        if self.below:
            made[0] = random.integers(0, self.below, self.shapes[0], np.int64)
        return made

    def expected(self) -> Array:
        """NumPy's result, in float64."""
        wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in self.arrays()]
        return np.asarray(self.numpy(*wide))

    def __str__(self) -> str:
        shapes = ", ".join("×".join(map(str, shape)) or "1" for shape in self.shapes)
        return f"{self.text} of {shapes}"


def case(seed: int, number: int) -> Case:
    """The case of this number."""
    kind = list(KINDS)[number % len(KINDS)]
    return KINDS[kind](np.random.default_rng((seed, number)))


# -- shapes ------------------------------------------------------------------------------------


def log_uniform(random: Random, low: float, high: float) -> float:
    """As often between 1 and 10 as between 10 and 100."""
    return math.exp(random.uniform(math.log(low), math.log(high)))


def extent(random: Random, low: int, high: int) -> int:
    """An extent; every second one is a multiple of 8 where it can be."""
    return _whole(random, log_uniform(random, low, high))


def _whole(random: Random, found: float) -> int:
    is_even = found >= 8 and random.random() < 0.5
    return int(found) // 8 * 8 if is_even else round(found)


def shape_of(random: Random, rank: int) -> Shape:
    """A shape of some rank; no place among its axes has longer ones than another."""
    count = log_uniform(random, LEAST, MOST)
    shares = random.dirichlet([2.0] * rank)
    return tuple(_whole(random, count**share) for share in shares)


def _pick(random: Random, values: Sequence[Any]) -> Any:
    return values[int(random.integers(len(values)))]


# -- kinds -------------------------------------------------------------------------------------


def convolution(random: Random) -> Case:
    """In one piece, in groups, each channel by itself."""
    work = log_uniform(random, LEAST_WORK, MOST_WORK)
    while True:
        n, size = _pick(random, (1, 1, 2, 4, 8)), _pick(random, (1, 3, 3, 5, 7))
        groups = _pick(random, (1, 1, 2, 4, EACH))
        read, made = extent(random, 1, 128), extent(random, 1, 128)
        rows, columns = extent(random, size, 112), extent(random, size, 112)
        c, o = (read, read) if groups == EACH else (groups * read, groups * made)
        groups = groups or read
        found = n * o * (c // groups) * size**2 * rows * columns
        if work / 4 < found <= work:
            break
    stride, padding = _pick(random, (1, 1, 2)), _pick(random, (0, size // 2))
    library = Numpy()
    word = "depthwise" if 1 < c == groups else f"{groups} groups" if groups > 1 else "conv2d"
    return Case(
        "convolution", f"{word}, stride {stride}, padding {padding}",
        ((n, c, rows, columns), (o, c // groups, size, size), (o,)),
        lambda x, w, b: x.conv2d(w, b, stride=stride, padding=padding, groups=groups),
        lambda t, x, w, b: t.nn.functional.conv2d(x, w, b, stride, padding, 1, groups),
        lambda x, w, b: library.conv2d(x, w, b, stride, padding, groups),
    )  # fmt: skip


def product(random: Random) -> Case:
    """Of matrices, alone or in batches, either of them transposed in memory."""
    work = log_uniform(random, LEAST_WORK, MOST_WORK)
    while True:
        m, k, n = (extent(random, 1, 2048) for _ in range(3))
        batch = _pick(random, ((), (), (extent(random, 1, 64),), (2, extent(random, 1, 16))))
        if work / 4 < math.prod(batch) * m * k * n <= work:
            break
    left, right = bool(random.integers(2)), bool(random.integers(2))

    def multiplied(a: Any, b: Any) -> Any:
        return (a.swapaxes(-1, -2) if left else a) @ (b.swapaxes(-1, -2) if right else b)

    text = f"{'aᵀ' if left else 'a'} @ {'bᵀ' if right else 'b'}"
    shapes = (*batch, k, m) if left else (*batch, m, k), (*batch, n, k) if right else (*batch, k, n)
    return Case("product", text, shapes, multiplied, lambda t, a, b: multiplied(a, b), multiplied)


def reduction(random: Random) -> Case:
    """Over any axes."""
    rank = int(random.integers(1, 5))
    shape, name = shape_of(random, rank), _pick(random, ("sum", "mean", "amax", "amin", "var"))
    axes = tuple(a for a in range(rank) if random.random() < 0.5) or (int(random.integers(rank)),)
    ours = {"amax": "max", "amin": "min"}.get(name, name)
    if name == "var" and math.prod(shape[a] for a in axes) < 2:
        name = ours = "sum"
    options = {"correction": 1} if name == "var" else {}
    degrees = {"ddof": 1} if name == "var" else {}
    return Case(
        "reduction", f"{name} over {axes}", (shape,),
        lambda x: getattr(x, ours)(axes, **options),
        lambda t, x: getattr(t, name)(x, axes, **options),
        lambda x: getattr(np, name)(x, axes, **degrees),
    )  # fmt: skip


def position(random: Random) -> Case:
    """Of the greatest or least element along an axis."""
    rank = int(random.integers(1, 4))
    shape, name = shape_of(random, rank), _pick(random, ("argmax", "argmin"))
    axis = int(random.integers(rank))
    return Case(
        "position", f"{name} along {axis}", (shape,), lambda x: getattr(x, name)(axis),
        lambda t, x: getattr(t, name)(x, axis), lambda x: getattr(np, name)(x, axis),
    )  # fmt: skip


def softmax(random: Random) -> Case:
    """And its logarithm."""
    rank = int(random.integers(1, 4))
    shape, name = shape_of(random, rank), _pick(random, ("softmax", "log_softmax"))
    axis = _pick(random, (rank - 1, rank - 1, int(random.integers(rank))))

    def reference(x: Array) -> Any:
        powers = np.exp(x - x.max(axis, keepdims=True))
        found = powers / powers.sum(axis, keepdims=True)
        return found if name == "softmax" else np.log(found)

    return Case(
        "softmax", f"{name} along {axis}", (shape,), lambda x: getattr(x, name)(axis),
        lambda t, x: getattr(t, name)(x, axis), reference,
    )  # fmt: skip


def permutation(random: Random) -> Case:
    """Copied in another order of axes."""
    rank = int(random.integers(2, 5))
    shape, order = shape_of(random, rank), tuple(int(a) for a in random.permutation(rank))
    return Case(
        "permutation", f"copy in the order {order}", (shape,),
        lambda x: x.permute(order).contiguous(),
        # PyTorch's own copies nothing where the order stays the same.
        lambda t, x: x.permute(order).clone(memory_format=t.contiguous_format),
        lambda x: x.transpose(order).copy(),
    )  # fmt: skip


def broadcast(random: Random) -> Case:
    """Arithmetic on one or two tensors, the second with axes of extent 1."""
    rank = int(random.integers(1, 5))
    shape = shape_of(random, rank)
    other = tuple(n if random.random() < 0.6 else 1 for n in shape)
    name = _pick(random, ("add", "mul", "sub", "maximum", "div", "exp", "tanh", "relu", "sigmoid"))
    if name in ("exp", "tanh", "relu", "sigmoid"):
        known: dict[str, Callable[[Array], Any]] = {
            "exp": np.exp, "tanh": np.tanh, "relu": lambda x: np.maximum(x, 0),
            "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        }  # fmt: skip
        return Case("broadcast", name, (shape,), lambda x: getattr(x, name)(),
                    lambda t, x: getattr(t, name)(x), known[name])  # fmt: skip
    function = getattr(np, {"add": "add", "mul": "multiply", "sub": "subtract",
                            "maximum": "maximum", "div": "divide"}[name])  # fmt: skip
    return Case(
        "broadcast", name, (shape, other), lambda a, b: getattr(a, name)(b),
        lambda t, a, b: getattr(t, name)(a, b), function,
    )  # fmt: skip


def pooling(random: Random) -> Case:
    """The greatest, or the mean, of windows."""
    count = log_uniform(random, 4 * LEAST, MOST)
    size, name = _pick(random, (2, 3, 3, 5)), _pick(random, ("max", "avg"))
    stride, padding = _pick(random, (1, 2, size)), _pick(random, (0, size // 2))
    rows = extent(random, size, max(size + 1.0, min(count, 200**2) ** 0.5))
    columns = extent(random, size, max(size + 1.0, min(count, 200**2) ** 0.5))
    planes = max(1, round(count / rows / columns))
    n = _pick(random, (1, 1, 2, 4)) if planes > 4 else 1

    def reference(x: Array) -> Any:
        widths = ((0, 0), (0, 0), (padding, padding), (padding, padding))
        value = -np.inf if name == "max" else 0.0
        slid = windows(np.pad(x, widths, constant_values=value), size, stride)
        return slid.max((4, 5)) if name == "max" else slid.mean((4, 5))

    return Case(
        "pooling", f"{name} of {size}×{size}, stride {stride}, padding {padding}",
        ((n, planes // n, rows, columns),),
        lambda x: getattr(x, f"{name}_pool2d")(size, stride, padding),
        lambda t, x: getattr(t.nn.functional, f"{name}_pool2d")(x, size, stride, padding),
        reference,
    )  # fmt: skip


def norm(random: Random) -> Case:
    """Rows standardised and scaled, channels of an image scaled and moved, lengths of rows."""
    name = _pick(random, ("layer_norm", "batch_norm", "length"))
    shape = shape_of(random, 4 if name == "batch_norm" else int(random.integers(2, 4)))
    if name == "length":
        return Case(
            "norm", "length of rows", (shape,), lambda x: x.norm(axis=-1),
            lambda t, x: t.linalg.vector_norm(x, dim=-1), lambda x: np.linalg.norm(x, axis=-1),
        )  # fmt: skip
    if name == "layer_norm":
        library = Numpy()
        return Case(
            "norm", name, (shape, shape[-1:], shape[-1:]),
            lambda x, w, b: x.layernorm() * w + b,
            lambda t, x, w, b: t.nn.functional.layer_norm(x, x.shape[-1:], w, b),
            library.layer_norm,
        )  # fmt: skip
    channel = (1, shape[1], 1, 1)

    def scaled(x: Any, mean: Any, spread: Any, w: Any, b: Any) -> Any:
        mean, spread, w, b = (it.reshape(channel) for it in (mean, spread * spread, w, b))
        return (x - mean) / (spread + 1e-5) ** 0.5 * w + b

    return Case(
        "norm", name, (shape, *(shape[1:2],) * 4), scaled,
        lambda t, x, mean, spread, w, b: t.nn.functional.batch_norm(x, mean, spread * spread, w, b),
        scaled,
    )  # fmt: skip


def embedding(random: Random) -> Case:
    """Rows of a table at given positions."""
    width, rows = extent(random, 1, 1024), extent(random, 2, 30_000)
    positions = _pick(random, ((extent(random, 1, 4096),), (extent(random, 1, 64),) * 2))
    return Case(
        "embedding", "rows of a table", (positions, (rows, width)), lambda i, x: x[i],
        lambda t, i, x: t.nn.functional.embedding(i, x), lambda i, x: x[i], below=rows,
    )  # fmt: skip


def scan(random: Random) -> Case:
    """Along any axis."""
    rank = int(random.integers(1, 4))
    shape, axis = shape_of(random, rank), int(random.integers(rank))
    if random.random() < 0.25:
        return Case(
            "scan", f"logcumsumexp along {axis}", (shape,), lambda x: x.logcumsumexp(axis),
            lambda t, x: t.logcumsumexp(x, axis), lambda x: np.logaddexp.accumulate(x, axis),
        )  # fmt: skip
    return Case("scan", f"cumsum along {axis}", (shape,), lambda x: x.cumsum(axis),
                lambda t, x: t.cumsum(x, axis), lambda x: np.cumsum(x, axis))  # fmt: skip


KINDS: dict[str, Callable[[Random], Case]] = {
    make.__name__: make
    for make in (
        convolution, product, reduction, softmax, permutation, broadcast, pooling, norm, embedding,
        scan, position,
    )
}  # fmt: skip
"""A maker for each kind."""
