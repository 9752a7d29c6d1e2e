"""Every part of a graph can be serialised: every kind, every field, every rule."""

import contextlib
import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import compiler
from compiler import Tensor, Variable
from compiler.core.dtypes import DType, float32
from compiler.core.errors import CompileError
from compiler.core.node import Node, field_names, toposort
from compiler.core.written import FUNCTIONS, Reader, Unwritable, Writer, below, load_kinds, place_of
from compiler.graph.kinds.gradient import Ruled, ruled
from compiler.graph.kinds.repeat import with_iterations
from compiler.graph.nodes import Sink, TensorNode, const
from compiler.graph.writable import writable
from compiler.ops import composed
from compiler.run.plans import without_data
from compiler.run.remembered import RECORDS, kinds
from compiler.schedule.items import HostCallback, ScheduleItem

PLAIN = (int, str, bool, float, NoneType, DType)
WITHOUT = {
    (ScheduleItem, "operation"): "a function of the user's, which one process alone knows",
}
"""Fields that may hold values that cannot be serialised, and why no stored program has them."""


@pytest.fixture(scope="module", autouse=True)
def every_file() -> None:
    """All files of the compiler are loaded, and with them all kinds."""
    for module in pkgutil.walk_packages(compiler.__path__, "compiler."):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            assert not str(error).startswith("compiler"), error  # what is not installed


def every_kind(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        yield kind
        yield from every_kind(kind)


def is_writable(hint: Any) -> bool:
    """True if all values of a type can be serialised."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return all(map(is_writable, inner))
    if origin is tuple:
        return all(it is Ellipsis or is_writable(it) for it in inner)
    if origin is Literal:
        return all(type(it) in PLAIN for it in inner)
    if inspect.isclass(origin) and issubclass(origin, Callable):  # type: ignore[arg-type]
        return True  # by name: `Ruled` refuses all others
    is_kind = hint in kinds().values() or (isinstance(hint, type) and issubclass(hint, Node))
    return hint in PLAIN or is_kind


def test_every_kind_of_node_has_a_name_of_its_own() -> None:
    known = {*below(TensorNode)}
    assert len({kind.__name__ for kind in known}) == len(known)
    kinds_there = [it for it in every_kind(TensorNode) if it.__module__.startswith("compiler.")]
    places = {(it.__module__, it.__name__) for it in kinds_there}
    assert {name for _, name in places} - {it.__name__ for it in known} == {"Custom"}
    assert len(places) == len(known) + 1 and "Custom" in FUNCTIONS


def test_every_field_has_a_written_form() -> None:
    unknown = []
    for kind in {*below(TensorNode), *kinds().values()}:
        hints = get_type_hints(kind)
        is_node = issubclass(kind, Node)
        names = field_names(kind) if is_node else [it.name for it in fields(kind)]
        unknown += [(kind, name) for name in names if not is_writable(hints[name])]
    assert set(unknown) == set(WITHOUT)
    assert HostCallback not in RECORDS, "see WITHOUT"


def again(root: Sink) -> TensorNode:
    writer = Writer(writable())
    place = writer.node(root)
    modules, rows = json.loads(json.dumps([writer.modules, writer.rows]))
    load_kinds(modules)
    made: TensorNode = Reader(writable(), rows).value(["n", place])
    return made


X = Tensor(np.linspace(0.1, 0.9, 12, dtype=np.float32).reshape(3, 4), requires_grad=True)
Y = Tensor(np.linspace(0.2, 0.7, 12, dtype=np.float32).reshape(3, 4), requires_grad=True)


def calls() -> dict[str, Callable[[], Any]]:
    """Each public method of a tensor, with as many tensors as it takes."""
    found = {}
    for name in dir(Tensor):
        method = getattr(Tensor, name)
        if not name.startswith("_") and callable(method):
            for number, given in enumerate(((X,), (X, Y), (X, 1), (X, 0.25, 0.5), (X, 2, 2))):
                found[f"{name} {number}"] = lambda m=method, g=given: m(*g)
    return found


STATES = ("numpy", "realize", "tolist", "item", "manual_seed", "to_dask", "save", "load")
"""Methods that do not build programs."""


def tensors_of(made: Any) -> list[Tensor]:
    if isinstance(made, Tensor):
        return [made]
    return [it for it in made if isinstance(it, Tensor)] if isinstance(made, tuple | list) else []


@pytest.mark.filterwarnings("ignore")
def test_every_method_makes_what_can_be_written() -> None:
    """Its value, and its gradient as it stands before it becomes operations."""
    count, rules = 0, set()
    for name, call in calls().items():
        if name.split()[0] in STATES:
            continue
        try:
            made = tensors_of(call())
        except Exception:  # another number of arguments, or of another kind
            continue
        for each in made:
            nodes = [each.node]
            if each.dtype.is_float:
                with contextlib.suppress(CompileError):  # it does not depend on X
                    nodes.append(each.sum().gradient(X).node)
            root, _ = without_data(nodes)
            assert again(root) is root, name
            rules |= {r for n in with_iterations(root) if isinstance(n, Ruled) for r in n.rules}
            count += 1
    assert count > 250 and len(rules) > 25


def test_extents_that_are_variables_come_back() -> None:
    n = Variable("n", 1, 8)
    x = Tensor(np.ones((4, 6), np.float32), symbolic={0: n})
    made = (x.reshape(-1)[: n.bind(3)] * 2.0).cumsum(0)
    root, _ = without_data([made.node, x.reshape((2, -1)).sum(0).node, x.flatten().node])
    assert again(root) is root


def test_every_rule_has_a_place() -> None:
    rules = [it for name, it in vars(composed).items() if name.startswith("of_")]
    assert rules and all(place_of(it) == (composed.__name__, it.__name__) for it in rules)


def test_other_functions_are_refused() -> None:
    x = const(1.0, float32, (3,))
    for function in (lambda b, g, y, x: g, len, np.exp, test_every_rule_has_a_place, print):
        assert place_of(function) is None
        problem = ruled(x, (function,), x).problem()  # type: ignore[attr-defined]
        assert problem is not None and problem.what == "a rule has no place of its own"
    with pytest.raises(Unwritable, match="<lambda> is known to one process alone"):
        Writer(writable()).value(lambda: None)


@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "system"), ("compiler.core.written", "no_function"), ("compiler.ops.composed", "math"),
     ("compiler.ops.composed", "TypeVar"), ("compilerx", "f"), ("compiler", "Tensor")],
)  # fmt: skip
def test_rows_name_no_other_function(module: str, name: str) -> None:
    with pytest.raises((ValueError, ImportError)):
        Reader(writable(), []).value(["f", module, name])


def test_programs_that_differ_in_a_rule_are_two() -> None:
    x = const(1.0, float32, (3,))
    rows = []
    for rule in (composed.of_log1p, composed.of_expm1):
        writer = Writer(writable())
        writer.node(ruled(x, (rule,), x))
        rows.append(writer.rows)
    assert rows[0] != rows[1]


def test_a_kind_that_is_written_is_loaded_first() -> None:
    x = Tensor(np.ones((3, 4), np.float32)).cumsum(0)
    root, _ = without_data([x.node])
    writer = Writer(writable())
    writer.node(root)
    assert {type(node).__module__ for node in toposort([root])} == set(writer.modules)
    with pytest.raises(ValueError, match="'json' is no file of this package"):
        load_kinds(["json"])
