"""Copies before assigns (WAR hazards), and the provenance of the nodes that read them."""

import numpy as np

from compiler import Options, Tensor, compile, jit, nn, optim
from compiler.core.node import toposort
from compiler.device.buffers import new_buffer
from compiler.graph.nodes import Contiguous, Sink, elementwise
from compiler.schedule.hazards import OUTLIVED, Separated, separate


def test_what_is_written_in_place_descends_from_the_program() -> None:
    x = Tensor(np.arange(25.0).reshape(5, 5))
    x[1:3] = 7
    x[0, :] = x[4, :] * 2
    made = compile(x + 1)
    shown = {made.entity(node) for node in toposort([made.written, made.simplest])}
    parents = {it for line in made.kernels.lines for it in line.parents}
    assert parents <= shown
    assert [line.text for line in made.kernels.lines if not line.parents] == []
    # the last kernel computes the sum, which reads what was assigned
    last = made.kernels.lines[-2]
    assert made.entity(made.results[0]) in last.parents, str(made.kernels)
    subjects = {it.subject for it in made.decisions if it.subject.startswith("graph:")}
    assert subjects <= shown
    assert [row for row in made.coverage if row.title == "kernels" and row.alone] == []


def test_each_new_node_stands_for_one_of_the_program() -> None:
    x = Tensor(np.arange(6.0), name="x")
    before = x + 0.5
    x[:] = x.flip(0)
    root = compile(x * 2 + before).simplest
    made = separate(root, Options())
    order = set(toposort([root]))
    new = set(toposort([made.root])) - order
    copies = {node for node in new if isinstance(node, Contiguous)}
    assert copies and new == set(made.originals)
    assert set(made.originals.values()) <= order
    assert all(made.originals[it] in (it.sources[0], made.originals.get(it.sources[0]))
               for it in copies)  # fmt: skip


def test_a_program_without_assigns_is_left_alone() -> None:
    root = Sink((elementwise("neg", new_buffer(np.ones(2))),))
    assert separate(root, Options()) == Separated(root)


def test_an_old_value_that_is_in_memory_is_not_copied_again() -> None:
    x = Tensor(np.arange(6.0), name="x")
    old = (x * 2).contiguous()
    x[:] = x + 1
    root = compile(x + old).simplest
    assert any(isinstance(node, Contiguous) for node in toposort([root]))
    assert separate(root, Options()).originals == {}


def test_what_is_trained_is_not_copied_where_values_between_its_layers_are_in_memory() -> None:
    model = nn.Sequential(nn.Linear(96, 80), nn.relu, nn.Linear(80, 10))
    rule = optim.SGD(model.parameters(), 0.5)
    other = nn.Sequential(nn.Linear(96, 80), nn.relu, nn.Linear(80, 10))
    other.load_state_dict(model.state_dict())
    expected = optim.SGD(other.parameters(), 0.5)
    x = Tensor(np.linspace(-1, 1, 64 * 96, dtype="f").reshape(64, 96))
    y = Tensor(np.arange(64) % 10)

    @jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        loss = nn.cross_entropy(model(x), y)
        loss.backward()
        rule.step()
        rule.zero_grad()
        return loss

    compilation = step.compilation(x, y)
    assert not [str(it) for it in compilation.decisions if OUTLIVED in it.reason]
    step(x, y)
    nn.cross_entropy(other(x), y).backward()
    expected.step()
    for name, value in other.state_dict().items():
        np.testing.assert_allclose(model.state_dict()[name].numpy(), value.numpy(), atol=1e-6)
