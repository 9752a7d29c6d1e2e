"""Writes which test compares values of an importer's operator, for tests without PyTorch and JAX.

    python -m tools.reached torch            writes tests/imported/torch/reached.json; or onnx, jax
    python -m tools.reached torch -k pool    runs some of the tests: adds operators without a line

It runs the importer's tests, which need PyTorch or JAX: `.venv-models` has both. One line for each
operator.
"""

import json
import sys

import pytest

from tests.imported import reached


def main() -> int:
    """The exit code: that of the tests."""
    importer, *arguments = sys.argv[1:]
    path = reached.path_of(importer)
    rows = dict(reached.stored(importer)) if arguments else {}
    code = pytest.main(["-q", "-p", "no:xdist", f"tests/imported/{importer}", *arguments])
    rows = {**reached.current(importer), **rows}
    lines = (f"{json.dumps(name)}: {json.dumps(rows[name])}" for name in sorted(rows))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    missing = {reached.name_of(key) for key in reached.table_of(importer)} - set(rows)
    print(f"{len(rows)} operators; without a test: {', '.join(sorted(missing)) or 'none'}")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
