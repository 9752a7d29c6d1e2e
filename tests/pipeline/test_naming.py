"""The user's variables as names of nodes."""

import numpy as np

import compiler
from compiler import Tensor
from compiler.graph.nodes import Sink
from compiler.pipeline.naming import names


def named(*results: Tensor) -> dict[str, str]:
    """The operation that each variable stands for."""
    found = names(Sink(tuple(t.node for t in results)))
    return {name: type(node).__name__ for node, name in found.items()}


def test_of_what_a_line_makes_the_last_is_the_variable() -> None:
    x = Tensor(np.ones((2, 3), "f4"))
    hidden = (x * 2 + 1).relu()
    total: Tensor = hidden.sum()
    assert named(total) == {"x": "Buffer", "hidden": "Elementwise", "total": "Reshape"}


def test_a_statement_may_have_several_lines() -> None:
    x = Tensor(
        np.ones((2, 3), "f4")
    )  # fmt: skip
    assert "x" in named(x + 1)


def halved(x: Tensor) -> Tensor:
    twice = x * 2
    return twice / 4


def test_what_a_function_gives_has_the_name_of_what_it_is_assigned_to() -> None:
    x = Tensor(np.ones((2, 3), "f4"))
    hidden = halved(x)
    more = [hidden + 1]
    found = names(Sink((more[0].node,)))
    assert found[hidden.node] == "hidden"
    assert sorted(found.values()) == ["hidden", "twice", "x"]


def test_in_a_loop_the_last_value_has_the_name() -> None:
    x = Tensor(np.ones(3, "f4"))
    for _ in range(3):
        x = x * 2
    found = names(Sink((x.node,)))
    assert [(node is x.node, name) for node, name in found.items()] == [(False, "x"), (True, "x")]


def test_what_is_no_plain_variable_has_no_name() -> None:
    made = [Tensor(np.ones(3, "f4"))]
    made[0] = made[0] * 2
    assert "made" not in named(made[0] + Tensor(np.ones(3, "f4")))


def test_a_program_that_cannot_be_read_has_no_names() -> None:
    space = {"Tensor": Tensor, "np": np}
    exec(compile("y = Tensor(np.ones(3)) + 1", "<no such file>", "exec"), space)
    assert named(space["y"]) == {}  # type: ignore[arg-type]


def test_names_are_drawn_and_stay_through_passes() -> None:
    x = Tensor(np.ones((4, 4), "f4"))
    y = (x + 0).relu()
    made = compiler.compile(y)
    for stage, kind in ((made.graph, "relu"), (made.optimized_graph, "max")):
        facts = stage.to_networkx().nodes(data=True)
        found = {row["name"]: row["op"] for _, row in facts if row["name"]}
        assert found == {"x": "buffer", "y": kind}
    graph = next(iter(made.passes[0].replay()))
    assert {"x", "y"} <= {row["name"] for _, row in graph.nodes(data=True)}
