"""Nodes of two graphs that are the same node."""

from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svodviz.comparing.pair_nodes import CHANGED, ONLY, pair_nodes

Rows = list[tuple[str, str, tuple[str, ...]]]


def graph(rows: Rows) -> Any:
    """A graph of rows (key, words, operands); words are op and, after a blank, the shape."""
    made = nx.DiGraph()
    for key, words, operands in rows:
        op, _, shape = words.partition(" ")
        made.add_node(key, op=op, shape=shape)
        for position, source in enumerate(operands):
            made.add_edge(source, key, operand=position)
    return made


CHAIN: Rows = [("x", "x", ()), ("m", "mul", ("x",)), ("s", "sum", ("m",)), ("e", "exp", ("s",))]


@pytest.mark.parametrize(("other", "only_a", "only_b", "changed"), [
    (CHAIN, "", "", ""),
    # Other keys, the same graph.
    ([("1", "x", ()), ("2", "mul", ("1",)), ("3", "sum", ("2",)), ("4", "exp", ("3",))],
     "", "", ""),
    # One put in between: only its reader changed.
    ([("x", "x", ()), ("m", "mul", ("x",)), ("r", "relu", ("m",)), ("s", "sum", ("r",)),
      ("e", "exp", ("s",))], "", "r", "s"),
    # One taken out.
    ([("x", "x", ()), ("s", "sum", ("x",)), ("e", "exp", ("s",))], "m", "", "s"),
    # The last one is another.
    ([("x", "x", ()), ("m", "mul", ("x",)), ("s", "sum", ("m",)), ("l", "log", ("s",))],
     "e", "l", ""),
    # Other shapes all the way: partners all the same.
    ([("x", "x 8", ()), ("m", "mul 8", ("x",)), ("s", "sum 8", ("m",)), ("e", "exp 8", ("s",))],
     "", "", "xmse"),
    ([], "xmse", "", ""),
])  # fmt: skip
def test_what_differs(other: Rows, only_a: str, only_b: str, changed: str) -> None:
    found = pair_nodes(graph(CHAIN), graph(other))
    assert {it for it, mark in found.marks_a.items() if mark == ONLY} == set(only_a)
    assert {it for it, mark in found.marks_b.items() if mark == ONLY} == set(only_b)
    assert {it for it, mark in found.marks_a.items() if mark == CHANGED} == set(changed)
    assert found.is_same == (not only_a and not only_b and not changed)


def test_operands_in_another_order_are_a_change() -> None:
    inputs: Rows = [("x", "x", ()), ("y", "y", ())]
    found = pair_nodes(graph([*inputs, ("d", "sub", ("x", "y"))]),
                       graph([*inputs, ("d", "sub", ("y", "x"))]))  # fmt: skip
    assert found.marks_a == {"x": "", "y": "", "d": CHANGED}


def test_graphs_with_loops_have_partners_too() -> None:
    blocks = graph([("a", "entry", ()), ("b", "loop", ("a",)), ("c", "exit", ("b",))])
    blocks.add_edge("b", "b", operand=-1)
    found = pair_nodes(blocks, blocks.copy())
    assert found.to_b == {"a": "a", "b": "b", "c": "c"}


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    size = draw(st.integers(0, 12))
    rows: Rows = []
    for number in range(size):
        operands = draw(st.lists(st.integers(0, number - 1), max_size=2)) if number else []
        op = draw(st.sampled_from(["add", "mul", "exp"]))
        rows.append((str(number), op, tuple(str(it) for it in dict.fromkeys(operands))))
    return graph(rows)


@given(graphs(), graphs())
def test_partners_are_one_to_one_and_of_one_op(a: Any, b: Any) -> None:
    found = pair_nodes(a, b)
    assert {b: a for a, b in found.to_b.items()} == found.to_a
    assert all(a.nodes[x]["op"] == b.nodes[y]["op"] for x, y in found.to_b.items())
    assert set(found.marks_a) == set(a)
    assert set(found.marks_b) == set(b)
    assert {it for it, mark in found.marks_a.items() if mark == ONLY} == set(a) - set(found.to_b)


@given(graphs(), st.randoms(use_true_random=False))
def test_names_and_order_of_nodes_mean_nothing(a: Any, random: Any) -> None:
    names = [f"n{it}" for it in a]
    random.shuffle(names)
    renamed = nx.relabel_nodes(a, dict(zip(a, names, strict=True)))
    assert pair_nodes(a, renamed).is_same
