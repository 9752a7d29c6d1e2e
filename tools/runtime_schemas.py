"""Writes the schemas of ONNX Runtime's own operators that `from_onnx` serves, for tests without it.

    python -m tools.runtime_schemas            writes tests/imported/onnx/runtime_schemas.json
    python -m tools.runtime_schemas --check    says which operators differ; exit code 1 if any

One line for each operator: its attributes with their defaults, null for none, and its inputs.
"""

import json
import sys
from pathlib import Path
from typing import Any

import compiler.imported.onnx.program  # noqa: F401 (it fills the table)
from compiler.imported.onnx.call import OPERATORS, RUNTIME
from compiler.imported.onnx.unread import plain

PATH = Path(__file__).parent.parent / "tests" / "imported" / "onnx" / "runtime_schemas.json"


def schemas() -> dict[str, Any]:
    """Attributes and inputs by the operator's name."""
    import onnx
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

    rows = {}
    for schema in get_all_operator_schema():
        if schema.domain == RUNTIME and (RUNTIME, schema.name) in OPERATORS:
            defaults = {
                name: onnx.AttributeProto.FromString(each._default_value)
                for name, each in schema.attributes.items()
            }
            rows[schema.name] = {
                "attributes": {n: plain(d) if d.name else None for n, d in defaults.items()},
                "inputs": [each.name for each in schema.inputs],
            }
    return dict(sorted(rows.items()))


def written(rows: dict[str, Any]) -> str:
    """The text of the file."""
    lines = (f"{json.dumps(name)}: {json.dumps(row, sort_keys=True)}" for name, row in rows.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> int:
    """The exit code: 1 where a check finds differences."""
    rows = schemas()
    if "--check" not in sys.argv:
        PATH.write_text(written(rows), encoding="utf-8")
        return 0
    stored = json.loads(PATH.read_text(encoding="utf-8"))
    differing = [name for name in {*rows, *stored} if rows.get(name) != stored.get(name)]
    print("\n".join(sorted(differing)) or f"{len(rows)} operators are current")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
