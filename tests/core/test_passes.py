"""Passes as a value: edited, run in other orders, and refused in words where that cannot be."""

import re

import numpy as np
import pytest

from compiler import PASSES, Compilation, Options, PassError, Passes, Tensor, compile, prepare
from compiler.pipeline.rows import PIPELINE
from compiler.pipeline.user_rule import rule
from compiler.settings.options import DataError

GRAPH = [row.name for row in PASSES.of("graph")]
SIMPLIFY, LAST = GRAPH.index("simplify"), len(GRAPH) - 1


def without(*gone: str) -> list[str]:
    """The usual passes, but for some."""
    return [name for name in GRAPH if name not in gone]


def first(name: str, before: str) -> list[str]:
    """The usual passes with one right before another."""
    rest = without(name)
    place = rest.index(before)
    return [*rest[:place], name, *rest[place:]]


x = Tensor(np.linspace(-2, 2, 64 * 96, dtype=np.float32).reshape(64, 96), name="x")


def names(passes: Passes, stage: str = "graph") -> list[str]:
    return [row.name for row in passes.of(stage)]


def ran(made: Compilation, stage: str = "graph") -> list[str]:
    return [record.name for record in made.passes if record.stage == stage]


@rule("exp")
def nothing(node: object) -> None:
    """exp(x) = exp(x)"""


def test_the_usual_passes_are_those_of_the_pipeline() -> None:
    assert list(PASSES) == [row for row in PIPELINE if row.is_pass]
    y = x.softmax(1) @ x.T
    usual, same = compile(y), compile(y, passes=PASSES)
    assert ran(usual) == ran(same) == GRAPH
    assert str(usual.loops[0]) == str(same.loops[0])
    assert same.check().ok


EDITS = (
    ("before", lambda p: p.before("simplify", nothing),
     [*GRAPH[:SIMPLIFY], "nothing", *GRAPH[SIMPLIFY:]]),
    ("after", lambda p: p.after(GRAPH[LAST], nothing), [*GRAPH, "nothing"]),
    ("without", lambda p: p.without("shard", "split_reduction"),
     without("shard", "split_reduction")),
    ("move", lambda p: p.move("simplify", before="decompose"),
     first("simplify", "decompose")),
    ("move behind", lambda p: p.move("simplify", after=GRAPH[LAST]),
     [*without("simplify"), "simplify"]),
    ("repeat", lambda p: p.repeat("simplify", 3),
     [*GRAPH[:SIMPLIFY], "simplify", "simplify", *GRAPH[SIMPLIFY:]]),
)  # fmt: skip


@pytest.mark.parametrize(("word", "edit", "expected"), EDITS, ids=[row[0] for row in EDITS])
def test_edits(word: str, edit: object, expected: list[str]) -> None:
    passes = edit(PASSES)  # type: ignore[operator]
    assert names(passes) == expected
    assert names(PASSES) == GRAPH
    compilation = compile((x + 1.0).softmax(1).sum(0), passes=passes)
    assert ran(compilation) == expected
    assert compilation.check().ok


def test_a_stage_before_the_name_tells_passes_apart() -> None:
    assert "simplify" in names(PASSES.without("simplify"), "loops")
    assert "simplify" not in names(PASSES.without("loops.simplify"), "loops")
    loops = names(PASSES.repeat("loops.coalesce"), "loops")
    place = loops.index("coalesce")
    assert loops[place : place + 2] == ["coalesce"] * 2 and "coalesce" not in loops[place + 2 :]


REFUSED = (
    (lambda: PASSES.after("simplifi", nothing), "there is no pass simplifi"),
    (lambda: PASSES.after("tile", nothing), "nothing is a pass on graph, tile on loops"),
    (lambda: PASSES.after("simplify", 3), "this is no pass"),
    (lambda: PASSES.move("simplify"), "move takes one place"),
    (lambda: PASSES.repeat("simplify", 0), "once or more"),
    (lambda: PASSES.repeat("simplify", "2"), "once or more"),  # type: ignore[arg-type]
    (lambda: PASSES.move("simplify", before="tile"), "simplify is a pass on graph, tile on loops"),
)


@pytest.mark.parametrize(("edit", "words"), REFUSED, ids=[row[1] for row in REFUSED])
def test_edits_that_are_refused(edit: object, words: str) -> None:
    with pytest.raises(PassError, match=re.escape(words)):
        edit()  # type: ignore[operator]


def parts() -> Tensor:
    return x.shard(("CPU", "CPU:1"), 0).exp()


def many() -> Tensor:
    return Tensor(np.ones((512, 512), np.float32)) @ Tensor(np.ones((512, 512), np.float32))


ORDERS = (
    ("simplify first", PASSES.move("simplify", before="cse"), x.exp,
     "cse gives it, which comes later: move simplify behind cse"),
    ("no cse", PASSES.without("cse"), x.exp,
     "cse gives it, which these passes leave out: they need it before decompose"),
    ("shard too early", PASSES.move("shard", before="decompose"), x.relu,
     "decompose gives it, which comes later: move shard behind decompose"),
    ("two stages too early", PASSES.move("split_reduction", before="shard"), parts,
     "shard gives it, which comes later: move split_reduction behind shard"),
    ("no decompose", PASSES.without("decompose", "shard", "split_reduction"), x.relu,
     "decompose gives it, which these passes leave out: they need it before partition"),
    ("no shard", PASSES.without("shard", "split_reduction"), parts,
     "shard gives it, which these passes leave out: they need it before partition"),
    ("no simplest indices", PASSES.without("loops.simplify"), lambda: x.T.reshape(-1).exp(),
     "simplify gives it, which these passes leave out: they need it before split"),
    ("lanes before tiles", PASSES.move("tile", after="vectorize"),
     lambda: Tensor(np.ones(100_000, np.float32)).exp(),
     "tile gives it, which comes later: move unroll behind tile"),
    ("stores past the caches before lanes", PASSES.move("stream", before="vectorize"),
     lambda: Tensor(np.ones(1 << 23, np.float32)).exp(),
     "vectorize gives it, which comes later: move stream behind vectorize"),
    ("fetches before lanes", PASSES.move("prefetch", before="unroll"),
     lambda: Tensor(np.ones((300, 2048), np.float32)).softmax(1),
     "vectorize gives it, which comes later: move prefetch behind vectorize"),
    ("coalesce after tile", PASSES.repeat("coalesce").move("coalesce", after="tile"), many,
     "tile ends it, which stands before: move coalesce before tile"),
)  # fmt: skip


@pytest.mark.parametrize("row", ORDERS, ids=[row[0] for row in ORDERS])
def test_orders_that_cannot_run(row: tuple[str, Passes, object, str]) -> None:
    _, passes, program, words = row
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        compile(program(), passes=passes)  # type: ignore[operator]
    assert "test_passes.py" in str(caught.value)


def test_a_pass_that_is_left_out_is_needed_only_where_it_has_something_to_do() -> None:
    compilation = compile(x * 2.0 + 1.0, passes=PASSES.without("decompose", "shard"))
    assert compilation.check().ok


def test_choices_that_no_pass_is_left_for_are_not_made() -> None:
    y = Tensor(np.ones(1 << 20, np.float32)).exp()
    assert "vectorize" in str(compile(y).choices["k0"])
    compilation = compile(y, passes=PASSES.without("vectorize", "stream"))
    assert "vectorize" not in str(compilation.choices["k0"])
    assert compilation.check().ok


def test_programs_made_by_other_passes_are_kept_apart() -> None:
    y = Tensor(np.linspace(0, 1, 1 << 16, dtype=np.float32)).exp()
    plain = Options(passes=PASSES.without("vectorize", "unroll"))
    assert compile(y).load().keys() == compile(y, plain).load().keys()
    first, second = (next(iter(compile(y, o).load().values())) for o in (Options(), plain))
    assert first is not second
    np.testing.assert_allclose(prepare(y, plain).run()[0], prepare(y).run()[0], rtol=1e-6)


def test_options_take_passes_and_nothing_else() -> None:
    with pytest.raises(DataError, match="these are no passes"):
        Options(passes=["simplify"])  # type: ignore[arg-type]


def test_passes_in_print() -> None:
    text = str(PASSES.after("simplify", nothing))
    assert "graph.nothing          exp(x) = exp(x)" in text
    assert repr(PASSES.without("simplify")).startswith("Passes(graph.differentiate, graph.cse,")
