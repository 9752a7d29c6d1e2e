"""Runs on a cluster whose workers fail: `python -m benchmarks faults [--runs 200] [--seed 0]`.

Each run is a training of twelve steps on two worker processes, and at a random moment one of these
happens: a worker is killed, a worker stands still for a second, both are killed, nothing. Counted
are answers that differ in one bit, errors, and runs that take over a minute. Every run begins with
two workers.
"""

import argparse
import contextlib
import os
import random
import signal
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

STEPS = 12
HANGING = 60.0
"""Seconds after which a run counts as hanging."""
KINDS = ("killed", "killed", "killed", "still", "both killed", "nothing")
Array = np.ndarray[Any, Any]


def trained(devices: tuple[str, ...]) -> tuple[Array, Array]:
    """The weights after some steps of least squares, rows on all devices, and what they predict."""
    from compiler import Tensor

    random_numbers = np.random.default_rng(0)
    rows = random_numbers.standard_normal((600, 300)).astype("float32")
    x = Tensor(rows).shard(devices, 0).realize()
    y = Tensor(random_numbers.standard_normal((600, 8)).astype("float32")).shard(devices, 0)
    w = Tensor(np.zeros((300, 8), "float32")).shard(devices)
    for _ in range(STEPS):
        w = (w - x.T @ (x @ w - y) * 1e-4).realize()
    return w.numpy(), (x @ w).numpy()


def _pids(engine: Any) -> list[int]:
    """The processes of the workers, once two of them answer."""
    found: list[int] = []
    while len(found) < 2:
        time.sleep(0.05)
        with contextlib.suppress(OSError):  # one is gone, and nobody noticed yet
            found = sorted(engine.client.run(os.getpid).values())
    return found


def _fault(kind: str, pids: list[int], choose: random.Random) -> None:
    """Have it happen; a process may be gone by then."""
    chosen = {"both killed": pids, "nothing": []}.get(kind, [choose.choice(pids)])
    for pid in chosen:
        try:
            os.kill(pid, signal.SIGSTOP if kind == "still" else signal.SIGKILL)
            if kind == "still":
                time.sleep(1)
                os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass


def _timed(run: Callable[[], object]) -> tuple[object, float]:
    begin = time.monotonic()
    return run(), time.monotonic() - begin


def one(engine: Any, kind: str, expected: Any, usual: float, choose: random.Random) -> str:
    """One run; how it ended."""
    pids = _pids(engine)
    moment = choose.uniform(0, 1.1 * usual)
    timer = threading.Timer(moment, _fault, (kind, pids, choose))
    timer.start()
    watch = threading.Timer(HANGING, lambda: print(f"a run hangs: {kind} after {moment:.2f} s"))
    watch.start()
    try:
        found = trained(engine.workers)
    except Exception as error:
        return f"error: {type(error).__name__}: {error}"
    finally:
        timer.join()
        watch.cancel()
    is_same = all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    return "same" if is_same else "WRONG"


def main() -> None:
    """Count, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    import dask

    import compiler

    # a worker that joins again is one that Dask waits for, whatever happened before
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
    choose = random.Random(given.seed)
    ends: Counter[str] = Counter()
    seconds: dict[str, list[float]] = {}
    with compiler.cluster(workers=2, threads=1) as engine:
        trained(engine.workers)
        expected, usual = _timed(lambda: trained(engine.workers))
        for number in range(given.runs):
            kind = KINDS[number % len(KINDS)]
            _pids(engine)
            end, took = _timed(lambda kind=kind: one(engine, kind, expected, usual, choose))
            ends[f"{kind}: {end}"] += 1
            seconds.setdefault(kind, []).append(took)
            if number % 20 == 19:
                print(f"{number + 1} runs: {dict(ends)}", flush=True)
        for kind, found in seconds.items():
            print(f"{kind:12} {len(found)} runs, {statistics.median(found):.2f} s median, "
                  f"{max(found):.2f} s at most, {usual:.2f} s undisturbed")  # fmt: skip
        lost, again = len(engine.at.gone), engine.at.again
    print(f"{lost} workers lost, {again} tasks computed again by Dask; {dict(ends)}")


if __name__ == "__main__":
    main()
