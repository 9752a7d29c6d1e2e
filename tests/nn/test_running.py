"""Nodes are attributed to the module that made them, by its name in the model that was called."""

import numpy as np
import pytest

from compiler import Tensor, compile, jit, nn, optim
from compiler.core.modules import in_module
from compiler.core.node import toposort
from compiler.core.origin import state


class Block(nn.Module):
    def __init__(self) -> None:
        self.norms = [nn.LayerNorm(4), nn.LayerNorm(4)]
        self.wide = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.norms[1](self.wide(self.norms[0](x)))


class Net(nn.Module):
    def __init__(self) -> None:
        self.blocks = [Block(), Block()]
        self.heads = {"a": nn.Linear(4, 2)}

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return self.heads["a"](x.relu())


def tensor() -> Tensor:
    return Tensor(np.ones((3, 4), np.float32), name="x")


def paths(y: Tensor) -> set[str]:
    """The paths of the modules that made something."""
    found = (node.origin for node in toposort([y.node]))
    return {it.module.path for it in found if it and it.module}


def test_paths_are_those_of_the_state() -> None:
    net = Net()
    found = paths(net(tensor()))
    assert found == {"", "blocks.0.norms.0", "blocks.0.norms.1", "blocks.0.wide", "heads.a",
                     "blocks.1.norms.0", "blocks.1.norms.1", "blocks.1.wide"}  # fmt: skip
    assert found < {name for name, _ in net.named_modules()}
    assert state.module is None


def test_a_module_is_found_where_the_one_around_it_was_not_called() -> None:
    class Direct(Net):
        def forward(self, x: Tensor) -> Tensor:
            return self.blocks[1].norms[0](x)

    y = Direct()(tensor())
    assert paths(y) == {"blocks.1.norms.0"}
    origin = y.node.origin
    assert origin is not None and origin.module is not None
    assert [it.kind for it in origin.module.chain()] == ["Direct", "Block", "LayerNorm"]


def test_names_follow_what_stands_in_a_model() -> None:
    class Pair(nn.Module):
        def __init__(self) -> None:
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x: Tensor) -> Tensor:
            return self.first(x)

    pair = Pair()
    assert paths(pair(tensor())) == {"first"}
    del pair.second
    pair.other = pair.first
    del pair.first
    pair.forward = lambda x: pair.other(x)
    assert paths(pair(tensor())) == {"other"}


def test_what_is_nowhere_in_the_model_has_the_name_of_its_class() -> None:
    class Maker(nn.Module):
        def __init__(self) -> None:
            self.parts: list[nn.Module] = []

        def forward(self, x: Tensor) -> Tensor:
            return Block()(x)

    inner = {"Block.norms.0", "Block.wide", "Block.norms.1"}
    assert paths(Maker()(tensor())) - {""} == inner  # the block's own tensors are made by `Maker`
    model = Maker()
    model(tensor())
    with in_module("Mine"):
        assert paths(model(tensor())) - {"", "Maker"} == {f"Maker.{it}" for it in inner}


def test_an_error_leaves_every_module() -> None:
    class Broken(nn.Module):
        def __init__(self) -> None:
            self.inner = nn.Linear(5, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x)

    with pytest.raises(ValueError, match="5"):
        Broken()(tensor())
    assert state.module is None
    assert paths(Net()(tensor())) > {"heads.a"}


def test_a_module_that_holds_the_one_around_it_can_be_called() -> None:
    class Child(nn.Module):
        def __init__(self, parent: nn.Module) -> None:
            self.parent = parent

        def forward(self, x: Tensor) -> Tensor:
            return x.exp()

    class Parent(nn.Module):
        def __init__(self) -> None:
            self.child = Child(self)

        def forward(self, x: Tensor) -> Tensor:
            return self.child(x)

    assert paths(Parent()(tensor())) == {"child"}


def test_the_table_of_modules_has_a_step_of_learning() -> None:
    net = Net()
    rule = optim.SGD(net.parameters(), lr=0.1)

    @jit
    def step(x: Tensor) -> Tensor:
        loss = net(x).square().mean()
        loss.backward()
        rule.step()
        rule.zero_grad()
        return loss

    step(tensor())
    made = step.compilation(tensor())
    rows = [row.path for row in made.modules.rows]
    assert "blocks.0.norms.1" in rows and "SGD" in rows and "heads.a" in rows
    names = {row.name for row in made.scopes.rows if row.module}
    assert {"Net", "blocks.0", "blocks.1", "heads.a", "SGD"} <= names


def test_functions_stay_a_tree_where_modules_tell_nothing_apart() -> None:
    def twice(x: Tensor) -> Tensor:
        return nn.Linear(4, 4)(x) * 2

    def network(x: Tensor) -> Tensor:
        return twice(x) + twice(x)

    made = compile(network(tensor())).modules
    assert not made.is_model
    assert {row.name for row in made.rows} >= {"network", "twice"}
