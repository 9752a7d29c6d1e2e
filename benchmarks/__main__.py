"""`python -m benchmarks`: ours and the peers. `python -m benchmarks NAME`: another measurement."""

import importlib
import sys

OTHERS = (
    "calls", "choices", "cold_compile", "explorer", "growth", "memory", "opening", "predicted",
    "variables",
)  # fmt: skip


def main() -> None:
    """Run the benchmark, or the measurement that the first argument names."""
    name = sys.argv[1] if sys.argv[1:] and sys.argv[1] in OTHERS else ""
    if name:
        del sys.argv[1]
    importlib.import_module(f"benchmarks.{name or 'run'}").main()


if __name__ == "__main__":
    main()
