"""The outcome of a search: in words, as a table, as a tree."""

from dataclasses import replace

import networkx as nx
import pytest

from compiler.loops.choices import PLAIN
from compiler.tune.duel import Duel
from compiler.tune.trials import Trial, fastest
from compiler.tune.tuning import SHOWN, Found, Tuning
from tests.tune.test_remembered import FOUND

TUNING = Tuning(title="tuning k3", name="k3", kernel=3, found=FOUND)
LOST = replace(FOUND, best=0, duel=Duel(0.0, 0.0, 0.0, 0.0, 0))


def test_words() -> None:
    assert TUNING.words == "2.00× faster than the default (1 µs vs 2 µs), 3 tried in 4.5 s"
    lost = replace(TUNING, found=LOST)
    assert lost.words == "nothing is faster than the default (2 µs) by more than the noise, " \
        "3 tried in 4.5 s"  # fmt: skip
    assert replace(TUNING, found=replace(FOUND, is_remembered=True)).words.endswith("remembered")
    assert replace(lost, why_not="it is raining").words == "not tuned: it is raining"


def test_the_best_and_its_decision() -> None:
    assert TUNING.best is FOUND.trials[2] and TUNING.speedup == 2.0 and TUNING.is_faster
    decision = TUNING.decision("loops:3:0")
    assert decision.subject == "loops:3:0" and decision.taken
    assert decision.reason.startswith("tuned: tile i0 32 mask; reorder i0.1 i0.0; 2.00× faster")
    lost = replace(TUNING, found=LOST)
    assert lost.speedup == 1.0 and not lost.decision("").taken


def test_the_tree_is_rooted_at_the_default() -> None:
    graph = TUNING.to_networkx()
    assert nx.is_arborescence(graph)
    assert [n for n, d in graph.in_degree() if not d] == ["tuning:3:0"]
    edge = graph.edges["tuning:3:0", "tuning:3:2"]
    assert edge == {"operand": -1, "kind": "change", "change": "tile i0 16 → 32"}


def test_nodes_say_what_was_measured_or_refused() -> None:
    nodes = TUNING.to_networkx().nodes
    assert [nodes[f"tuning:3:{n}"]["kind"] for n in range(3)] == ["tried", "refused", "best"]
    assert nodes["tuning:3:1"]["refused"] == "estimated to be slower"
    assert nodes["tuning:3:2"]["seconds"] == 1e-6
    assert nodes["tuning:3:2"]["cost_ns"] == pytest.approx(1000)
    needed = {"op", "kind", "argument", "dtype", "shape", "name", "origins", "group"}
    assert all(needed <= set(facts) for facts in nodes.values())


def test_the_table_has_the_fastest_first() -> None:
    rows = repr(TUNING).splitlines()
    assert rows[0].startswith("k3: 2.00×") and "★" in rows[1] and "tile i0 16 → 32" in rows[1]
    assert rows[-1] == "1 refused"
    assert len(str(TUNING).splitlines()) == 4


def test_a_long_table_is_cut() -> None:
    many = tuple(Trial(n, n - 1 if n else None, f"change {n}", PLAIN, 1.0 + n) for n in range(40))
    shown = repr(replace(TUNING, found=Found(many, 0, FOUND.duel)))
    assert f"… {40 - SHOWN} slower ones" in shown and "change 39" not in shown


def test_entities_are_those_of_its_lines() -> None:
    entities = [line.entity for line in TUNING.lines]
    assert entities == ["tuning:3:2", "tuning:3:0", "tuning:3:1", "tuning:3:2"]


def test_the_fastest_are_those_that_ran() -> None:
    assert [t.number for t in fastest(FOUND.trials, 5)] == [2, 0]
    assert [t.number for t in fastest(FOUND.trials, 1)] == [2]
