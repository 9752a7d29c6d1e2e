"""Random programs of everyday operations: derivatives against finite differences along a direction.

python -m tests.gradients.programs [--seconds 60] [--seed N]     N repeats one program
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import compiler
from compiler import Tensor
from tests.differences import values

Array = np.ndarray[Any, Any]
STEP = 1e-6
CLOSE = 2e-4
"""Relative error that is allowed: differences of float64 lose half of its digits, and programs that
magnify what they are given lose more."""
MOST = 600
"""Elements of a tensor: larger ones are summed first."""
_UNARY = (
    "abs", "sin", "cos", "tanh", "sigmoid", "relu", "gelu", "silu", "softplus", "erf", "atan",
    "square", "mish", "elu", "softsign", "leaky_relu", "asinh", "neg", "hardtanh", "relu6",
    "contiguous", "log1p of size", "sqrt of size", "expm1", "cosh", "erfc", "cbrt of size",
)  # fmt: skip
_BINARY = ("add", "sub", "mul", "maximum", "minimum", "atan2", "hypot", "logaddexp", "div by size",
           "fmax", "copysign", "pow of size", "mod by size")  # fmt: skip
_MOVES = ("permute", "flip", "roll", "pad", "slice", "stride", "tile", "cat", "stack", "unsqueeze",
          "repeat", "diagonal", "tril", "unfold", "flat")  # fmt: skip
_PICKS = ("take", "rows", "gather", "sort", "topk", "scatter_add", "scatter", "max places", "amax",
          "prod", "set", "mask", "median", "index_add", "nll")  # fmt: skip
_FOLDS = ("sum", "mean", "max", "min", "prod", "logsumexp", "var", "norm", "std")


@dataclass
class Program:
    """One program: what it starts from, and the choices that it is made of, by a seed."""

    seed: int
    words: list[str] = field(default_factory=list)

    def inputs(self) -> list[Array]:
        """Two or three arrays of small shapes, some of them empty."""
        r = np.random.default_rng(self.seed)
        made = []
        for _ in range(int(r.integers(2, 4))):
            extents = r.choice([1, 2, 3, 4, 5], int(r.integers(0, 4)))
            if r.random() < 0.03 and extents.size:
                extents[0] = 0
            made.append(r.standard_normal([int(n) for n in extents]))
        return made

    def run(self, *inputs: Tensor) -> Tensor:
        """The result, one element."""
        r = np.random.default_rng(self.seed + 1)
        self.words.clear()
        held = list(inputs)
        for _ in range(int(r.integers(2, 9))):
            x = held[int(r.integers(len(held)))]
            step = STEPS[int(r.integers(len(STEPS)))]
            made = step(self, r, x, held)
            if made is not None:
                held.append(made if made.size <= MOST else made.tanh().sum(tuple(range(made.ndim))))
        total = held[0].sum() * 0
        for n, each in enumerate(held):
            total = total + (each * 0.3).tanh().sum() * (n + 1)
        return total

    def noted(self, word: str) -> str:
        self.words.append(word)
        return word


Step = Callable[[Program, np.random.Generator, Tensor, list[Tensor]], Tensor | None]


def size(x: Tensor) -> Tensor:
    """Numbers that are far from 0."""
    return x.abs() + 0.5


def unary(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor:
    name, _, of_size = p.noted(_UNARY[r.integers(len(_UNARY))]).partition(" of ")
    made: Tensor = getattr(size(x) if of_size else x.clip(-30, 30), name)()
    return made


def binary(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor | None:
    y = held[int(r.integers(len(held)))]
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return None
    name = p.noted(_BINARY[r.integers(len(_BINARY))])
    if name == "pow of size":
        return size(x).clip(0, 5).pow(y.clip(-3, 3))
    plain, _, by_size = name.partition(" by ")
    made: Tensor = getattr(x, plain)(size(y) if by_size else y)
    return made


def fold(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor | None:
    if not x.ndim or not x.size:
        return None
    axes = tuple(int(a) for a in np.flatnonzero(r.random(x.ndim) < 0.5)) or (0,)
    name = p.noted(_FOLDS[r.integers(len(_FOLDS))])
    if name in ("var", "std") and np.prod([x.shape[a] for a in axes]) < 2:
        return None
    given = {"axis": axes, "keepdim": bool(r.random() < 0.5)}
    made: Tensor = getattr(x, name)(**given)
    return made


def scan(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor | None:
    if not x.ndim:
        return None
    name = p.noted(("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")[r.integers(5)])
    made: Tensor = getattr(x, name)(int(r.integers(x.ndim)))
    return made


def move(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor | None:
    if not x.ndim:
        return x.reshape(1, 1).expand(2, 3)
    axis, n = int(r.integers(x.ndim)), x.shape[0]
    match p.noted(_MOVES[r.integers(len(_MOVES))]):
        case "permute":
            return x.permute(*(int(a) for a in r.permutation(x.ndim)))
        case "flip":
            return x.flip(axis)
        case "roll":
            return x.roll(int(r.integers(-3, 4)), axis)
        case "pad":
            mode = ("constant", "reflect", "replicate")[r.integers(3)]
            if mode != "constant" and x.shape[axis] < 2:
                return None
            return x.pad([(1, 1) if a == axis else (0, 0) for a in range(x.ndim)], mode=mode)
        case "slice":
            return x[int(r.integers(0, n + 1)) :]
        case "stride":
            return x[:: int(r.choice([-2, -1, 2]))]
        case "tile":
            return x.tile(2)
        case "cat":
            return x.cat(x * 2, x.sin(), dim=axis)
        case "stack":
            return x.stack(x.cos(), dim=axis)
        case "unsqueeze":
            return x.unsqueeze(axis)
        case "repeat":
            return x.repeat_interleave(2, axis)
        case "diagonal":
            return x.diagonal() if x.ndim > 1 else x.diag()
        case "tril":
            return x.tril(int(r.integers(-1, 2))) if x.ndim > 1 else None
        case "unfold":
            return x.unfold(axis, 2, int(r.integers(1, 3))) if x.shape[axis] > 1 else None
    return x.flatten()


def pick(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor | None:
    if not x.ndim or not x.size:
        return None
    axis = int(r.integers(x.ndim))
    n = x.shape[axis]
    rows = r.integers(0, n, 3)
    match p.noted(_PICKS[r.integers(len(_PICKS))]):
        case "take":
            return x.take(rows, axis)
        case "rows":
            return x[r.integers(0, x.shape[0], (2, 2))]
        case "gather":
            return x.take_along_axis(x.detach().argsort(axis), axis)
        case "sort":
            return x.sort(axis, descending=bool(r.random() < 0.5))
        case "topk":
            return x.topk(int(r.integers(0, n + 1)), axis)[0]
        case "scatter_add":
            return (x * 0.5).scatter_add(axis, r.integers(0, n, x.shape), x.sin())
        case "scatter":
            return x.scatter(axis, r.integers(0, n, x.shape), x.cos())
        case "amax" | "prod" as kind:
            places = r.integers(0, n, x.shape)
            return (x * 0.5).scatter_reduce(axis, places, x.sin(), kind)
        case "max places":
            return x.take_along_axis(x.argmax(axis, keepdim=True), axis)
        case "set":
            return x.set((slice(0, 1),), x[-1:].sin())
        case "mask":
            return (x > 0.2).where(x * x, x * 0.5)
        case "median":
            return x.median(axis)
        case "index_add":
            return x.index_add(axis, rows, x.take(rows, axis).sin())
    return x.log_softmax(axis).cross_entropy(r.integers(0, x.shape[1], x.shape[0])) \
        if x.ndim == 2 else None  # fmt: skip


def product(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor | None:
    if x.ndim < 2:
        return x.outer(x) if x.ndim else None
    match p.noted(("matmul", "einsum", "attention", "with itself", "dot")[r.integers(5)]):
        case "matmul":
            y = held[0].flatten()
            n = x.shape[-1]
            return x @ y[:1].expand(n).reshape(n, 1) if y.size else None
        case "einsum":
            return Tensor.einsum("...i,...j->...ij", x[..., :3], x.sin()[..., :2])
        case "attention":
            return x.scaled_dot_product_attention(x.sin(), x.cos(), is_causal=True)
        case "with itself":
            return x @ x.transpose(-1, -2)
    return (x.flatten()).dot(x.cos().flatten())


def window(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor | None:
    if x.ndim < 2 or min(x.shape[-2:], default=0) < 2:
        return None
    image = x.reshape(-1, 1, *x.shape[-2:])
    match p.noted(("conv", "transposed", "max_pool", "avg_pool", "adaptive")[r.integers(5)]):
        case "conv":
            w = held[0].flatten()
            w = (w.sum() + Tensor(r.standard_normal((2, 1, 2, 2)))).tanh()
            return image.conv2d(w, stride=int(r.integers(1, 3)), padding=int(r.integers(2)))
        case "transposed":
            w = (held[0].sum() * 0.1 + Tensor(r.standard_normal((1, 2, 2, 2)))).tanh()
            return image.conv_transpose2d(w, stride=int(r.integers(1, 3)))
        case "max_pool":
            return image.max_pool2d(2, int(r.integers(1, 3)), int(r.integers(2)))
        case "avg_pool":
            return image.avg_pool2d(2, int(r.integers(1, 3)), int(r.integers(2)))
    return image.adaptive_max_pool2d(2)


def normalised(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor | None:
    if not x.ndim or not x.size:
        return None
    axis = int(r.integers(x.ndim))
    name = p.noted(("softmax", "log_softmax", "layernorm", "normalize", "rms_norm")[r.integers(5)])
    if name == "normalize":
        return (x + 0.1).normalize(2, axis)
    made: Tensor = getattr(x, name)(axis)
    return made


def loop(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor:
    p.noted("repeat")
    other = held[-1].sum() * 0.1
    made: Any = compiler.repeat(
        int(r.integers(0, 5)), lambda i, v: (v * 0.7 + other).sin() + i.cast(v.dtype) * 0.1, x
    )
    found: Tensor = made
    return found


def inner(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor:
    p.noted("an inner gradient")
    found: Tensor = compiler.grad(lambda v: (v.sin() * v).sum())(x)
    return found


def kept(p: Program, r: np.random.Generator, x: Tensor, held: list[Tensor]) -> Tensor:
    p.noted("checkpoint")
    found: Tensor = compiler.checkpoint(lambda v: (v * 1.5).sin().exp())(x)
    return found


STEPS: tuple[Step, ...] = (unary, unary, unary, binary, binary, fold, fold, scan, move, move, move,
                           pick, pick, product, window, normalised, loop, inner, kept)  # fmt: skip


def difference(seed: int, is_compiled: bool = False, is_second: bool = False) -> str:
    """The errors in the gradients of a program, or in those of its gradients; "" for none."""
    program = Program(seed)
    arrays = program.inputs()
    along = [np.random.default_rng(seed + 9).standard_normal(a.shape) for a in arrays]

    def value(*inputs: Tensor) -> Tensor:
        y = program.run(*inputs)
        if not is_second:
            return y
        slopes = y.gradient(*inputs, allow_unused=True)
        total = y * 0
        for slope, v in zip(slopes, along, strict=True):
            total = total + (slope * v).sum().tanh()
        return total

    inputs = [Tensor(a) for a in arrays]
    y = value(*inputs)
    words = " ".join(program.words)
    found = y.gradient(*inputs, allow_unused=True)
    if is_compiled:
        found[0].realize(*found[1:])
    slopes = [each.numpy() for each in found] if is_compiled else values(*found)
    if not seed % 8:
        _, change = compiler.jvp(value, inputs, along)
        forwards = float(values(change)[0])
        reverse = float(sum((g * v).sum() for g, v in zip(slopes, along, strict=True)))
        if np.isfinite([forwards, reverse]).all() and not _is_close(forwards, reverse, slopes):
            return f"seed {seed}: {words}: forwards {forwards}, in reverse {reverse}"
    errors = []
    for attempt in range(3):  # a kink may lie between the ends
        r = np.random.default_rng(seed + 2 + attempt)
        way = [r.standard_normal(a.shape) for a in arrays]
        step = STEP / 3**attempt
        ends = [
            float(
                values(
                    value(*(Tensor(a + s * step * v) for a, v in zip(arrays, way, strict=True)))
                )[0]
            )
            for s in (1, -1)
        ]
        wanted = (ends[0] - ends[1]) / (2 * step)
        got = float(sum((g * v).sum() for g, v in zip(slopes, way, strict=True)))
        if not np.isfinite(ends).all() and not np.isfinite(got):
            return ""
        if _is_close(got, wanted, slopes):
            return ""
        errors.append(f"{got} for {wanted}")
    return f"seed {seed}: {words}: {'; '.join(errors)}"


def _is_close(got: float, wanted: float, slopes: list[Array]) -> bool:
    return abs(got - wanted) <= CLOSE * (1 + sum(float(np.abs(g).sum()) for g in slopes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--second", action="store_true", help="gradients of gradients")
    given = parser.parse_args()
    if given.seed is not None:
        print(difference(given.seed, False, given.second) or "equal")
        return
    end, count, wrong = time.time() + given.seconds, 0, 0
    first = int(time.time()) % 10**6 * 1000
    while time.time() < end:
        try:
            found = difference(first + count, count % 20 == 0, given.second)
        except Exception as error:
            found = f"seed {first + count}: {type(error).__name__}: {error}"
        if found:
            wrong += 1
            print(found, flush=True)
        count += 1
    print(f"{count} programs, {wrong} that differ")


if __name__ == "__main__":
    main()
