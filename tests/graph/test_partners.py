"""Links between forward-pass and backward-pass nodes by call, in Python loops and in models."""

import numpy as np

from compiler import Tensor, compile
from compiler.graph.nodes import Elementwise, TensorNode


def named(node: TensorNode) -> str:
    return node.op if isinstance(node, Elementwise) else type(node).__name__.lower()


def test_a_call_and_its_way_back() -> None:
    x = Tensor(np.array([1.0, 2.0]), requires_grad=True)
    y = x.sin() * 3
    graph = compile(y.sum(), y.sum().gradient(x)).optimized_graph
    found = {named(node): graph.partners.get(node) for node in graph.nodes}
    sine, cosine = found["sin"], found["cos"]
    assert sine is not None and cosine is not None
    assert not sine.is_back and cosine.is_back
    assert "cos" in map(named, sine.nodes) and list(map(named, cosine.nodes)) == ["sin"]
    order = {node: place for place, node in enumerate(graph.nodes)}
    for node, partners in graph.partners.items():
        assert node not in partners.nodes
        assert sorted(partners.nodes, key=order.__getitem__) == list(partners.nodes)
        assert all(node in graph.partners[it].nodes for it in partners.nodes)


def test_calls_on_one_line_are_told_apart() -> None:
    x = Tensor(np.array([0.5, 2.0]), requires_grad=True)
    y = x
    for _ in range(3):
        y = y.sin()
    graph = compile(y.sum().gradient(x)).optimized_graph
    powers = [node for node in graph.nodes if named(node) == "sin"]
    backs = [graph.partners[node].nodes for node in powers]
    assert len(powers) == 2 and all(backs)  # of the last one only its slope is needed
    assert len({node for each in backs for node in each}) == sum(map(len, backs))


def test_without_gradients_there_are_none() -> None:
    compilation = compile((Tensor([1.0, 2.0]).exp() + 1).sum())
    assert compilation.graph.partners == {} and compilation.optimized_graph.partners == {}
