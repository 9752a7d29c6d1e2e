"""A search for gradients that are wrong because a value was compared with a recomputed copy.

    python -m tests.search.selections --count 1000 --seed 7 --jobs 2
    python -m tests.search.selections --only 7.123

Each program is head(body(map(x))) with a loss and its gradient, compiled as one; values
differ by more than rounding, or are equal. The right gradient is made without the compiler: that of
the head by NumPy (`heads.py`), times the slope of the body by a complex step, times the matrix of
the map. The exit code is 1 where a gradient is wrong.
"""

import argparse
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import compiler
from compiler import Options, Tensor
from tests.search.bodies import BODIES, MAPS
from tests.search.heads import HEADS

Array = np.ndarray[Any, Any]
STEP = 1e-40
"""Of the derivative by a complex step, which has no difference to round."""
APART = {"float16": 0.03, "bfloat16": 0.15, "float32": 1e-4, "float64": 1e-4}
"""Least distance of values that are not equal, as a share of the greatest: rounding exchanges none
that are further apart."""
NEAR = {"float16": 2e-2, "bfloat16": 1.5e-1, "float32": 2e-4, "float64": 1e-9}
"""Greatest error of a gradient, as a share of its greatest element."""
TRIES = 60
OPTIONS: tuple[dict[str, Any], ...] = (
    *({"loops": "plain", "verify": False},) * 6, {}, {"optimize": 0}, {"optimize": 1},
    {"optimize": 2, "loops": "plain"}, {"threads": 1}, {"kernel_operations": 6},
    {"machine": "x86-avx2"}, {"machine": "x86-avx512"},
)  # fmt: skip
"""Plain loops most often: they compile in the least time."""


class NoData(Exception):
    """No values of a program are all far apart."""


@dataclass(frozen=True)
class Drawn:
    """A program at random."""

    name: str
    head: str
    body: str
    map: str
    shape: tuple[int, int]
    dtype: str
    has_ties: bool
    way: str
    options: dict[str, Any]

    def __str__(self) -> str:
        ties = ", ties" if self.has_ties else ""
        return (f"{self.name}: {self.head} of {self.body} of {self.map}, "
                f"{self.dtype}{list(self.shape)}{ties}, {self.way}, {self.options}")  # fmt: skip


def drawn(seed: int, number: int) -> Drawn:
    """The program of that number."""
    draw = random.Random(f"{seed}.{number}")
    head = draw.choice(list(HEADS))
    kind = draw.choice(("float32",) * 5 + ("float64",) * 3 + ("float16", "bfloat16"))
    is_half = kind.endswith("16")
    lengths = (2, 3, 4, 5) if is_half else (2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33)
    length = max(HEADS[head].least, draw.choice(lengths))
    rows = draw.choice((1, 2) if is_half or "all" in head else (1, 2, 3, 5, 8))
    has_ties = HEADS[head].has_ties and draw.random() < 0.3
    row_map = "x" if is_half or has_ties or draw.random() < 0.6 else draw.choice(list(MAPS))
    way = draw.choice(("written",) * 6 + ("checkpoint of the body", "checkpoint", "seen"))
    return Drawn(f"{seed}.{number}", head, draw.choice(list(BODIES)), row_map, (rows, length),
                 kind, has_ties, way, draw.choice(OPTIONS))  # fmt: skip


def failure(program: Drawn) -> str:
    """How the gradient of a program is wrong; "" where it is right."""
    draw = np.random.default_rng(_number(program.name))
    x, c, matrix = operands(program, draw)
    leaf, constant = Tensor(x).cast(program.dtype), Tensor(c).cast(program.dtype)
    leaf = Tensor(leaf.numpy(), dtype=program.dtype, requires_grad=True)
    body, row_map = BODIES[program.body], MAPS[program.map][1]
    right_factor = Tensor(matrix).cast(program.dtype)

    def values(v: Tensor) -> Tensor:
        return body(row_map(v, right_factor), constant)  # type: ignore[no-any-return]

    head = HEADS[program.head].ours
    if program.way == "checkpoint":
        made = compiler.checkpoint(lambda v: head(values(v)))(leaf)
    elif program.way == "checkpoint of the body":
        made = head(compiler.checkpoint(values)(leaf))
    else:
        made = head(values(leaf))
    w = draw.integers(1, 5, made.shape).astype(np.float64)
    loss = (made * Tensor(w).cast(program.dtype)).sum()
    value, gradient = _run(program, loss, leaf)
    if np.isnan(value).any():
        return f"{program}: the loss is NaN"
    right = _right(program, x, c, matrix, w)
    scale = max(1.0, float(np.abs(right).max()))
    gap = float(np.abs(gradient - right).max()) / scale
    if gap <= NEAR[program.dtype]:
        return ""
    return f"{program}: off by {gap:.3g}\n  ours  {gradient.tolist()}\n  right {right.tolist()}"


def _run(program: Drawn, loss: Tensor, leaf: Tensor) -> tuple[Array, Array]:
    """The loss and its gradient: as one program, or the loss looked at before."""
    if program.way == "seen":
        value = loss.numpy()
        loss.backward()
        assert leaf.grad is not None
        return value, leaf.grad.cast("float64").numpy()
    gradient = loss.gradient(leaf).cast("float64")
    found = compiler.compile(loss, gradient, options=Options(**program.options)).run()
    return np.asarray(found[0], np.float64), np.asarray(found[1], np.float64)


def _right(program: Drawn, x: Array, c: Array, matrix: Array, w: Array) -> Array:
    """The gradient by NumPy."""
    z, body = x @ matrix, BODIES[program.body]
    slope = np.imag(body(z + 1j * STEP, c.astype(complex))) / STEP
    by_y = HEADS[program.head].right(body(z, c), w)
    found: Array = (slope * by_y) @ matrix.T
    return found


def _number(name: str) -> int:
    seed, number = map(int, name.split("."))
    return seed * 1_000_003 + number


def operands(program: Drawn, draw: np.random.Generator) -> tuple[Array, Array, Array]:
    """Data, as numbers that the type has. Each two values of the body are far apart, or equal since
    their operands are: other equal values, as of x*x + x at -17/16 and 1/16, can round apart."""
    length = program.shape[1]
    for _ in range(TRIES):
        x, c = (_rounded(draw.standard_normal(program.shape), program.dtype) for _ in range(2))
        matrix = MAPS[program.map][0](length, draw)
        if program.has_ties and length > 1:
            x[:, -1], c[:, -1] = x[:, 0], c[:, 0]
        z = x @ matrix
        y, least = BODIES[program.body](z, c), APART[program.dtype]
        _, once = np.unique(np.stack([z.ravel(), c.ravel()]), axis=1, return_index=True)
        if _is_apart(y, once, least) and _is_apart(np.abs(y), once, least):
            return x, c, matrix
    raise NoData(str(program))


def _rounded(values: Array, dtype: str) -> Array:
    """The nearest numbers of a type, in float64; short ones for types of 16 bits."""
    if dtype.endswith("16"):
        return np.round(values * 16) / 16
    return values.astype(dtype).astype(np.float64)


def _is_apart(y: Array, once: Array, least: float) -> bool:
    """True if the values at `once`, the flat places of distinct operands, are far from each other,
    and all values from the middle of their row."""
    limit = least * max(1.0, float(np.abs(y).max()))
    gaps = np.diff(np.sort(y.ravel()[once]))
    middle = (y.max(1, keepdims=True) + y.min(1, keepdims=True)) / 2
    is_far = np.abs(y - middle) > limit
    is_same = np.ptp(y, axis=1, keepdims=True) == 0
    return bool((gaps > limit).all() and (is_far | is_same).all())


def tried(seed: int, numbers: range) -> tuple[int, list[str]]:
    """How many programs of these numbers ran, and the failures among them."""
    found, count = [], 0
    for number in numbers:
        program = drawn(seed, number)
        try:
            wrong = failure(program)
        except NoData:
            continue
        except Exception as error:
            wrong = f"{program}: {type(error).__name__}: {error}"
        count += 1
        if wrong:
            found.append(wrong)
    return count, found


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
        try:
            print(failure(drawn(seed, number)) or "right")
        except NoData as error:
            print(f"{error}: no data of which all values are far apart")
        return 0
    start, ran, failed = time.monotonic(), 0, 0
    parts = [range(n, min(n + 100, asked.count)) for n in range(0, asked.count, 100)]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for count, failures in pool.map(partial(tried, asked.seed), parts):
            ran, failed = ran + count, failed + len(failures)
            for each in failures:
                print(f"FAILED {each}", flush=True)
            minutes = (time.monotonic() - start) / 60
            print(f"seed {asked.seed}: {ran} programs, {minutes:.1f} min, {failed} failed",
                  flush=True)  # fmt: skip
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
