"""Forwarded stores: the same values, without a copy of an optimiser's state."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import compiler
from compiler import Tensor, nn, optim
from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.graph import nodes
from compiler.graph.forward_stores import forward_stores
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import Sink, elementwise
from compiler.schedule.items import Kernel

NUMBERS = itertools.count(1)
X = np.arange(1, 9, dtype="float32").reshape(2, 4)


def source(name: str, size: int) -> nodes.Buffer:
    """A buffer of float32."""
    return nodes.Buffer((), next(NUMBERS), (size,), dtypes.float32, name)


def after(*results: nodes.TensorNode) -> tuple[nodes.TensorNode, ...]:
    """The results after the pass, which writes a match for each reader it moves."""
    root = forward_stores(Sink(results), Provenance())
    return root.sources


def test_each_reader_of_a_state_is_a_match() -> None:
    mean = source("mean", 4)
    new = elementwise("neg", mean)
    matches: list[Match] = []
    root = Sink((Assign((mean, new)), elementwise("exp", new), elementwise("log2", new)))
    forward_stores(root, Provenance(), matches)
    assert [match.rule for match in matches] == ["forward_stores", "forward_stores"]


def left_alone() -> dict[str, tuple[nodes.TensorNode, ...]]:
    """Programs that stay as they are, by why."""
    mean, other = source("mean", 4), source("other", 4)
    new = elementwise("neg", mean)
    is_written = Assign((mean, new))
    reader = elementwise("exp", new)
    half = elementwise("neg", source("half", 2))
    moved = nodes.Flip((other,), (0,))
    return {
        "one reader": (is_written, elementwise("exp", other)),
        "a result": (is_written, new, reader),
        "the old value is read": (is_written, reader, elementwise("exp2", mean)),
        "the old value is read, with the new one": (is_written, elementwise("add", new, mean)),
        "it is written again": (Assign((is_written, other)), reader),
        "a part": (Assign((source("four", 4), half, ), ((0, 2, 1),)), elementwise("exp", half)),
        "moved elements": (Assign((mean, moved)), elementwise("exp", moved)),
    }


@pytest.mark.parametrize("why", left_alone())
def test_what_stays_as_it_is(why: str) -> None:
    results = left_alone()[why]
    assert after(*results) == results


def test_two_targets_of_one_value() -> None:
    """The second one is a copy of the first."""
    new = elementwise("exp", source("x", 4))
    first, second = (Assign((source(name, 4), new)) for name in "ab")
    one, two = after(first, second)
    assert one is first and two.sources == (second.sources[0], first)


def copies(program: compiler.Compilation) -> int:
    """Kernels that write what they read, unchanged."""
    bodies = [i.operation.body for i in program.schedule.items if isinstance(i.operation, Kernel)]
    kinds = (nodes.Param, nodes.Reshape, nodes.Store, Assign, Sink, nodes.Buffer)
    return sum(all(isinstance(node, kinds) for node in toposort([body])) for body in bodies)


def adam(p: Tensor) -> optim.Optimizer:
    """With a state of two tensors, which the step of a parameter reads."""
    return optim.AdamW([p], 0.1)


def momentum(p: Tensor) -> optim.Optimizer:
    """With a state of one."""
    return optim.SGD([p], 0.1, momentum=0.9, nesterov=True)


@pytest.mark.parametrize("made", [adam, momentum])
def test_the_state_of_an_optimiser_is_not_copied(made: Callable[[Tensor], object]) -> None:
    p = Tensor(X.copy()).requires_grad_()
    optimizer = made(p)
    assert isinstance(optimizer, optim.Optimizer)

    @compiler.jit
    def step(x: Tensor) -> Tensor:
        loss = nn.mse_loss(p * 2, x)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    tensor = Tensor(X[::-1].copy())
    losses = [float(step(tensor)) for _ in range(5)]
    assert copies(step.compilation(tensor)) == 0
    q = Tensor(X.copy()).requires_grad_()
    other, expected = made(q), list[float]()
    assert isinstance(other, optim.Optimizer)
    for _ in range(5):
        loss = nn.mse_loss(q * 2, tensor)
        loss.backward()
        other.step()
        other.zero_grad()
        expected.append(float(loss))
    np.testing.assert_allclose(losses, expected, rtol=1e-6)


def test_a_user_s_state_at_every_stage() -> None:
    mean, x = Tensor(np.zeros((2, 4), "float32")).realize(), Tensor(X)
    new = mean * 0.5 + x
    program = compiler.compile(mean.assign(new), new.exp().sum(1), (new * 2).sum())
    assert copies(program) == 0 and program.check().ok
