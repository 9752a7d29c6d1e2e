"""Copies before assigns: what the rest of the program is told to descend from."""

import numpy as np

from compiler import Tensor, compile
from compiler.core.node import toposort
from compiler.device.buffers import new_buffer
from compiler.graph.nodes import Contiguous, Sink, elementwise
from compiler.schedule.hazards import Separated, separate


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
    made = separate(root)
    order = set(toposort([root]))
    new = set(toposort([made.root])) - order
    copies = {node for node in new if isinstance(node, Contiguous)}
    assert copies and new == set(made.originals)
    assert set(made.originals.values()) <= order
    assert all(made.originals[it] in (it.sources[0], made.originals.get(it.sources[0]))
               for it in copies)  # fmt: skip


def test_a_program_without_assigns_is_left_alone() -> None:
    root = Sink((elementwise("neg", new_buffer(np.ones(2))),))
    assert separate(root) == Separated(root)
