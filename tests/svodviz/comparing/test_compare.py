"""Two compilations compared."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from svodviz.comparing import pair_kernels
from svodviz.comparing.compare import compare
from svodviz.comparing.comparison import (
    COMPARED,
    Comparison,
    Figure,
    PassPair,
    PassSide,
    change,
    duration,
    written,
)
from svodviz.comparing.pair_nodes import Pairing
from svodviz.widget.explorer import explore
from tests.svodviz.sample import HOSTILE, failing, hostile, rich, sample

TRACED = Options(trace=True)


def softmax(columns: int = 10, more: bool = False) -> Tensor:
    x = Tensor(np.zeros((64, 128), np.float32), name="x")
    w = Tensor(np.zeros((128, columns), np.float32), name="w")
    y = x @ w
    return ((y.relu() + 1.0) if more else y).softmax()


def figure(made: Comparison, name: str) -> tuple[float | None, float | None]:
    return next((it.a, it.b) for it in made.figures if it.name == name)


def test_the_same_program_twice() -> None:
    made = compare(softmax(), softmax())
    assert made.is_same
    assert all(it.is_same for it in (*made.figures, *made.passes, *made.kernels))
    assert not any(made.differs(it) for it in (*COMPARED, "passes"))
    assert str(made).splitlines()[-1] == "no difference"


def test_an_operation_more() -> None:
    made = compare(softmax(), softmax(more=True))
    assert not made.is_same
    graph, after = made.stages["graph"]
    only = [it for it, mark in graph.pairing.marks_b.items() if mark == "only"]
    nodes = made.b.graph.to_networkx().nodes
    assert sorted(nodes[it]["op"] for it in only) == ["add", "const", "relu"]
    assert not after.is_same
    assert figure(made, "graph nodes") == (18, 21)
    # The matrix product takes the new operations in; the softmax is the same code.
    assert [(it.a, it.b, it.is_same) for it in made.kernels] == [
        ("k0", "k0", False), ("k1", "k1", True)]  # fmt: skip
    by_name = {(it.stage, it.name): it for it in made.passes}
    assert dict(by_name["graph", "decompose"].b.rules) == {"relu": 1}
    assert "+1 relu" in str(made)


def test_without_the_choices_of_loops() -> None:
    made = compare(softmax(), compile(softmax(), Options(trace=True, loops="plain")))
    lacking = {it.name for it in made.passes if it.b is None}
    assert {"tile", "vectorize"} <= lacking
    assert not made.differs("graph")
    assert made.differs("loops")
    # Kernels stay partners by what they compute though no line of their code is the same.
    assert [(it.a, it.b, it.is_same) for it in made.kernels] == [
        ("k0", "k0", False), ("k1", "k1", False)]  # fmt: skip


def test_kernels_of_their_own() -> None:
    other = Tensor(np.zeros(500, np.float32), name="z").cos()
    made = compare([softmax(), other], softmax())
    lonely = [it for it in made.kernels if it.b is None]
    assert len(lonely) == 1
    assert all(it.b is None for it in lonely[0].figures)
    assert sum(it.is_same for it in made.kernels) == 2
    units = [it for it in made.stages["lowered"] if it.b is None]
    assert len(units) == 1
    assert not units[0].is_same
    assert set(units[0].pairing.marks_a.values()) == {"only"}


def test_other_shapes_are_changes_not_other_nodes() -> None:
    made = compare(softmax(10), softmax(12))
    marks = made.stages["graph"][0].pairing.marks_b
    assert "only" not in marks.values()
    assert "changed" in marks.values()


def test_sums_of_kernels_are_the_figures() -> None:
    made = compare(softmax(), softmax(more=True))
    for name, whole in (("flops", "flops"), ("bytes", "bytes moved"),
                        ("instructions", "instructions")):  # fmt: skip
        parts = [next(it for it in pair.figures if it.name == name) for pair in made.kernels]
        assert figure(made, whole) == (sum(it.a for it in parts), sum(it.b for it in parts))


def test_times_are_measured_when_asked_for() -> None:
    made = compare(softmax(), softmax(more=True), measure=True)
    a, b = figure(made, "measured, one run")
    assert a is not None and b is not None
    assert 100 < a < 1e9
    assert 100 < b < 1e9


@pytest.mark.parametrize(("a", "b"), [(sample, rich), (sample, hostile), (hostile, sample)])
def test_stand_ins_are_compared(a: object, b: object) -> None:
    made = compare(a(), b())  # type: ignore[operator]
    assert not made.is_same
    assert "\x00" not in str(made)
    assert "\u202e" not in str(made)
    assert len(HOSTILE) > 1


def test_a_stage_that_fails_is_named() -> None:
    broken = failing(sample(), "assembly", RuntimeError("no target"))
    made = compare(sample(), broken)
    assert made.missing == {"asm": "RuntimeError: no target"}
    assert figure(made, "machine instructions")[1] is None
    assert "asm is missing: RuntimeError: no target" in str(compare(rich(), broken))


@pytest.mark.parametrize(("number", "unit", "text"), [
    (1536, "bytes", "1,536 bytes"), (12, "", "12"), (None, "ns", "–"), (6200, "ns", "6.2 µs"),
    (950, "ns", "950 ns"), (2.5e6, "ns", "2.5 ms"), (3e9, "ns", "3 s"),
])  # fmt: skip
def test_numbers_in_words(number: float | None, unit: str, text: str) -> None:
    assert written(number, unit) == text
    assert duration(0) == "0 ns"


@pytest.mark.parametrize(("a", "b", "unit", "text"), [
    (3, 5, "", "+2"), (5, 3, "bytes", "−2"), (4, 4, "", ""), (None, 4, "", ""),
    (100, 250, "ns", "× 2.50"),
])  # fmt: skip
def test_changes_in_words(a: float | None, b: float | None, unit: str, text: str) -> None:
    assert change(Figure("x", unit, a, b)) == text


def test_what_was_not_traced_is_not_called_different() -> None:
    x = Tensor(np.ones((8, 4), np.float32), name="x")
    traced = compile(x.relu().sum(1), name="traced")
    bare = compile(x.relu().sum(1), Options(), name="bare")
    made = compare(bare, traced)
    assert [it for it in made.passes if not it.is_same] == []
    assert next(it.a for it in made.figures if it.name == "rewrites") is None
    assert "the list of rewrites in a" in made.missing
    assert compare(traced, traced).missing == {}


def test_two_are_measured_where_that_is_asked() -> None:
    x = Tensor(np.ones((8, 4), np.float32), name="x")
    shown = explore(x.sum(1), x.sum(0), measure=True)
    assert "measured, one run" in [it[0] for it in shown.wire["figures"]]


def test_passes_that_did_other_things_as_often_differ() -> None:
    sides = [PassSide(0, True, Counter(rules)) for rules in ({"a": 2}, {"b": 2}, {"a": 2})]
    pairs = [PassPair("graph", "", "simplify", sides[0], it) for it in sides[1:]]
    assert [it.is_same for it in pairs] == [False, True]
    idle = PassSide(0, False, Counter())
    assert not PassPair("graph", "", "simplify", sides[0], idle).is_same
    assert not PassPair("graph", "", "simplify", None, idle).is_same


def test_the_work_that_kernels_share_is_a_part_of_all_that_they_do() -> None:
    """A kernel that does the same and much more is no better a partner than its equal."""
    graphs = Pairing({f"a{it}": f"b{it}" for it in range(9)}, {})
    mine = {"k0": frozenset({"a0", "a1"})}
    large = frozenset(f"b{it}" for it in range(8))
    theirs = {"large": large, "near": frozenset({"b0", "b1", "b8"})}
    rows = pair_kernels._by_work(mine, theirs, ["k0"], ["large", "near"], graphs)
    assert [(b, round(share, 3)) for _, b, share in rows] == [("near", 0.667), ("large", 0.25)]


def test_the_same_program_made_by_other_rewrites_is_not_the_same() -> None:
    found = compare(sample(), sample())
    assert found.is_same
    one = PassPair("graph", "", "simplify", PassSide(0, True, Counter({"a": 1})), None)
    other = replace(found, passes=(*found.passes, one))
    assert not other.is_same and other.differs("passes") and not other.differs("graph")
