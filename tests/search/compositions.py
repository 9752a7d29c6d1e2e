"""A search for compositions whose kernels take longer than those of their operations one by one.

    python -m tests.search.compositions --seconds 600
    python -m tests.search.compositions --measured 300      estimates and measured times
    python -m tests.search.compositions --only 7.123        one case again, its kernels printed

A case is a chain of two to four operations, of the kinds that networks are made of, on shapes
drawn at random. It is compiled as it stands, and with each operation's result stored to memory; the
estimates of the two are compared. `MOST` is how much more the first may take. Fusion decisions rest
on estimates; `--measured` compares these with measured times, on the model of this machine.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import compiler
from compiler import MachineModel, Options, Tensor
from compiler.core.errors import CompileError

MOST = 1.3
"""How much longer a composition may take than its operations one by one, as estimated."""
SMALL_NS = 3000.0
"""Nanoseconds below which a composition is not looked at: launches are most of it."""
MEDIAN, FAR = 1.3, 2.5
"""How far estimates may be from what is measured: half of them, and each."""
MOMENT = 0.05
"""Seconds that each case is measured for."""
Operation = Callable[["Draw", Tensor], Tensor]


class Draw:
    """The numbers of one case."""

    def __init__(self, case: str) -> None:
        self.random = random.Random(case)
        self.values = np.random.default_rng(1)
        self.words: list[str] = []

    def one(self, *choices: int) -> int:
        return self.random.choice(choices)

    def array(self, *shape: int) -> Tensor:
        return Tensor(self.values.random(shape, np.float32) - np.float32(0.5))

    def say(self, words: str) -> None:
        self.words.append(words)


# --- operations on images -------------------------------------------------------------------------


def convolution(draw: Draw, x: Tensor) -> Tensor:
    channels = x.shape[1]
    kernel, stride = draw.one(1, 3, 3, 3, 5, 7), draw.one(1, 1, 1, 2)
    groups = draw.one(1, 1, 1, channels) if channels <= 64 else 1
    out = channels if groups > 1 else draw.one(8, 16, 32, 33, 64)
    padding = draw.one(0, kernel // 2, kernel // 2)
    kernel = min(kernel, x.shape[2] + 2 * padding)
    draw.say(f"conv {out}×{kernel}² stride {stride} padding {padding} groups {groups}")
    weights = draw.array(out, channels // groups, kernel, kernel)
    return x.conv2d(weights, stride=stride, padding=padding, groups=groups)


def bias(draw: Draw, x: Tensor) -> Tensor:
    draw.say("+ bias")
    return x + draw.array(x.shape[1], *([1] * (len(x.shape) - 2)))


def pooling(draw: Draw, x: Tensor) -> Tensor:
    if min(x.shape[2:]) < 4:
        return x
    size, stride, padding = draw.random.choice(((2, 2, 0), (3, 2, 1), (3, 1, 1), (2, 1, 0)))
    if draw.one(0, 1):
        draw.say(f"max_pool {size} {stride} {padding}")
        return x.max_pool2d(size, stride=stride, padding=padding)
    draw.say(f"avg_pool {size} {stride}")
    return x.avg_pool2d(size, stride=stride)


def two_convolutions(draw: Draw, x: Tensor) -> Tensor:
    out = draw.one(8, 16, 32)
    draw.say(f"conv {out}×3² + conv {out}×1²")
    wide = draw.array(out, x.shape[1], 3, 3)
    return x.conv2d(wide, padding=1) + x.conv2d(draw.array(out, x.shape[1], 1, 1))


def per_channel(draw: Draw, x: Tensor) -> Tensor:
    draw.say("normalised by channel")
    mean = x.mean((2, 3), keepdims=True)
    return (x - mean) * (((x - mean) ** 2).mean((2, 3), keepdims=True) + 1e-5) ** -0.5


def averaged(draw: Draw, x: Tensor) -> Tensor:
    draw.say("mean over pixels")
    return x.mean((2, 3))


def branches(draw: Draw, x: Tensor) -> Tensor:
    draw.say("concatenated with its convolution")
    return np.concatenate([x, x.conv2d(draw.array(8, x.shape[1], 1, 1))], 1)


def upsampled(draw: Draw, x: Tensor) -> Tensor:
    n, c, h, w = x.shape
    draw.say("each pixel four times")
    return x.reshape(n, c, h, 1, w, 1).expand(n, c, h, 2, w, 2).reshape(n, c, 2 * h, 2 * w)


def flattened(draw: Draw, x: Tensor) -> Tensor:
    draw.say("flattened")
    return x.reshape(x.shape[0], -1)


# --- operations on matrices -----------------------------------------------------------------------


def product(draw: Draw, x: Tensor) -> Tensor:
    out = draw.one(1, 10, 48, 64, 100, 128)
    draw.say(f"@ {out} columns")
    return x @ draw.array(x.shape[-1], out)


def product_of_rows(draw: Draw, x: Tensor) -> Tensor:
    out = draw.one(10, 64, 128)
    draw.say(f"@ {out} rows.T")
    return x @ draw.array(out, x.shape[-1]).T


def two_products(draw: Draw, x: Tensor) -> Tensor:
    out = draw.one(32, 64, 128)
    draw.say(f"x @ {out} + y @ {out}")
    other = draw.array(*x.shape[:-1], 48)
    return x @ draw.array(x.shape[-1], out) + other @ draw.array(48, out)


def with_itself(draw: Draw, x: Tensor) -> Tensor:
    draw.say("x.T @ x")
    return x.swapaxes(-1, -2) @ x


def transposed(draw: Draw, x: Tensor) -> Tensor:
    draw.say("swapaxes")
    return x.swapaxes(-1, -2)


def softmax(draw: Draw, x: Tensor) -> Tensor:
    axis = draw.one(-1, -1, 0)
    draw.say(f"softmax {axis}")
    return x.softmax(axis)


def layernorm(draw: Draw, x: Tensor) -> Tensor:
    draw.say("layernorm")
    return x.layernorm()


def fold(draw: Draw, x: Tensor) -> Tensor:
    op, axis = draw.random.choice(("sum", "mean", "max")), draw.one(0, -1, -1)
    draw.say(f"{op} {axis}")
    return getattr(x, op)(axis, keepdims=True)  # type: ignore[no-any-return]


def centred(draw: Draw, x: Tensor) -> Tensor:
    axis = draw.one(0, -1)
    draw.say(f"x - mean {axis}")
    return x - x.mean(axis, keepdims=True)


def scanned(draw: Draw, x: Tensor) -> Tensor:
    axis = draw.one(0, -1)
    draw.say(f"cumsum {axis}")
    return x.cumsum(axis)


def gathered(draw: Draw, x: Tensor) -> Tensor:
    count = draw.one(8, 100)
    draw.say(f"{count} rows by index")
    rows = draw.values.integers(0, x.shape[0], count)
    return x[Tensor(rows.astype(np.int64))]


def added_rows(draw: Draw, x: Tensor) -> Tensor:
    draw.say("sum 0 + sum 0 of squares")
    return x.sum(0, keepdims=True) + (x * x).sum(0, keepdims=True)


# --- operations on either -------------------------------------------------------------------------


def activation(draw: Draw, x: Tensor) -> Tensor:
    name = draw.random.choice(("relu", "gelu", "sigmoid", "exp"))
    draw.say(name)
    return getattr(x, name)()  # type: ignore[no-any-return]


def residual(draw: Draw, x: Tensor) -> Tensor:
    draw.say("+ residual")
    return x + draw.array(*x.shape)


def padded(draw: Draw, x: Tensor) -> Tensor:
    draw.say("padded by 1")
    return x.pad([(0, 0)] * (len(x.shape) - 2) + [(1, 1), (1, 1)])


def cut(draw: Draw, x: Tensor) -> Tensor:
    draw.say("without its first row and column")
    return x[..., 1:, 1:] if min(x.shape[-2:]) > 1 else x


def cast(draw: Draw, x: Tensor) -> Tensor:
    name = draw.random.choice(("float64", "bfloat16", "float32"))
    draw.say(name)
    return x.cast(name).cast("float32")


EITHER: tuple[Operation, ...] = (activation, residual, padded, cut, cast)
IMAGES: tuple[Operation, ...] = (
    convolution, convolution, convolution, bias, pooling, pooling, two_convolutions, per_channel,
    averaged, branches, upsampled, flattened, *EITHER,
)  # fmt: skip
MATRICES: tuple[Operation, ...] = (
    product, product, product_of_rows, two_products, with_itself, transposed, softmax, layernorm,
    fold, centred, scanned, gathered, added_rows, *EITHER,
)  # fmt: skip


def start(draw: Draw) -> Tensor:
    """The input of a case: images or a matrix."""
    if draw.one(0, 1):
        side = draw.one(7, 14, 28, 32, 56)
        shape = draw.one(1, 1, 4), draw.one(3, 8, 16, 32), side, side
    else:
        shape = draw.one(1, 16, 64, 100, 512), draw.one(10, 64, 100, 256, 1000)
    draw.say(f"x {'×'.join(map(str, shape))}")
    return draw.array(*shape)


def program(case: str, is_apart: bool) -> tuple[Tensor, str]:
    """The composition of a case, or its operations one by one; and its words."""
    draw = Draw(case)
    x = start(draw)
    for _ in range(draw.one(2, 2, 3, 3, 4)):
        operations = IMAGES if len(x.shape) == 4 else MATRICES
        made = draw.random.choice(operations)(draw, x)
        x = made.contiguous() if is_apart else made
    return x, " → ".join(draw.words)


@dataclass(frozen=True)
class Compared:
    """The estimates of one case, nanoseconds."""

    case: str
    words: str
    together: float
    apart: float

    @property
    def ratio(self) -> float:
        return self.together / self.apart


def compared(case: str) -> Compared | None:
    """One case; None where it is no program, or a small one."""
    try:
        x, words = program(case, False)
        y, _ = program(case, True)
    except CompileError:
        return None
    if not x.size or x.size > 4e6:
        return None
    together, apart = (estimated(each) for each in (x, y))
    return Compared(case, words, together, apart) if apart > SMALL_NS else None


def estimated(x: Tensor) -> float:
    """The time estimated for all kernels of a program, one after the other."""
    made = compiler.compile(x, Options(cache=False))
    return float(sum(row.cost for row in made.schedule.analysis))


@dataclass(frozen=True)
class Measured:
    """The kernels of one case: estimated on the model of this machine, and measured, nanoseconds.
    """

    case: str
    words: str
    estimated: float
    measured: float

    @property
    def off(self) -> float:
        """How many times too long or too short the estimate is, at least 1."""
        return max(self.estimated / self.measured, self.measured / self.estimated)


def measured(case: str, model: MachineModel) -> Measured | None:
    """One case, run for a moment; None as in `compared`."""
    try:
        x, words = program(case, False)
    except CompileError:
        return None
    if not x.size or x.size > 4e6:
        return None
    made = compiler.compile(x, Options(cache=False, machine=model))
    found = made.measure(seconds=MOMENT)
    calls = max(found.call - model.launch_ns, 0.0) * len(found.by_item)
    took = max(sum(row.ns for row in found.by_item.values()) - calls, 1.0)
    return Measured(case, words, float(sum(r.cost for r in made.schedule.analysis)), took)


def show_measured(count: int, seed: int) -> int:
    """Show measured times next to estimates; returns 1 if estimates are off by too much."""
    model, found, number = compiler.calibrate(), list[Measured](), 0
    while len(found) < count:
        number += 1
        each = measured(f"{seed}.{number}", model)
        if each is not None and each.measured > SMALL_NS:
            found.append(each)
    found.sort(key=lambda it: -it.off)
    for each in found[:40]:
        ns = f"{each.measured / 1e3:,.1f} µs, estimated {each.estimated / 1e3:,.1f}"
        print(f"{each.off:6.2f} × {ns:>40}   {each.case}  {each.words}")
    median, far = statistics.median(it.off for it in found), sum(it.off > FAR for it in found)
    middle = statistics.median(it.estimated / it.measured for it in found)
    print(f"seed {seed}: {count} cases measured; estimates off by a median of {median:.2f} ×, "
          f"{far} by more than {FAR}; estimated ÷ measured {middle:.2f}")  # fmt: skip
    return int(median > MEDIAN or far > 0)


def main(given: list[str]) -> int:
    """Search as the arguments say; 1 where a case is above `MOST`."""
    parser = argparse.ArgumentParser(prog="python -m tests.search.compositions")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="")
    parser.add_argument("--measured", type=int, default=0)
    asked = parser.parse_args(given)
    if asked.measured:
        return show_measured(asked.measured, asked.seed)
    if asked.only:
        for is_apart in (False, True):
            made = compiler.compile(program(asked.only, is_apart)[0], Options(cache=False))
            print(made.schedule, *(f"{k.name}: {k.choices}" for k in made._kernels), sep="\n")
        print(compared(asked.only))
        return 0
    end, number, found = time.monotonic() + asked.seconds, 0, []
    while time.monotonic() < end:
        number += 1
        each = compared(f"{asked.seed}.{number}")
        if each is not None:
            found.append(each)
    bad = sorted((f for f in found if f.ratio > MOST), key=lambda f: -f.ratio)
    for each in bad[:40]:
        ns = f"{each.together / 1e3:,.1f} µs, apart {each.apart / 1e3:,.1f}"
        print(f"{each.ratio:6.2f} × {ns:>32}   {each.case}  {each.words}")
    print(f"seed {asked.seed}: {len(found)} of {number} cases compared, {len(bad)} above {MOST} ×")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
