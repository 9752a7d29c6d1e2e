"""Writes the schemas of ATen's operators that `from_torch` serves, for tests without PyTorch.

    python -m tools.torch_schemas            writes tests/imported/torch/schemas.json
    python -m tools.torch_schemas --check    says which overloads differ; exit code 1 if any

One line for each overload: the name, type and, where there is one, the default of each argument.
Left out are overloads that write into an argument, and those of Python's numbers.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compiler.imported.torch.program  # noqa: F401 (it fills the table)
from compiler.imported.torch.call import OPERATORS, function_of, name_of

PATH = Path(__file__).parent.parent / "tests" / "imported" / "torch" / "schemas.json"
OF_EXTENTS = tuple(f"aten::{name}" for name in ("size", "sym_size", "numel", "sym_numel"))
Row = list[list[Any]]


def schemas() -> dict[str, Row]:
    """The arguments of each overload that has a function, by the overload's name."""
    targets = {name_of(target): target for target in _overloads()}
    return {name: _row(targets[name]) for name in sorted(targets)}


def written(rows: dict[str, Row]) -> str:
    """The text of the file: the version of PyTorch, and a line for each overload."""
    stored: dict[str, Any] = {"version": version(), **rows}
    lines = (f"{json.dumps(name)}: {json.dumps(row)}" for name, row in stored.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def version() -> str:
    """The version of PyTorch without its patch number."""
    import torch

    return ".".join(torch.__version__.split(".")[:2])


def _overloads() -> Iterator[Any]:
    import torch

    for base in sorted({name.partition(".")[0] for name in OPERATORS}):
        packet = getattr(torch.ops.aten, base, None)
        for overload in packet.overloads() if packet is not None else ():
            target = getattr(packet, overload)
            if function_of(target) is not None and _is_served(target._schema):
                yield target


def _is_served(schema: Any) -> bool:
    """True if an exported graph can have it: it writes nothing, and returns tensors, extents of
    one, or nothing."""
    is_pure = not any(a.alias_info and a.alias_info.is_write for a in schema.arguments)
    is_named = any("name" in a.name for a in schema.arguments)  # axes by name are other overloads
    returned = [str(each.type) for each in schema.returns]
    is_tensor = not returned or any("Tensor" in kind for kind in returned)
    return is_pure and not is_named and (is_tensor or schema.name in OF_EXTENTS)


def _row(target: Any) -> Row:
    return [
        [a.name, str(a.type), *([_plain(a.default_value)] if a.has_default_value() else ())]
        for a in target._schema.arguments
    ]


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | list | None) else str(value)


def main() -> int:
    """The exit code: 1 where a check finds differences."""
    rows = schemas()
    if "--check" not in sys.argv:
        PATH.write_text(written(rows), encoding="utf-8")
        return 0
    stored = json.loads(PATH.read_text(encoding="utf-8"))
    stored.pop("version")
    differing = [name for name in {*rows, *stored} if rows.get(name) != stored.get(name)]
    print("\n".join(sorted(differing)) or f"{len(rows)} overloads are current")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
