"""Runs kernels under random choices, on every engine, on guarded memory: a process of its own.

    python -m tests.loops.run_guarded FIRST COUNT [PROGRAM]

An access outside its buffer ends the process. Each case is printed before it runs, so the last
line says which one it was; a wrong result is printed as well, and makes the exit code 1.
"""

import faulthandler
import random
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.core.node import toposort
from compiler.device.device import CPU
from compiler.graph.nodes import Sink, Variable
from compiler.loops import interpret as loops
from compiler.loops.choices import text
from compiler.loops.nodes import Argument, Body
from compiler.loops.verify import verify
from compiler.lowered.run_tasks import run_tasks
from compiler.lowered.verify import verify as verify_lowered
from compiler.pipeline.kernels import CompiledKernel, compile_kernel, program_spec
from compiler.settings.options import Mode, Options
from tests.loops import guarded
from tests.loops.guarded import Side
from tests.loops.kernel_programs import PROGRAMS, bodies
from tests.loops.programs import random as random_data
from tests.loops.random_choices import random_choices

Array = np.ndarray[Any, Any]
EXTENTS = (1, 2, 3, 5, 7, 8, 9, 16, 17, 20, 31, 32, 33, 48, 50, 64, 67, 97)
ROUNDINGS = 64
"""Units of the result's type that two orders of a fold may differ by, at these sizes."""


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel of a program, with random choices for its loops."""

    seed: int
    name: str
    extents: tuple[int, int, int]

    def __str__(self) -> str:
        return f"{self.seed} {self.name} {self.extents}"


def cases(first: int, count: int, name: str = "") -> Iterator[Case]:
    """The cases of the seeds from `first` on; all of program `name` if there is one."""
    for seed in range(first, first + count):
        source = random.Random(seed)
        chosen = name or source.choice(sorted(PROGRAMS))
        m, n, k = (source.choice(EXTENTS) for _ in range(3))
        yield Case(seed, chosen, (max(m, 2), max(n, 2), max(k, 2)))


def run(case: Case) -> None:
    """Compile and run one case; `AssertionError` where an engine computes something else."""
    found = bodies(case.name, *case.extents)
    body = random.Random(case.seed).choice(found)
    plain = compile_kernel("k0", body, Options(loops="plain"), 0)
    chosen = random_choices(plain.whole, case.seed)
    print(" ", text(chosen), flush=True)
    mode: Mode = "explain" if case.seed % 4 == 0 else "fast"
    kernel = compile_kernel("k0", body, Options(loops={"k0": chosen}, mode=mode), 0)
    verify(kernel.loops)
    verify_lowered(kernel.linear.instructions)
    values, variables = arguments(plain.loops, case.seed), variables_of(body, case.seed)
    expected = [value.copy() for value in values]
    loops.interpret(plain.loops, expected, variables=variables)
    scale = max(greatest(value) for value in expected)
    for engine in ("plain machine", "loops", "lowered", "left", "right"):
        print("   ", engine, flush=True)
        used = plain if engine == "plain machine" else kernel
        assert_close(on_engine(engine, used, values, variables), expected[0], scale, engine)


def arguments(body: Body, seed: int) -> list[Array]:
    """Random flat data for each argument, what it writes included: it may be read first."""
    generator = np.random.default_rng(seed)
    found = sorted((n for n in toposort([body]) if isinstance(n, Argument)), key=lambda a: a.slot)
    values = [random_data(generator, a.size, a.element) for a in found]
    return values


def greatest(values: Array) -> float:
    """The greatest finite magnitude."""
    finite = np.abs(values[np.isfinite(values)].astype(np.float64))
    return float(finite.max(initial=1.0))


def variables_of(body: Sink, seed: int) -> dict[str, int]:
    """A value for each variable of a kernel."""
    source = random.Random(seed)
    found = sorted((n for n in toposort([body]) if isinstance(n, Variable)), key=lambda v: v.name)
    return {v.name: source.choice((v.low, v.high, source.randint(v.low, v.high))) for v in found}


def on_engine(
    engine: str, kernel: CompiledKernel, values: list[Array], variables: dict[str, int]
) -> Array:
    """The elements of slot 0 once the kernel has run on copies of `values`."""
    held = [value.copy() for value in values]
    match engine:
        case "loops":
            loops.interpret(kernel.loops, held, variables=variables)
            return held[0]
        case "lowered":
            run_tasks(kernel.linear.instructions, held, limit=10**8, variables=variables)
            return held[0]
        case _:
            return on_machine(kernel, values, variables, "left" if engine == "left" else "right")


def on_machine(
    kernel: CompiledKernel, values: list[Array], variables: dict[str, int], side: Side
) -> Array:
    """The same from machine code, every buffer and scratch memory guarded."""
    program = CPU.load(CPU.compile(program_spec(kernel, CPU), 3, kernel_mode(kernel)))
    return guarded.run(program, values, side, variables)


def kernel_mode(kernel: CompiledKernel) -> Mode:
    """The mode that a kernel was compiled in."""
    return "explain" if kernel.level.number == 3 else "fast"


def assert_close(found: Array, expected: Array, scale: float, engine: str) -> None:
    """Equal integers; floats to a few roundings of the largest value."""
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected, engine)
        return
    eps = float(np.finfo(expected.dtype).eps)
    atol = ROUNDINGS * eps * scale
    np.testing.assert_allclose(
        found.astype(np.float64), expected.astype(np.float64), ROUNDINGS * eps, atol, err_msg=engine
    )


def main(arguments: list[str]) -> int:
    """Run the cases that `arguments` ask for; 1 if one fails."""
    faulthandler.enable()
    first, count = int(arguments[0]), int(arguments[1])
    failed = 0
    for case in cases(first, count, *arguments[2:3]):
        print(case, flush=True)
        try:
            run(case)
        except Exception:
            print(f"FAILED {case}\n{traceback.format_exc()}", flush=True)
            failed += 1
    print(f"{count} cases, {failed} failed", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
