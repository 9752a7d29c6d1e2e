"""`python -m benchmarks`: ours and the peers. `python -m benchmarks NAME`: another measurement."""

import importlib
import sys

FOLDERS = ("models", "networks", "shapes", "training")
"""Measurements of several files: the command is `run.py`."""
OTHERS = (
    "calls", "choices", "cluster", "cold_compile", "explorer", "faults", "growth", "memory",
    "opening", "predicted",
    "simulated", "small_types", "variables", *FOLDERS,
)  # fmt: skip


def module_of(name: str) -> str:
    """The module that has the `main` of a measurement; "" is the benchmark itself."""
    return f"benchmarks.{name}.run" if name in FOLDERS else f"benchmarks.{name or 'run'}"


def main() -> None:
    """Run the benchmark, or the measurement that the first argument names."""
    name = sys.argv[1] if sys.argv[1:] and sys.argv[1] in OTHERS else ""
    if name:
        del sys.argv[1]
    importlib.import_module(module_of(name)).main()


if __name__ == "__main__":
    main()
