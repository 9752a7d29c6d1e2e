"""How compile time grows with the program: `python -m benchmarks growth`.

Each program is compiled in a process of its own, imports done and caches empty, at sizes 1, 2, 4,
… 64. "python" is from graph to LLVM IR, with all that a run needs (the device "INTERPRET" takes
the same kernels and calls no LLVM); "all" is to executable code. The exponent is the slope of the
line through the logarithms, over the sizes from 8 on: smaller programs are mostly fixed costs.

"workers of a cluster" is an all-reduce between so many, kernels known: what planning takes for each
item of the schedule, in milliseconds of processor time. A ring of n has 3 n² items, and from 64 on
halving has 4 n log n.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = (1, 2, 4, 8, 16, 32, 64)
FITTED = 8
"""The exponent is fitted over sizes from this one on."""
BAR = 1.1
WORKERS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
SPREAD = 2.0
"""How many times what an item takes for the fewest workers it may take for more."""


def chain(count: int) -> object:
    """`count` elementwise operations, one after the other."""
    import numpy as np

    from compiler import Tensor

    x = Tensor(np.ones((64, 64), np.float32))
    y = x
    for number in range(count):
        y = (y + x, y * 0.5, y.relu())[number % 3]
    return y


def assigns(count: int) -> object:
    """`count` writes to one tensor, each of a part of it."""
    import numpy as np

    from compiler import Tensor

    x = Tensor(np.zeros((64, 16), np.float32))
    for number in range(count):
        x[number : number + 1] = float(number)
    return x


def transformer(count: int) -> object:
    """`count` layers of attention, layer norm and a perceptron, each with weights of its own."""
    import numpy as np

    from compiler import Tensor

    random = np.random.default_rng(0)

    def weight(*shape: int) -> Tensor:
        return Tensor((random.standard_normal(shape) / 8).astype(np.float32))

    width, rows = 64, 16
    x = weight(rows, width)
    for _ in range(count):
        h = x.layernorm()
        q, k, v = (h @ weight(width, width) for _ in range(3))
        x = x + ((q @ k.transpose() / 8.0).softmax(1) @ v) @ weight(width, width)
        x = x + (x.layernorm() @ weight(width, 4 * width)).gelu() @ weight(4 * width, width)
    return x


def workers(count: int) -> object:
    """Rows on `count` workers, less the sum of all rows: half a megabyte that all have to know."""
    import numpy as np

    from compiler import Tensor

    names = [f"DASK:{number}" for number in range(count)]
    x = Tensor(np.ones((count, 1 << 17), np.float32)).shard(names, 0)
    return x - x.sum(0)


PROGRAMS: dict[str, Callable[[int], object]] = {
    "chain of operations": chain,
    "writes to one tensor": assigns,
    "transformer layers": transformer,
}


def seconds(program: str, count: int, device: str) -> float:
    """The time to compile one program in this process, imports done, nothing cached."""
    import compiler
    from compiler import Options
    from compiler.run import plans

    (compiler.Tensor([1.0]) + 1.0).numpy()
    compiler.cache_clear()
    made = PROGRAMS[program](count)
    nodes = [made.node]  # type: ignore[attr-defined]
    start = time.perf_counter()
    plans.structure_of(nodes, Options(device=device, cache=False))
    return time.perf_counter() - start


def per_item(count: int) -> tuple[int, float]:
    """Items of the schedule for so many workers, and seconds to plan each, kernels known."""
    from compiler import Options
    from compiler.run import plans

    nodes, took = [workers(count).node], []  # type: ignore[attr-defined]
    for _ in range(2):
        plans.STRUCTURES.clear()
        start = time.process_time()
        made, _ = plans.structure_of(nodes, Options(cache=False))
        took.append(time.process_time() - start)
    return len(made.items), took[-1] / len(made.items)


def measure(program: str, count: int, device: str) -> float:
    """The same in a fresh process."""
    return float(_apart("--one", program, str(count), device))


def _apart(*arguments: str) -> Any:
    """The output of a separate process."""
    command = [sys.executable, "-m", "benchmarks.growth", *arguments]
    root = Path(__file__).resolve().parent.parent
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    return json.loads(ran.stdout)


def exponent(times: dict[int, float]) -> float:
    """The slope of the least squares line through the logarithms of sizes and times."""
    points = [(math.log(n), math.log(t)) for n, t in times.items() if n >= FITTED]
    slope, _ = statistics.linear_regression(*zip(*points, strict=True))
    return float(slope)


def main(arguments: list[str] | None = None) -> None:
    """Print the times of every program, and the exponents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=3, metavar=("PROGRAM", "SIZE", "DEVICE"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--python-only", action="store_true")
    parser.add_argument("--workers", type=int, metavar="COUNT")
    given = parser.parse_args(arguments)
    if given.workers:
        print(json.dumps(per_item(given.workers)))
        return
    if given.one:
        program, count, device = given.one
        print(json.dumps(seconds(program, int(count), device)))
        return
    ways = {"python": "INTERPRET"} if given.python_only else {"python": "INTERPRET", "all": ""}
    print(f"{'compile time, ms':<32}" + "".join(f"{n:>9}" for n in SIZES) + f"{'exponent':>11}")
    for program in PROGRAMS:
        for way, device in ways.items():
            times = {n: min(measure(program, n, device) for _ in range(given.runs)) for n in SIZES}
            cells = "".join(f"{t * 1e3:>9.1f}" for t in times.values())
            slope = exponent(times)
            print(f"{program + ', ' + way:<32}{cells}{slope:>8.2f} {'ok' if slope <= BAR else '!'}")
    _print_workers()


def _print_workers() -> None:
    """The planning time for each item, by number of workers."""
    rows = [_apart("--workers", str(count)) for count in WORKERS]
    print(f"\n{'workers of a cluster':<32}" + "".join(f"{n:>9,}" for n in WORKERS))
    print(f"{'items':<32}" + "".join(f"{items:>9,}" for items, _ in rows))
    growth = max(took for _, took in rows) / rows[0][1]
    cells = "".join(f"{took * 1e3:>9.2f}" for _, took in rows)
    print(f"{'ms each':<32}{cells}{growth:>8.2f} {'ok' if growth <= SPREAD else '!'}")


if __name__ == "__main__":
    main()
