"""The array API standard's own tests, data-apis/array-api-tests, run on `compiler.array_api`.

    python -m tools.array_api_suite folder-of-its-checkout -- -n 2 --max-examples 50

The suite takes types that are missing for mistakes in two places, where it looks for the widest
complex one: a copy of it is put right there. What needs complex numbers is left out: the special
cases by real and imaginary part, the names and tests of the extension fft, one test of vecdot.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORRECTIONS = {
    "array_api_tests/dtype_helpers.py": (
        "[(dt, dtype_nbits[dt]) for dt in complex_dtypes], key=",
        "[(dt, dtype_nbits[dt]) for dt in complex_dtypes] or [(None, 0)], key=",
    ),
    "array_api_tests/test_signatures.py": (
        "cmplx_name = dh.dtype_to_name[dh.widest_complex_dtype]", 'cmplx_name = "complex128"',
    ),
}  # fmt: skip
"""Text in a file of the suite, and its replacement without complex types."""
WITHOUT_COMPLEX = "not imag and not fft and not vecdot_conj"
ENVIRONMENT = {
    "ARRAY_API_TESTS_MODULE": "compiler.array_api",
    "ARRAY_API_TESTS_VERSION": "2024.12",
    "ARRAY_API_TESTS_SKIP_DTYPES": "complex64,complex128",
}


def corrected(suite: Path, copy: Path) -> None:
    """A copy of the suite with `CORRECTIONS`; `SystemExit` where it is another suite than that."""
    if not (suite / "array-api" / "src").is_dir():
        raise SystemExit(f"{suite} is no checkout of array-api-tests with its submodule array-api")
    shutil.copytree(suite, copy, ignore=shutil.ignore_patterns(".git", ".hypothesis"))
    for name, (old, wanted) in CORRECTIONS.items():
        text = (copy / name).read_text()
        if old not in text and wanted not in text:
            raise SystemExit(f"{name} of the suite does not say any more: {old}")
        if wanted not in text:
            (copy / name).write_text(text.replace(old, wanted))


def run(suite: Path, arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """The exit code of the suite's tests with more `arguments` of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "suite"
        corrected(suite, copy)
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--disable-warnings",
            "--disable-deadline", "--disable-extension", "fft", "-k", WITHOUT_COMPLEX, *arguments,
            "array_api_tests",
        ]  # fmt: skip
        path = os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        with_ours = {**environment, **ENVIRONMENT, "PYTHONPATH": path}
        return subprocess.run(command, cwd=copy, env=with_ours).returncode


def main() -> int:
    """Runs the suite that the command line names; what follows `--` is pytest's."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suite", type=Path, help="the folder of the suite's checkout")
    parser.add_argument("arguments", nargs="*", help="arguments of pytest, behind --")
    chosen = parser.parse_args()
    return run(chosen.suite.resolve(), chosen.arguments)


if __name__ == "__main__":
    raise SystemExit(main())
