"""Every argument of every operator of ATen that is served: read by its function, or refused.

The schemas stand in schemas.json (`python -m tools.torch_schemas`), so that PyTorch is not needed.
"""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import compiler.imported.torch.program  # noqa: F401 (it fills the table)
from compiler.core.errors import DataError
from compiler.imported.arguments import reason
from compiler.imported.torch.binding import UNCHANGED, called, declared_by, schema_of, unread_in
from compiler.imported.torch.call import OPERATORS, Call, Function, base_of

STORED = json.loads((Path(__file__).parent / "schemas.json").read_text(encoding="utf-8"))
VERSION = STORED.pop("version")
ALWAYS_REFUSED = {f"{name}.dtype": ("out_dtype",) for name in ("mm", "bmm", "addmm", "baddbmm")}
"""Arguments without a default that no function reads: these overloads are refused."""


class Name(str):
    """A target of a node: its name, and the schema that PyTorch would say."""

    @property
    def _schema(self) -> Any:
        base, _, overload = self.partition(".")
        rows = STORED[self]
        arguments = [
            SimpleNamespace(
                name=name, default_value=default[0] if default else None,
                has_default_value=lambda default=default: bool(default),
            )
            for name, _, *default in rows
        ]  # fmt: skip
        return SimpleNamespace(name=f"aten::{base}", overload_name=overload, arguments=arguments)


def function_of(overload: str) -> Function:
    return OPERATORS.get(overload) or OPERATORS[base_of(overload)]


@cache
def names_read(function: Function) -> frozenset[str]:
    """The names that the body of a function reads, `dtype` where it reads that of the result."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    loads = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id != "operator"}
    helpers = (inspect.unwrap(function).__globals__.get(name) for name in loads)
    bodies = [tree, *(
        ast.parse(textwrap.dedent(inspect.getsource(each))) for each in helpers
        if inspect.isfunction(each) and each.__module__ == function.__module__
    )]  # fmt: skip
    of_result = {
        f"call.{n.attr}" for body in bodies for n in ast.walk(body)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "call"
    }  # fmt: skip
    return frozenset(loads | of_result)


def arguments() -> Iterator[tuple[str, int, str, list[Any]]]:
    """Overload, place, name and default of each argument."""
    for overload, rows in STORED.items():
        for place, (name, _, *default) in enumerate(rows):
            yield overload, place, name, default


def test_every_operator_has_a_schema() -> None:
    served = {*STORED, *map(base_of, STORED), "detach_", "svodviz::detach"}
    missing = [name for name in OPERATORS if name not in served]
    assert not missing, f"python -m tools.torch_schemas writes the schemas of {missing}"


def test_every_argument_is_read_or_refused() -> None:
    """One without a default that is not read is refused whatever it is: no overload needs it."""
    left = []
    for overload, place, name, default in arguments():
        declared = declared_by(function_of(overload))
        is_taken = place < declared.operands or name in declared.names
        is_known = default or reason(UNCHANGED, base_of(overload), name)
        is_optional = STORED[overload][place][1].startswith("Optional")
        if not (is_taken or is_known or is_optional or name in ALWAYS_REFUSED.get(overload, ())):
            left.append(f"{overload} {name}")
    assert not left


def test_every_parameter_is_read() -> None:
    """An argument that a function declares but does not read would be swallowed."""
    unread = []
    for name, function in OPERATORS.items():
        first, *parameters = inspect.signature(function).parameters
        unread += [f"{name} {p}" for p in parameters if p not in names_read(function)]
        assert first in ("call", "_call")
    assert not unread


def test_no_function_takes_all_others() -> None:
    kinds = inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL
    assert not [
        name for name, function in OPERATORS.items()
        if any(p.kind in kinds for p in inspect.signature(function).parameters.values())
    ]  # fmt: skip


def test_every_parameter_by_name_is_an_argument() -> None:
    """A misspelt one would have its own default for ever."""
    known: dict[Function, set[str]] = {}
    for overload, _, name, _ in arguments():
        known.setdefault(function_of(overload), set()).add(name)
    for function, names in known.items():
        assert declared_by(function).names <= names, function.__name__


def test_the_type_of_results_is_read_where_a_type_is_an_argument() -> None:
    """`dtype` is the type to compute in, not one to convert to at the end."""
    conversions = {"converted", "bits", "checked"}
    for overload, _, name, _ in arguments():
        function = function_of(overload)
        if name == "dtype" and function.__name__ not in conversions:
            assert {"dtype", "call.dtype"} & names_read(function), overload


def test_reasons_are_of_arguments_that_exist() -> None:
    found = {(base_of(o), name) for o, _, name, _ in arguments()}
    names, bases = {name for _, name in found}, {base for base, _ in found}
    for key in UNCHANGED:
        base, dot, name = key.partition(".")
        assert key in names if not dot else base in bases if name == "*" else (base, name) in found


@pytest.mark.parametrize("value", [object(), 7.25, "other", [1, 2, 3, 4, 5]])
def test_other_values_than_the_default_are_refused(value: Any) -> None:
    """For every argument that has a default and that no function reads."""
    for overload, place, name, default in arguments():
        declared = declared_by(function_of(overload))
        is_taken = place < declared.operands or name in declared.names
        if is_taken or not default or reason(UNCHANGED, base_of(overload), name):
            continue
        node: Any = SimpleNamespace(target=Name(overload), args=(), kwargs={name: value})
        found = unread_in(node, function_of(overload), overload)
        assert found is not None
        assert found.name == name


def test_the_refusal_names_operator_argument_value_and_place() -> None:
    node: Any = SimpleNamespace(target=Name("repeat_interleave.self_int"), meta={})
    call = Call(node, "bernoulli.default", "layers.0, model.py:12")
    node.target = Name("bernoulli.default")
    with pytest.raises(DataError) as caught:
        called(call, OPERATORS["bernoulli"], (1,), {"generator": "seeded"})
    error = caught.value
    assert error.operation == "from_torch"
    assert error.problem.startswith(
        "bernoulli.default (layers.0, model.py:12): the argument generator ")
    assert (error.got, error.expected) == ("generator=seeded", "generator=None")


def test_arguments_go_by_place_before_the_slash_and_by_name_behind_it() -> None:
    def function(call: Any, x: Any, /, max: Any = None, min: Any = None) -> Any:
        return x, min, max

    node: Any = SimpleNamespace(target=Name("clamp.default"))
    call = Call(node, "clamp.default", "")
    assert called(call, function, (5, 1), {"max": 3}) == (5, 1, 3)
    assert called(call, function, (5,), {}) == (5, None, None)


def test_schemas_are_those_of_pytorch() -> None:
    """Of the same version; of another one the arguments are checked below."""
    torch = pytest.importorskip("torch")
    from tools.torch_schemas import schemas, version

    if version() != VERSION:
        pytest.skip(f"schemas.json is of PyTorch {VERSION}, not {torch.__version__}")
    assert schemas() == STORED


def test_every_argument_of_this_pytorch_is_read_or_refused() -> None:
    pytest.importorskip("torch")
    from tools.torch_schemas import schemas

    for overload, rows in schemas().items():
        declared = declared_by(function_of(overload))
        for place, (name, kind, *default) in enumerate(rows):
            is_taken = place < declared.operands or name in declared.names
            is_known = default or reason(UNCHANGED, base_of(overload), name)
            allowed = name in ALWAYS_REFUSED.get(overload, ()) or kind.startswith("Optional")
            assert is_taken or is_known or allowed, f"{overload} {name}"


def test_a_schema_is_read_once() -> None:
    target = Name("gelu.default")
    assert schema_of(target) is schema_of(target)
    assert [each.name for each in schema_of(target)] == ["self", "approximate"]
