"""The history of values that a captured function computes: gradients pass through it as without
`jit`.

Each new tensor gets a function that builds the graph of its value: the captured graph, with the
arguments of this call in place of the stand-ins. The graph is built when a derivative needs it,
then differentiated and compiled like any other. Programs that differ only in their inputs are
shared, so only the first call compiles its backward pass.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from compiler.core.node import substitute, toposort
from compiler.device.buffers import new_buffer
from compiler.graph.kinds.gradient import Backward
from compiler.graph.nodes import Bind, Sink, TensorNode
from compiler.replay.arguments import Call, StandIn, buffers_of, flat_data, values_of
from compiler.replay.grads import Grads
from compiler.replay.tracing import Traced
from compiler.tensors import history, live
from compiler.tensors.history import History
from compiler.tensors.value import TensorValue
from compiler.tensors.watching import Draw


class Pasts:
    """The histories of one capture."""

    def __init__(self, traced: Traced, cells: Sequence[StandIn]) -> None:
        self.traced = traced
        self.cells = cells
        self.rows: list[tuple[int, History]] = [
            (number, each) for number, each in enumerate(traced.histories) if each is not None
        ]
        self.root = Sink(tuple(recipe for _, (recipe, _) in self.rows))
        order = toposort([self.root]) if self.rows else []
        nodes = frozenset(order)
        self.used = [
            n for n, each in enumerate(cells)
            if not nodes.isdisjoint(each.buffers)
        ]
        self.binds = [node for node in order if isinstance(node, Bind)]
        self.draws = [each for each in traced.drawn if isinstance(each, Draw)]

    def keep(
        self, new: Sequence[Any], cells: Sequence[Any], call: Call,
        words: Sequence[tuple[int, int]],
    ) -> None:  # fmt: skip
        """Record how the tensors of one call were computed."""
        past: _Past | None = None
        for place, (number, (recipe, is_true)) in enumerate(self.rows):
            if number < len(new):
                node = new[number].node
            else:
                node = self._memory(self.traced.assigned[number - len(new)], cells)
            if not is_true:
                history.keep(node, recipe, False)
                continue
            past = past or _Past(self, cells, call, words)
            history.keep(node, past.graph if not place else partial(past.graph, place), True)

    def _memory(self, tensor: Any, cells: Sequence[Any]) -> TensorNode:
        """The memory of a tensor that was assigned."""
        for stand_in, cell in zip(self.cells, cells, strict=True):
            if stand_in.value is tensor:
                return cell.node  # type: ignore[no-any-return]
        buffer = live.storage(tensor.node)
        node: TensorNode = tensor.node
        return node if buffer is None else buffer


class _Past:
    """The graphs that computed the new tensors of one call."""

    __slots__ = ("_graphs", "cells", "nodes", "pasts", "values", "words")

    def __init__(
        self, pasts: Pasts, cells: Sequence[Any], call: Call, words: Sequence[tuple[int, int]]
    ) -> None:
        count = len(call.leaves)
        grads = pasts.traced.grads
        self.pasts = pasts
        self.words = words
        self._graphs: tuple[TensorNode, ...] | None = None
        self.cells: list[Any] = []
        """The node of each input as data; numbers as they are."""
        self.nodes: list[TensorNode | None] = []
        """The node of each input with its history."""
        for n in pasts.used:
            cell = cells[n]
            if not isinstance(cell, TensorValue):
                self.cells.append(cell)
                self.nodes.append(None)
                continue
            origin = call.origins[n] if n < count else grads.origin(n - count, call)
            self.cells.append(cell.node)
            self.nodes.append(origin.node)
        self.values = values_of(call.leaves) if pasts.binds else {}

    def graph(self, place: int = 0) -> TensorNode:
        """The graph of one of the tensors."""
        if self._graphs is None:
            self._graphs = substitute(self.pasts.root, self._instead()).sources
        return self._graphs[place]

    def _instead(self) -> dict[TensorNode, TensorNode]:
        """For each stand-in the argument of this call."""
        replacements: dict[TensorNode, TensorNode] = {}
        for n, cell, node in zip(self.pasts.used, self.cells, self.nodes, strict=True):
            stand_in = self.pasts.cells[n]
            for part, buffer in enumerate(stand_in.buffers):
                replacements[buffer] = (
                    buffers_of(cell)[part] if isinstance(cell, TensorNode)
                    else new_buffer(flat_data(cell, part).reshape(buffer.shape))
                )  # fmt: skip
            if node is not None:
                replacements[stand_in.value.node] = node
        for draw, words in zip(self.pasts.draws, self.words, strict=True):
            for buffer, word in zip((draw.key, draw.first), words, strict=True):
                replacements[buffer] = new_buffer(np.array(word, np.uint64), is_lifted=True)
        for bind in self.pasts.binds:
            name = str(bind.sources[0].arguments["name"])
            replacements[bind] = Bind(bind.sources, self.values.get(name, bind.value))
        return replacements


class Twice:
    """Checks whether an argument may also be an outside tensor. It may not if gradients are taken
    inside, because then each of the two has its own stand-in."""

    def __init__(
        self, state: Sequence[tuple[Any, TensorNode]], grads: Grads,
        roots: Sequence[TensorNode],
    ) -> None:  # fmt: skip
        has_sweep = any(isinstance(node, Backward) for node in toposort(roots))
        self._nodes = frozenset(node for _, node in state) if has_sweep else frozenset()
        self._graded = grads.around
        self.is_asked = bool(self._nodes or self._graded)

    def allows(self, call: Call) -> bool:
        """True if the call is allowed; always true if no gradients are taken inside."""
        for leaf in call.leaves:
            if id(leaf) in self._graded:
                return False
            if isinstance(leaf, TensorValue) and leaf.node in self._nodes:
                return False
        return True
