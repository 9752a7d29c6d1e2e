"""Every attribute and every input of every version of every operator is read, or refused.

What a function reads is found in its source and in that of the functions it calls.
"""

import ast
import fnmatch
import inspect
import json
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import compiler
import compiler.imported.onnx.program  # (it fills the table)
from compiler.core.errors import DataError
from compiler.imported.arguments import Unread, reason
from compiler.imported.onnx.call import OPERATORS, RUNTIME, Call
from compiler.imported.onnx.unread import UNCHANGED, check_unread, declared_by, plain

HOME = "compiler.imported.onnx"
READERS = {"get": 0, "check_fits": 0, "numbers": 1}
"""Methods of a call that read an attribute, and the place of its name."""
PLACED = ("known", "numbers")
"""Methods that read an input."""


@cache
def reads(function: Any) -> tuple[frozenset[str], frozenset[int]]:
    """The attributes and the places of inputs that a function asks for, by what it calls too."""
    names: set[str] = set()
    places: set[int] = set()
    waiting, seen = [function], {function}
    while waiting:
        each = waiting.pop()
        for found in _asked(each):
            (names if isinstance(found, str) else places).add(found)  # type: ignore[attr-defined]
        new = set(_called(each)) - seen
        seen |= new
        waiting += new
    return frozenset(names), frozenset(places)


@cache
def _tree(function: Any) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def _asked(function: Any) -> Iterator[str | int]:
    """Names of attributes and places of inputs; all words of a function for one that it computes,
    all places likewise."""
    for node in ast.walk(_tree(function)):
        if isinstance(node, ast.Subscript):
            yield from _words(node.slice, function) if _is_call(node.value) else ()
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        method, given = node.func.attr, node.args
        if method in READERS and _is_call(node.func.value):
            yield from _words(given[READERS[method]], function)
        if method in PLACED:
            first = given[0]
            yield from [first.value] if isinstance(first, ast.Constant) else range(10)


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("call", "_call")


def _words(name: ast.AST, function: Any) -> list[str]:
    """A word, a pattern for one that is put together, or all words of the function."""
    if isinstance(name, ast.Constant):
        return [str(name.value)]
    if isinstance(name, ast.JoinedStr):
        return ["".join(str(p.value) if isinstance(p, ast.Constant) else "*" for p in name.values)]
    return [n.value for n in ast.walk(_tree(function))
            if isinstance(n, ast.Constant) and isinstance(n.value, str)]  # fmt: skip


def _called(function: Any) -> Iterator[Any]:
    names = {n.id for n in ast.walk(_tree(function)) if isinstance(n, ast.Name)}
    for name in names:
        found = inspect.unwrap(function).__globals__.get(name)
        if inspect.isfunction(found) and found.__module__.startswith(HOME):
            yield found


def is_read(function: Any, name: str) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in reads(function)[0])


def schemas() -> list[Any]:
    """The schemas of all versions of the operators that have a function."""
    return [s for s in onnx.defs.get_all_schemas_with_history()
            if (s.domain, s.name) in OPERATORS]  # fmt: skip


def left_out() -> dict[str, Any]:
    """Attributes that no function asks for, with their defaults."""
    return {
        f"{s.name}.{name}": plain(each.default_value) if each.default_value.name else None
        for s in schemas() for name, each in s.attributes.items()
        if not is_read(OPERATORS[s.domain, s.name], name) and not reason(UNCHANGED, s.name, name)
    }  # fmt: skip


REFUSED = {
    "BatchNormalization.spatial": 1, "Constant.sparse_value": None, "Constant.value_string": None,
    "Constant.value_strings": None, "GroupNormalization.stash_type": 1, "Range.stash_type": 1,
    "TfIdfVectorizer.pool_strings": None, "Upsample.height_scale": None,
    "Upsample.width_scale": None,
}  # fmt: skip
"""Attributes that are refused unless they have these defaults."""


def test_what_is_refused_is_known() -> None:
    assert left_out() == REFUSED


@pytest.mark.parametrize("name", REFUSED)
def test_what_nobody_reads_is_refused(name: str) -> None:
    op, _, attribute = name.partition(".")
    version = max(s.since_version for s in schemas() if s.name == op and attribute in s.attributes)
    if REFUSED[name] is not None:
        usual = Call(op, {attribute: REFUSED[name]}, "n", version, (), 1)
        check_unread(usual, OPERATORS["", op], "")
    call = Call(op, {attribute: 5}, "n", version, (), 1)
    with pytest.raises(DataError, match=f"{op} n: the argument {attribute}"):
        check_unread(call, OPERATORS["", op], "")


def test_every_input_is_read() -> None:
    """As a tensor, or as numbers that are known beforehand."""
    left = [
        f"{s.name} {s.since_version}: {each.name}" for s in schemas()
        for place, each in enumerate(s.inputs)
        if not declared_by(OPERATORS[s.domain, s.name])(place)
        and place not in reads(OPERATORS[s.domain, s.name])[1]
        and not reason(UNCHANGED, s.name, f"input {place}")
    ]  # fmt: skip
    assert left == ["Tile 1: axis"]


def test_no_function_takes_all_other_inputs_without_a_name() -> None:
    """Inputs that are asked for as numbers are counted when they are."""
    for function in OPERATORS.values():
        for each in inspect.signature(function).parameters.values():
            if each.kind is inspect.Parameter.VAR_POSITIONAL and each.name.startswith("_"):
                assert reads(function)[1], function.__name__


RUNTIMES = json.loads((Path(__file__).parent / "runtime_schemas.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("op", [op for domain, op in OPERATORS if domain == RUNTIME])
def test_onnx_runtimes_operators(op: str) -> None:
    """Attributes and inputs of its own domain: `python -m tools.runtime_schemas`."""
    function, row = OPERATORS[RUNTIME, op], RUNTIMES[op]
    left = [name for name in row["attributes"]
            if not is_read(function, name) and not reason(UNCHANGED, op, name)]  # fmt: skip
    assert left == {"FusedGemm": ["activation_gamma"]}.get(op, [])
    for place, _ in enumerate(row["inputs"]):
        assert declared_by(function)(place) or place in reads(function)[1]


def test_runtime_schemas_are_current() -> None:
    pytest.importorskip("onnxruntime")
    from tools.runtime_schemas import schemas as current

    assert current() == RUNTIMES


def test_reasons_are_of_attributes_and_inputs_that_exist() -> None:
    control = [onnx.defs.get_schema(op) for op in ("If", "Loop", "Scan")]
    names = {f"{s.name}.{name}" for s in (*schemas(), *control) for name in s.attributes}
    names |= {f"{s.name}.input {n}" for s in schemas() for n, _ in enumerate(s.inputs)}
    names |= {f"{op}.{name}" for op, row in RUNTIMES.items() for name in row["attributes"]}
    short = {name.partition(".")[2] for name in names}
    assert all(key in (names if "." in key else short) for key in UNCHANGED)


def test_a_model_with_such_an_attribute_is_refused() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 2])
    scale = helper.make_tensor_value_info("s", TensorProto.FLOAT, [4])
    node = helper.make_node("GroupNormalization", ["x", "s", "s"], ["y"], name="norm",
                            num_groups=2, stash_type=10)  # fmt: skip
    graph = helper.make_graph([node], "g", [x, scale], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    with pytest.raises(DataError) as caught:
        compiler.from_onnx(model)(np.ones((1, 4, 2), np.float32), np.ones(4, np.float32))
    assert caught.value.problem.startswith("GroupNormalization norm: the argument stash_type ")
    assert (caught.value.got, caught.value.expected) == ("stash_type=10", "stash_type=1")


def test_an_unread_input_is_refused() -> None:
    tensor = Unread("input 1", "f32 (2,)")
    assert not tensor.is_default
    assert tensor.expected == "no input 1"
