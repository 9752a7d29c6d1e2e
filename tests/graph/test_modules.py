"""The tree of modules: of models, of functions, and the lookup by name."""

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor
from compiler.core.modules import in_module
from compiler.graph.modules import WHOLE, Modules


def model(x: Tensor) -> Tensor:
    with in_module("Net", kinds=["Net"]):
        for number in range(2):
            with in_module("encoder", f"layer.{number}", kinds=["Encoder", "Layer"]):
                with in_module("act"):
                    x = x.exp()
                x = x + 1.0
        with in_module("head", "act"):
            return x.relu()


def modules() -> Modules:
    return compiler.compile(model(Tensor(np.ones(3, np.float32))) * 2.0).modules


def test_a_model_is_its_authors_tree_in_the_order_of_running() -> None:
    made = modules()
    assert made.is_model and made.is_tree
    assert [(it.path, it.kind, it.depth) for it in made.rows] == [
        ("", "", 0), ("encoder", "Encoder", 1), ("encoder.layer.0", "Layer", 2),
        ("encoder.layer.0.act", "", 3), ("encoder.layer.1", "Layer", 2),
        ("encoder.layer.1.act", "", 3), ("head", "", 1), ("head.act", "", 2),
    ]  # fmt: skip
    rows = made.rows
    assert rows[0].nodes > rows[1].nodes > rows[2].nodes > rows[3].nodes == 1
    assert rows[1].nodes == rows[2].nodes + rows[4].nodes
    assert str(made).splitlines()[2].split() == ["layer.0", str(rows[2].nodes), "nodes", "Layer"]
    assert made.around(3) == (3, 2, 1, 0) and made.is_inside(3, 1) and not made.is_inside(3, 4)


def test_modules_are_found_by_names_and_ends_of_names() -> None:
    made = modules()
    assert made.find("encoder.layer.1") == 4 and made.find("/encoder/layer.1") == 4
    assert made.find("layer.1.act") == 5 and made.find("head") == 6
    assert made.find(WHOLE) == made.find("") == 0
    with pytest.raises(DataError) as several:
        made.find("act", "trace")
    assert str(several.value).startswith("trace: several modules end in that")
    assert "encoder.layer.0.act, encoder.layer.1.act, head.act" in str(several.value)
    with pytest.raises(DataError, match=r"no such module[\s\S]*'encoder.layer.7'[\s\S]*layer.0"):
        made.find("encoder.layer.7")


def test_of_a_program_without_modules_they_are_its_functions() -> None:
    def layernorm(x: Tensor) -> Tensor:
        return x - x.mean()

    def network(x: Tensor) -> Tensor:
        return layernorm(layernorm(x)).exp()

    modules = compiler.compile(network(Tensor(np.ones(3, np.float32)))).modules
    assert not modules.is_model
    assert [row.name for row in modules.rows][-2:] == ["network", "layernorm"]
    inner = modules.rows[-1]
    assert inner.path.endswith("network.layernorm") and inner.nodes < modules.rows[-2].nodes


def test_two_models_in_a_program_have_their_names_in_paths() -> None:
    x = Tensor(np.ones(3, np.float32))
    with in_module("A"), in_module("act"):
        x = x.exp()
    with in_module("B"), in_module("act"):
        x = x.exp()
    paths = [row.path for row in compiler.compile(x).modules.rows]
    assert paths[-4:] == ["A", "A.act", "B", "B.act"]


def test_its_graph_is_the_tree() -> None:
    made = modules()
    graph = made.to_networkx()
    assert len(graph) == len(made.rows) and graph.number_of_edges() == len(made.rows) - 1
    assert list(graph.successors("modules:1")) == ["modules:2", "modules:4"]
