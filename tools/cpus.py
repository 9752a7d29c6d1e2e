"""Runs what makes machine code with the host taken for other processors: `make cpus`.

    python -m tools.cpus haswell skylake-avx512 -- -n 2    what follows -- goes to pytest

The notebooks and the tests of loops, lowered, llvm, device, tune and playground run once for each
processor, with SVODVIZ_CPU in the environment. A processor that this host cannot stand for is
skipped, and why is printed.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import llvmlite.binding as llvm

from compiler.core.errors import DeviceError
from compiler.machines.processors import VARIABLE, X86, is_x86, named

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("loops", "lowered", "llvm", "device", "tune", "playground")
LEFT_OUT = {
    "notebooks/12_more_than_one_machine.ipynb": "it is about what lies between machines",
    "tests/device/c/test_source.py": "the code is a C compiler's",
    "tests/llvm/test_cache.py": "it is about files",
    "tests/llvm/looking/test_structured.py": "the code is WebAssembly",
    "tests/loops/test_simplify.py": "interpreters run it",
    "tests/loops/choosing/test_spills.py": "the code is for machines that are named",
    "tests/loops/choosing/test_spills_of_rows.py": "the code is for machines that are named",
    "tests/loops/test_random_choices.py::test_random_choices_compute_the_same": "the same",
}
"""Tests that take long and do not depend on the processor, each with its reason."""
PYTEST = (
    "pytest", "-q", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=120",
    "--dist", "loadscope", "--no-loadscope-reorder",
)  # fmt: skip


def obstacle(name: str) -> str:
    """The reason why this host cannot stand for a processor; "" if it can."""
    if not is_x86():
        return "this host is no x86"
    try:
        named(name, llvm.get_host_cpu_features(), is_x86=True)
    except DeviceError as error:
        return error.got
    return ""


def command(arguments: Sequence[str]) -> list[str]:
    """The call of pytest."""
    places = [*(f"tests/{part}" for part in PARTS), "notebooks"]
    without = [f"--deselect={each}" for each in LEFT_OUT]
    without += [f"--ignore={each}" for each in LEFT_OUT if each.endswith(".ipynb")]
    return [sys.executable, "-m", *PYTEST, *without, *arguments, *places]


def main(arguments: Sequence[str]) -> int:
    """Runs the tests for each processor; 1 where one of them failed."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    names, pytest_arguments = arguments[:end], arguments[end + 1 :]
    if unknown := [name for name in names if name not in X86]:
        sys.exit(f"no such processor: {', '.join(unknown)}\nthere are {', '.join(X86)}")
    return max((_run(name, pytest_arguments) for name in names), default=0)


def _run(name: str, arguments: Sequence[str]) -> int:
    if why := obstacle(name):
        print(f"{VARIABLE}={name}: skipped: {why}", flush=True)
        return 0
    print(f"{VARIABLE}={name}", flush=True)
    variables = {**os.environ, VARIABLE: name}
    done = subprocess.run(command(arguments), cwd=ROOT, env=variables, check=False)
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
