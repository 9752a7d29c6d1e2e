"""One runtime in a process of its own: `python -m benchmarks.models.worker RUNTIME MODEL FOLDER
THREADS`.

It answers with lines of JSON: first {"first": seconds from the file to the first result, imports
aside, "error": share, "peak": bytes}, or {"missing": why}; then {"seconds": […]} for each line that
says how many seconds to measure.
"""

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.models.exports import read
from benchmarks.models.runtimes import LIBRARY, RUNTIMES
from benchmarks.worker import measure, resident_peak, settle, warm

_IMPORTS = {
    "svodviz": ("compiler", "onnx"), "torch": ("torch", "torchvision", "transformers"),
    "torch_compile": ("torch", "torchvision", "transformers"),
}  # fmt: skip


def _say(**answer: Any) -> None:
    print(json.dumps(answer), flush=True)


def error(results: Any, expected: list[Any]) -> float:
    """The greatest difference, as a share of the greatest magnitude of its output."""
    worst = 0.0
    for result, wanted in zip(results, expected, strict=True):
        got = np.asarray(result)
        if got.shape != wanted.shape:
            raise ValueError(f"shape {got.shape} instead of {wanted.shape}")
        scale = float(np.abs(wanted).max()) or 1.0
        share = float(np.abs(got.astype(np.float64) - wanted).max()) / scale
        worst = max(worst, share if np.isfinite(share) else float("inf"))
    return worst


def main(runtime: str, model: str, folder: str, threads: str) -> None:
    """Answer until the input ends."""
    place = Path(folder)
    inputs = read(place / f"{model}.inputs.npz")
    expected = read(place / f"{model}.expected.npz")
    try:
        for name in _IMPORTS.get(runtime, (LIBRARY.get(runtime, runtime),)):
            importlib.import_module(name)
        start = time.perf_counter()
        call = RUNTIMES[runtime](place / f"{model}.onnx", inputs, int(threads))
        results = call()
        first = time.perf_counter() - start
    except Exception as problem:  # any failure of a runtime is reported
        _say(missing=f"{type(problem).__name__}: {str(problem).splitlines()[0][:200]}")
        return
    _say(first=first, error=error(results, expected), peak=resident_peak())
    warm(call)
    for line in sys.stdin:
        times = measure(call, float(line))
        settle()
        _say(seconds=times, peak=resident_peak())


if __name__ == "__main__":
    main(*sys.argv[1:])
