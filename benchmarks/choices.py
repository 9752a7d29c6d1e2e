"""Is what is chosen by default ever slower than the plain loop? `python -m benchmarks choices`.

Each program runs as chosen and plain, on one core, turn about, timed by the processor time of the
thread: what else the machine does then matters little. The native driver is called with the same
words each time, so that the times are those of kernels and no Python; small programs are repeated
within one measurement. A row is marked where what is chosen takes over 10 % and 20 ns longer, in
the least time and in the lower quartile.
"""

import argparse
import time
import unittest.mock
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

import compiler
from compiler import ExecutionPlan, Options, Tensor
from compiler.run.native import NativePlan, StepRun
from compiler.threads.workers import WORKERS, native

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Program: TypeAlias = Callable[..., Tensor]
SECONDS = 0.12
SLOWER, NOISE = 1.1, 20e-9
BATCH = 40e-6
"""Seconds that a measurement lasts at least."""
OPTIONS = Options(threads=1)


@dataclass(frozen=True, slots=True)
class Case:
    """A program on arrays of given shapes and types."""

    name: str
    program: Program
    shapes: tuple[tuple[int, ...], ...]
    dtype: str = "float32"

    def arrays(self) -> list[Array]:
        """The inputs."""
        random = np.random.default_rng(0)
        return [(random.random(s) * 3).astype(self.dtype) for s in self.shapes]


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds of one run as chosen and plain: the least, and the lower quartile."""

    chosen: tuple[float, float]
    plain: tuple[float, float]

    @property
    def is_slower(self) -> bool:
        """True if the choice costs time, beyond the noise."""
        pairs = zip(self.chosen, self.plain, strict=True)
        return all(a > SLOWER * b and a - b > NOISE for a, b in pairs)


def chain(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Four operations."""
    return (a * b + c).maximum(c) * b


def vectors() -> Iterator[Case]:
    """One axis."""
    for n in (1, 3, 17, 1000, 65_537, 1_000_003):
        for dtype in ("float32", "float64", "int32", "int8", "float16", "bool"):
            if n in (17, 1000, 65_537) or dtype == "float32":
                program = chain if dtype != "bool" else lambda a, b, c: (a & b) | c
                yield Case(f"chain {n}", program, ((n,),) * 3, dtype)
        yield Case(f"gelu {n}", lambda x: x.gelu(), ((n,),))
        yield Case(f"sum {n}", lambda x: x.sum(), ((n,),))
        yield Case(f"reversed {n}", lambda x: x.flip(0).contiguous(), ((n,),))
        yield Case(f"concat {n}", lambda a, b: a.cat(b), ((n,),) * 2)
    for dtype, to in (("int8", "float32"), ("float32", "int8"), ("float64", "float32")):
        yield Case(f"cast to {to}", lambda x, to=to: x.cast(to) * 2, ((100_003,),), dtype)


def matrices() -> Iterator[Case]:
    """Two axes."""
    for shape in ((3, 5), (17, 31), (1000, 3), (3, 1000), (257, 509), (1024, 1024)):
        m, n = shape
        name = f"{m}x{n}"
        yield Case(f"bias {name}", lambda a, b: a + b, (shape, (n,)))
        yield Case(f"rows bias {name}", lambda a, b: a + b, (shape, (m, 1)))
        yield Case(f"row sums {name}", lambda x: x.sum(1), (shape,))
        yield Case(f"column sums {name}", lambda x: x.sum(0), (shape,))
        yield Case(f"transposed {name}", lambda x: x.permute(1, 0).contiguous(), (shape,))
        yield Case(f"a + b.T {name}", lambda a, b: a + b.permute(1, 0), (shape, (n, m)))
        yield Case(f"padded {name}", lambda x: x.pad(((1, 1), (1, 1))).contiguous(), (shape,))
        yield Case(f"lower {name}", lambda x: x.tril(), (shape,))
        yield Case(f"softmax {name}", lambda x: x.softmax(-1), (shape,))
    for dtype in ("int8", "float64"):
        yield Case("transposed", lambda x: x.permute(1, 0).contiguous(), ((509, 257),), dtype)


def blocks() -> Iterator[Case]:
    """Three and four axes."""
    for order in ((0, 2, 1), (1, 0, 2), (2, 1, 0), (2, 0, 1)):
        program = lambda x, order=order: x.permute(*order).contiguous()  # noqa: E731
        yield Case(f"permute {order}", program, ((40, 50, 60),))
        yield Case(f"permute {order}, small", program, ((2, 3, 4),))
    yield Case("channels last", lambda x: x.permute(0, 2, 3, 1).contiguous(), ((4, 3, 64, 64),))
    yield Case("channels first", lambda x: x.permute(0, 3, 1, 2).contiguous(), ((4, 64, 64, 3),))
    yield Case("middle sums", lambda x: x.sum(1), ((30, 40, 50),))


PRODUCTS = (
    (300, 5, 2), (5, 300, 2), (100, 100, 3), (3, 100, 100), (2, 2, 2), (3, 3, 3), (4, 4, 4),
    (7, 7, 7), (17, 17, 17), (31, 7, 13), (10, 10, 10), (1, 64, 64), (64, 64, 1), (1, 1000, 1),
    (1000, 1, 1000), (1000, 3, 3), (3, 1000, 3), (3, 3, 1000), (1000, 17, 2), (2, 17, 1000),
    (128, 10, 10), (128, 512, 10), (7, 64, 5), (13, 1, 7), (97, 89, 4), (97, 89, 5), (64, 64, 8),
    (50, 2, 50), (1, 3, 1000), (1000, 64, 1), (1, 512, 10), (33, 33, 33), (64, 64, 64),
)  # fmt: skip
"""Rows, trip count of the sum, columns."""


def products() -> Iterator[Case]:
    """Products of matrices of every shape but a large one, alone and in batches."""
    for m, k, n in PRODUCTS:
        name = f"{m}x{k}x{n}"
        yield Case(f"a @ b {name}", lambda a, b: a @ b, ((m, k), (k, n)))
        yield Case(f"a @ b.T {name}", lambda a, b: a @ b.T, ((m, k), (n, k)))
        yield Case(f"a.T @ b {name}", lambda a, b: a.T @ b, ((k, m), (k, n)))
    for m, k, n in ((3, 3, 3), (4, 4, 4), (2, 5, 7), (16, 16, 16), (8, 30, 2)):
        yield Case(f"bmm 40x{m}x{k}x{n}", lambda a, b: a @ b, ((40, m, k), (40, k, n)))
    yield Case("a @ b 100x100x3", lambda a, b: a @ b, ((100, 100), (100, 3)), "float64")
    yield Case("a @ b 64x64x64", lambda a, b: a @ b, ((64, 64), (64, 64)), "int32")


def cases() -> Iterator[Case]:
    """All of them."""
    yield from vectors()
    yield from matrices()
    yield from blocks()
    yield from products()


def measured(case: Case, seconds: float = SECONDS) -> Pair:
    """One case, as chosen and plain, turn about."""
    arrays = case.arrays()
    chosen, plain = (
        compiler.prepare(case.program(*map(Tensor, arrays)), replace(OPTIONS, loops=loops))
        for loops in ("auto", "plain")
    )
    found, expected = (plan.run()[0].astype(np.float64) for plan in (chosen, plain))
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-3)
    calls, times = (kernels_of(chosen), kernels_of(plain)), (list[float](), list[float]())
    calls_of_batch = max(1, round(BATCH / _timed(calls[1], 100)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for call, own in zip(calls, times, strict=True):
            own.append(_timed(call, calls_of_batch))
    return Pair(_figures(times[0]), _figures(times[1]))


def kernels_of(plan: ExecutionPlan) -> Callable[[], None]:
    """The kernels of a plan alone: what a run asks of the native driver, again and again.

    One kernel of one task is called without the driver.
    """
    held, kept, usual = list[Callable[[], None]](), list[Any](), NativePlan._call

    def noted(made: NativePlan, part: StepRun, space: Any) -> None:
        kept.append(space)
        scratch = space.places[1]
        if made.only is not None:
            held.append(partial(made.only, space.address, 0, scratch))
        else:
            pool = WORKERS.pool(made.threads)
            words = pool, part.address, part.count, space.address, scratch, made.stride
            held.append(partial(native().run, *words))
        usual(made, part, space)

    with unittest.mock.patch.object(NativePlan, "_call", noted):
        results = plan._run(None, None)  # part by part
    assert held, "there is nothing to measure"

    def call() -> None:
        for kernels in held:
            kernels()

    call.memory = plan, results, kept  # type: ignore[attr-defined]  # where the words point to
    return call


def _timed(call: Callable[[], Any], times: int) -> float:
    """Seconds of this thread for one call."""
    start = time.thread_time()
    for _ in range(times):
        call()
    return (time.thread_time() - start) / times


def _figures(times: list[float]) -> tuple[float, float]:
    return min(times), float(np.quantile(times, 0.25))


def main() -> None:
    """Measure every case, and print those that are slower twice."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks choices", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    wanted = [case for case in cases() if parser.parse_args().only in case.name]
    slower = 0
    for case in wanted:
        found = measured(case)
        if found.is_slower:
            found = measured(case, 4 * SECONDS)
        slower += found.is_slower
        (least, _), (plain, _) = found.chosen, found.plain
        mark = "SLOWER" if found.is_slower else ""
        times = f"{1e6 * least:10.2f} µs  plain {1e6 * plain:10.2f} µs  {plain / least:6.2f}×"
        print(f"{case.name:28} {case.dtype:8} {times}  {mark}", flush=True)
    print(f"{slower} of {len(wanted)} cases are slower than the plain loop")


if __name__ == "__main__":
    main()
