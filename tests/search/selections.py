"""Random programs that select by value, with their gradients: a maximum of values that are computed
again where they are compared.

    python -m tests.search.selections --count 1000 --seed 7 --jobs 2
    python -m tests.search.selections --only 7.123

Each program is head(body(x)) with a loss and its gradient in one program. The right gradient is
made without the compiler: the positions that NumPy finds in float64, equal elements treated as
`docs/kinks.md` says, times the slope of the body by a complex step. The exit code is 1 where a
gradient is wrong.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import compiler
from compiler import Options, Tensor

Array = Any
STEP = 1e-40
"""Imaginary step of a slope: so small that its square is 0."""
APART = 1e-3
"""Least distance, of the greatest value, between elements that are not equal: rounding exchanges
none that are further apart."""

BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "x*c + c": lambda x, c: x * c + c,
    "c - x*c": lambda x, c: c - x * c,
    "x*c - c*c": lambda x, c: x * c - c * c,
    "x*x + x": lambda x, c: x * x + x,
    "x/(x*x + 0.7)": lambda x, c: x / (x * x + 0.7),
    "polynomial": lambda x, c: ((x * 0.3 + c) * x - 0.7) * x + 0.1,
    "(x + c)*(x - c) + x": lambda x, c: (x + c) * (x - c) + x,
    "exp(0.3x*c + c)": lambda x, c: (x * c * 0.3 + c).exp() if isinstance(x, Tensor)
    else np.exp(x * c * 0.3 + c),
    "tanh(x)*c + x*c": lambda x, c: (x.tanh() if isinstance(x, Tensor) else np.tanh(x)) * c + x * c,
    "sqrt(x*x + 1)*c - x": lambda x, c: ((x * x + 1).sqrt() if isinstance(x, Tensor)
                                         else np.sqrt(x * x + 1)) * c - x,
    "sin(x)*x + c": lambda x, c: (x.sin() if isinstance(x, Tensor) else np.sin(x)) * x + c,
    "x*c + x*0.5 + c*0.25": lambda x, c: x * c + x * 0.5 + c * 0.25,
}  # fmt: skip
"""Functions of elements whose sums and products could be joined."""


class NoDataError(Exception):
    """No data was found in which elements are equal or far apart: the program is left out."""


@dataclass(frozen=True)
class Head:
    """A function that selects along the last axis, and the share of each element in its gradient.

    `right` gives for values y, and the weight w of each result, the derivative of sum(w * head).
    """

    ours: Callable[[Tensor], Tensor]
    right: Callable[[Array, Array], Array]
    results: Callable[[int], int]
    least: int = 1


def _most(y: Array) -> Array:
    return y.max(-1, keepdims=True)


def _least(y: Array) -> Array:
    return y.min(-1, keepdims=True)


def _shared(y: Array, w: Array, least: Array) -> Array:
    is_it = y == least
    return w[..., :1] * is_it / is_it.sum(-1, keepdims=True)


def _at(places: Array, y: Array, w: Array) -> Array:
    found = np.zeros_like(y)
    np.put_along_axis(found, places, w, -1)
    return found


def _added_at(places: Array, y: Array, w: Array) -> Array:
    found = np.zeros_like(y)
    for number in range(places.shape[-1]):
        at = places[..., number : number + 1]
        held = np.take_along_axis(found, at, -1)
        np.put_along_axis(found, at, held + w[..., number : number + 1], -1)
    return found


def _windows(y: Array, size: int, step: int) -> Array:
    shape = np.lib.stride_tricks.sliding_window_view(y, size, -1)[..., ::step, :]
    return np.argmax(shape, -1) + np.arange(shape.shape[-2]) * step


def _last_greatest(y: Array) -> Array:
    best, places = y[..., 0].copy(), np.zeros(y.shape, int)
    for number in range(1, y.shape[-1]):
        is_new = y[..., number] >= best
        best = np.where(is_new, y[..., number], best)
        places[..., number] = np.where(is_new, number, places[..., number - 1])
    return places


def _order(y: Array) -> Array:
    return np.argsort(y, -1, kind="stable")


def _down(y: Array) -> Array:
    return np.argsort(-y, -1, kind="stable")


HEADS: dict[str, Head] = {
    "max": Head(
        lambda y: y.max(-1, keepdim=True), lambda y, w: _shared(y, w, _most(y)), lambda n: 1),
    "min": Head(
        lambda y: y.min(-1, keepdim=True), lambda y, w: _shared(y, w, _least(y)), lambda n: 1),
    "infinity norm": Head(
        lambda y: y.norm(float("inf"), -1, keepdim=True),
        lambda y, w: np.sign(y) * _shared(abs(y), w, _most(abs(y))), lambda n: 1),
    "max_pool1d(2, 1)": Head(
        lambda y: y.unsqueeze(0).max_pool1d(2, 1).squeeze(0),
        lambda y, w: _added_at(_windows(y, 2, 1), y, w), lambda n: n - 1, 2),
    "max_pool1d(3, 2)": Head(
        lambda y: y.unsqueeze(0).max_pool1d(3, 2).squeeze(0),
        lambda y, w: _added_at(_windows(y, 3, 2), y, w), lambda n: (n - 3) // 2 + 1, 3),
    "cummax": Head(
        lambda y: y.cummax(-1), lambda y, w: _added_at(_last_greatest(y), y, w), lambda n: n),
    "cummin": Head(
        lambda y: y.cummin(-1), lambda y, w: _added_at(_last_greatest(-y), y, w), lambda n: n),
    "sort": Head(lambda y: y.sort(-1), lambda y, w: _at(_order(y), y, w), lambda n: n),
    "topk": Head(
        lambda y: y.topk(2, -1)[0], lambda y, w: _at(_down(y)[..., :2], y, w), lambda n: 2, 2),
    "gather at argmax": Head(
        lambda y: y.gather(-1, y.argmax(-1, keepdim=True)),
        lambda y, w: _at(np.argmax(y, -1)[..., None], y, w), lambda n: 1),
    "mask of the maximum": Head(
        lambda y: ((y == y.max(-1, keepdim=True)).where(y, 0.0)).sum(-1, keepdim=True),
        lambda y, w: w * (y == _most(y)), lambda n: 1),
    "at least the second": Head(
        lambda y: (y >= y.topk(2, -1)[0][..., 1:]).where(y, 0.0).sum(-1, keepdim=True),
        lambda y, w: w * (y >= -np.sort(-y, -1)[..., 1:2]), lambda n: 1, 2),
    "clip at the mean of extremes": Head(
        lambda y: y.minimum((y.max(-1, keepdim=True) + y.min(-1, keepdim=True)).detach() * 0.5),
        lambda y, w: w * (y < (_most(y) + _least(y)) * 0.5), lambda n: n, 2),
    "root of the distance": Head(
        lambda y: (y.max(-1, keepdim=True) - y).detach().sqrt() * 0.0 + y, lambda y, w: w,
        lambda n: n),
    "maximum with itself turned": Head(
        lambda y: y.maximum(y.flip(-1)), lambda y, w: _with_itself(y, w), lambda n: n),
}  # fmt: skip
"""Functions that select, by names that are printed."""


def _with_itself(y: Array, w: Array) -> Array:
    other = y[..., ::-1]
    share = np.where(y > other, 1.0, np.where(y == other, 0.5, 0.0))
    return share * w + share * w[..., ::-1]


OPTIONS = (
    {}, {"optimize": 0}, {"optimize": 3}, {"loops": "plain"}, {"loops": "plain"},
    {"loops": "plain"}, {"threads": 1}, {"kernel_operations": 6}, {"machine": "x86-avx2"},
)  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """A program at random."""

    name: str
    head: str
    body: str
    rows: int
    length: int
    dtype: str
    has_ties: bool
    is_checkpoint: bool
    is_product: bool
    options: dict[str, Any]

    def __str__(self) -> str:
        more = " ties" * self.has_ties + " checkpoint" * self.is_checkpoint
        more += " of a product" * self.is_product
        shape = f"{self.dtype}[{self.rows}, {self.length}]"
        return f"{self.name}: {self.head} of {self.body}, {shape}{more}, {self.options}"


def drawn(seed: int, number: int) -> Drawn:
    """The program of that number."""
    draw = random.Random(f"{seed}.{number}")
    head = draw.choice(list(HEADS))
    length = max(HEADS[head].least + 1, draw.choice((2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 33)))
    return Drawn(
        f"{seed}.{number}", head, draw.choice(list(BODIES)), draw.choice((1, 2, 3, 5, 8)), length,
        draw.choice(("float32", "float32", "float64")), draw.random() < 0.3, draw.random() < 0.15,
        draw.random() < 0.2, draw.choice(OPTIONS),
    )  # fmt: skip


def failure(program: Drawn) -> str:
    """How the gradient of a program is wrong; "" where it is right."""
    generator = np.random.default_rng(_number(program.name))
    x, c, mix = _operands(program, generator)
    head, body = HEADS[program.head], BODIES[program.body]
    z = x.astype(np.float64) @ mix if program.is_product else x.astype(np.float64)
    wide = c.astype(np.float64)
    y = body(z, wide)
    slope = np.imag(body(z + 1j * STEP, wide.astype(complex))) / STEP
    w = generator.integers(1, 5, (program.rows, head.results(program.length))).astype(np.float64)
    by_z = slope * head.right(y, w)
    right = by_z @ mix.T if program.is_product else by_z
    right = right + 2 / np.sqrt(np.pi) * np.exp(-x.astype(np.float64) ** 2)
    leaf = Tensor(x, requires_grad=True)
    inner = leaf @ Tensor(mix.astype(x.dtype)) if program.is_product else leaf
    constant = Tensor(c)
    run = compiler.checkpoint(lambda v: body(v, constant)) if program.is_checkpoint else None
    made = run(inner) if run else body(inner, constant)
    loss = (head.ours(made) * Tensor(w.astype(x.dtype))).sum() + leaf.erf().sum()
    options = Options(**program.options)
    value, gradient = compiler.compile(loss, loss.gradient(leaf), options=options).run()
    if np.isnan(value).any():
        return f"{program}: the loss is NaN"
    scale = max(1.0, float(np.abs(right).max()))
    gap = float(np.abs(np.asarray(gradient, np.float64) - right).max()) / scale
    if gap <= (2e-4 if program.dtype == "float32" else 1e-9):
        return ""
    return f"{program}: off by {gap:.3g}\n  ours  {gradient.tolist()}\n  right {right.tolist()}"


def _number(name: str) -> int:
    seed, number = map(int, name.split("."))
    return seed * 1_000_003 + number


def _operands(program: Drawn, generator: Any) -> tuple[Array, Array, Array]:
    """Data in which elements are equal or far apart."""
    shape = program.rows, program.length
    size = program.length
    for _ in range(500):
        x = generator.standard_normal(shape).astype(program.dtype)
        c = generator.standard_normal(shape).astype(program.dtype)
        mix = np.eye(size) * 2
        if program.is_product:
            mix = generator.integers(-2, 3, (size, size)).astype(np.float64)
        if program.has_ties and not program.is_product and size > 2:
            x[:, -1], c[:, -1] = x[:, 0], c[:, 0]
        inner = x.astype(np.float64) @ mix if program.is_product else x.astype(np.float64)
        y = BODIES[program.body](inner, c.astype(np.float64))
        if _is_apart(y) and (program.head != "infinity norm" or _is_apart(np.abs(y))):
            return x, c, mix
    raise NoDataError(f"no data with distinct values for {program}")


def _is_apart(y: Array) -> bool:
    ordered = np.sort(y, -1)
    gaps = np.diff(ordered, axis=-1)
    middle = (ordered[..., :1] + ordered[..., -1:]) / 2
    scale = max(1.0, float(np.abs(y).max()))
    is_far = (gaps > APART * scale / 8) | (gaps == 0)
    return bool(is_far.all() and (np.abs(y - middle) > APART * scale / 8).all())


def tried(seed: int, numbers: range) -> list[str]:
    """The failures among programs of these numbers."""
    found = []
    for number in numbers:
        program = drawn(seed, number)
        try:
            if wrong := failure(program):
                found.append(wrong)
        except NoDataError:
            continue
        except Exception as error:
            found.append(f"{program}: {type(error).__name__}: {error}")
    return found


def main(given: list[str]) -> int:
    """Search as the arguments say; 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.search.selections", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="the name of a program, e.g. 7.123")
    asked = parser.parse_args(given)
    if asked.only:
        seed, number = map(int, asked.only.split("."))
        print(failure(drawn(seed, number)) or "right")
        return 0
    start = time.monotonic()
    print(f"seed {asked.seed}, {asked.count} programs", flush=True)
    parts = [range(n, min(n + 200, asked.count)) for n in range(0, asked.count, 200)]
    failures: list[str] = []
    with ProcessPoolExecutor(asked.jobs) as pool:
        for part in pool.map(partial(tried, asked.seed), parts):
            for each in part:
                print(f"FAILED {each}", flush=True)
            failures += part
    minutes = (time.monotonic() - start) / 60
    print(f"seed {asked.seed}: {asked.count} programs in {minutes:.1f} min, {len(failures)} failed")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
