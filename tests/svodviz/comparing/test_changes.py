"""The changes from one revision to the next, and the counterparts of entities."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler import Compilation, Options, Tensor, compile
from svodviz.comparing.changes import EARLY, LATE, Changes
from svodviz.foundation.stages import WITH_GRAPHS
from svodviz.wire.payload import wire

Program = Callable[[Tensor], Tensor]


def made(program: Program) -> Compilation:
    x = Tensor(np.ones((8, 8), "float32"), name="x")
    return compile(program(x), Options(loops="plain"))


@pytest.fixture(scope="module")
def before() -> Compilation:
    return made(lambda x: (x + 1.0).relu())


@pytest.fixture(scope="module")
def after() -> Compilation:
    return made(lambda x: (x + 1.0).sin().relu())


def entity(compilation: Compilation, op: str) -> str:
    """The node of the graph with this operation."""
    nodes = compilation.graph.to_networkx().nodes(data="op")
    return next(str(it) for it, found in nodes if found == op)


def test_every_stage_is_early_or_late() -> None:
    assert (*EARLY, *LATE) == WITH_GRAPHS


def test_what_is_new_is_marked(before: Compilation, after: Compilation) -> None:
    data = wire(after)
    places = {name: place for place, name in enumerate(data["entities"])}
    rows = Changes(before, after).rows(data["stages"], places)
    marks = dict(rows["graph"]["units"][0]["nodes"])
    assert marks[places[entity(after, "sin")]] == "added"
    assert marks[places[entity(after, "relu")]] == "changed"
    assert places[entity(after, "add")] not in marks
    lines = data["stages"][1]["units"][0]["lines"]
    signs = {lines[at][0].split()[2]: sign for at, sign in rows["graph"]["units"][0]["lines"]}
    assert signs["sin"] == "+" and "add" not in signs


def test_what_is_gone_leaves_a_sign(before: Compilation, after: Compilation) -> None:
    data = wire(before)
    rows = Changes(after, before).rows(data["stages"], {})
    lost = [at for at, sign in rows["graph"]["units"][0]["lines"] if sign == "−"]
    lines = data["stages"][1]["units"][0]["lines"]
    assert ["add" in lines[at][0] for at in lost] == [True]
    assert rows["graph"]["count"] >= 1
    assert all(sign != "−" for unit in rows["source"]["units"] for _, sign in unit["lines"])


def test_entities_have_counterparts(before: Compilation, after: Compilation) -> None:
    there, back = Changes(before, after), Changes(after, before)
    for op in ("add", "relu"):
        assert there.counterpart(entity(before, op)) == entity(after, op)
        assert back.counterpart(entity(after, op)) == entity(before, op)
    assert back.counterpart(entity(after, "sin")) == ""
    assert there.counterpart("llvm_passes:0") == ""
    last = before.loops[0].lines[-1].entity
    assert last and there.counterpart(last) == after.loops[0].lines[-1].entity


def test_equal_programs_have_no_changes(before: Compilation) -> None:
    again = made(lambda x: (x + 1.0).relu())
    changes = Changes(before, again)
    lines = range(len(again.user_source.lines))
    assert Changes(before, again, apart=lines).is_none
    assert [it for it in WITH_GRAPHS if it != "source" and changes.count(it)] == []


def test_other_operands_are_a_change() -> None:
    """The lines of both say the same but for numbers."""
    one = made(lambda x: x.exp() - x.sqrt())
    other = made(lambda x: (-(x.sqrt() - x.exp())))
    assert not Changes(one, other).is_none
    lines = range(len(other.user_source.lines))
    assert not Changes(made(lambda x: x.exp() / x.sqrt()), made(lambda x: x.sqrt() / x.exp()),
                       apart=lines).is_none  # fmt: skip
