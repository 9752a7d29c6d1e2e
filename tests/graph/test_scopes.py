"""Calls, functions and iterations of programs as users write them."""

from collections import Counter

import numpy as np
import pytest

from compiler import Compilation, Tensor, compile, jit, nn, optim
from compiler.core.modules import Line, called_at, in_module
from compiler.graph.alike import runs
from compiler.graph.nodes import Buffer, Sink
from compiler.graph.scopes import MOST_CHILDREN, Scope, Scopes
from tests.programs_of_users import fft, layernorm, tensor


def scopes(*tensors: Tensor) -> Scopes:
    return compile(list(tensors)).scopes


def outline(found: Scopes, parent: int = -1, depth: int = 2) -> list[str]:
    """Names of the scopes, those inside indented."""
    rows = []
    for position, row in enumerate(found.rows):
        if row.parent == parent:
            trips = f" × {row.count}" if row.count > 1 else ""
            rows.append(row.name + trips)
            inner = outline(found, position, depth - 1) if depth > 1 else []
            rows += [f"  {it}" for it in inner]
    return rows


class Block:
    def __init__(self) -> None:
        self.weight = tensor(8, 8)

    def __call__(self, x: Tensor) -> Tensor:
        return x + layernorm(x) @ self.weight


def test_a_public_call_is_one_scope_with_all_its_nodes() -> None:
    x, w = tensor(4, 8, name="x"), tensor(8, 8, name="w")
    found = scopes((x @ w).softmax(-1))
    assert [(row.kind, row.name, row.parent) for row in found.rows] == [
        ("call", "matmul", -1), ("call", "softmax", -1),
    ]  # fmt: skip
    held = {node.name: scope for node, scope in found.of.items() if isinstance(node, Buffer)}
    assert held == {"x": -1, "w": 0}, "the input stands outside, the weight with what reads it"
    assert not [node for node in found.of if isinstance(node, Sink)]


def test_two_calls_of_a_helper_are_two_scopes_even_on_one_line() -> None:
    x, y = tensor(4, 8), tensor(4, 8)
    a, b = layernorm(x), layernorm(y)
    found = scopes(a + b)
    assert outline(found, depth=1) == ["layernorm", "layernorm", "add"]


def test_blocks_of_a_network_are_one_box_that_opens_into_the_first_and_the_others() -> None:
    x = tensor(4, 8, name="x")
    for block in [Block() for _ in range(12)]:
        x = block(x)
    found = scopes(x.relu())
    assert outline(found) == ["Block × 12", "  iteration 1", "  iterations 2 … 12", "relu"]
    assert outline(found, 1) == ["layernorm", *(
        f"  {name}" for name in ("mean", "sub", "pow", "mean", "sub", "add", "sqrt", "truediv")
    ), "matmul", "add"]  # fmt: skip
    weights = [scope for node, scope in found.of.items() if isinstance(node, Buffer)]
    assert Counter(found.rows[it].name if it >= 0 else "" for it in weights) == {
        "": 1, "matmul": 12,
    }  # fmt: skip


def test_a_hundred_steps_of_a_stencil_are_one_box() -> None:
    u = tensor(16, 16, name="u")
    for _ in range(100):
        around = u.roll(1, 0) + u.roll(-1, 0) + u.roll(1, 1) + u.roll(-1, 1) - 4 * u
        u = u + 0.1 * around
    found = scopes(u)
    assert [row.count for row in found.rows if row.parent == -1] == [100]
    assert [row.name for row in found.rows if row.parent == 0] == [
        "iteration 1", "iterations 2 … 100",
    ]  # fmt: skip
    assert Counter(row.kind for row in found.rows)["iteration"] == 100
    assert all(Counter(row.parent for row in found.rows)[at] <= MOST_CHILDREN
               for at in range(len(found.rows)))  # fmt: skip


def test_the_first_iteration_counts_though_it_makes_what_all_share() -> None:
    x, c = tensor(12, 4, name="x"), tensor(3, 4, name="c")
    for _ in range(5):
        distance = ((x[:, None, :] - c[None]) ** 2).sum(-1)
        is_near = (distance.argmin(1)[:, None] == np.arange(3)).astype(np.float32)
        c = is_near.T @ x / is_near.sum(0)[:, None]
    assert [(row.kind, row.count) for row in scopes(c).rows if row.parent == -1] == [("repeat", 5)]


def test_iterations_side_by_side_are_a_repetition_too() -> None:
    parts = [layernorm(tensor(4, 8)) for _ in range(4)]
    found = scopes(Tensor.cat(*parts))
    assert outline(found, depth=1) == ["layernorm × 4", "cat"]


def test_iterations_that_compute_something_else_are_none() -> None:
    x = tensor(16)
    for step in (1, 2, 3, 4):
        x = x + x.roll(step, 0)
    assert not [row for row in scopes(x).rows if row.kind == "repeat"]


def test_iterations_that_read_each_other_otherwise_are_none() -> None:
    a, b = tensor(4), tensor(4, name="b")
    for number in range(6):
        c = a.exp()
        d = a.sin()
        a = c - d if number % 2 else d - c
    found = scopes(a + b)
    assert not [row for row in found.rows if row.kind == "repeat"]


def test_recursion_is_scopes_in_each_other() -> None:
    found = scopes(fft(tensor(8, name="x")).exp())
    assert outline(found, depth=1) == ["fft", "exp"]
    inner = [row.name for row in found.rows if row.parent == 0 and row.kind == "function"]
    assert inner == ["fft", "fft"]


def test_a_function_that_makes_all_is_no_box() -> None:
    assert outline(scopes(layernorm(tensor(4, 8))), depth=1)[:2] == ["mean", "sub"]


def test_a_long_program_without_functions_is_taken_together_by_lines() -> None:
    x = tensor(4)
    x = x.exp() + x.sin() * x.cos() - x.sqrt()
    x = x.exp().sin() + x.abs()
    x = (x.tanh() + x.sigmoid()).log() * x.relu()
    x = x.exp2() + x.sin() - x.square() + x.neg()
    found = scopes(x)
    tops = [row for row in found.rows if row.parent == -1]
    assert [row.kind for row in tops] == ["lines"] * 4
    assert all(row.name == f"line {row.places[0][1]}" for row in tops)


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ("aaaa", [(0, 1, 4)]),
        ("xababab", [(1, 2, 3)]),
        ("aabaabaab", [(0, 3, 3)]),
        ("abab", []),
        ("abcabdabe", []),
        ("", []),
    ],
)
def test_runs(keys: str, found: list[tuple[int, int, int]]) -> None:
    assert list(runs(keys)) == found


def test_scopes_are_the_same_each_time() -> None:
    def rows() -> tuple[Scope, ...]:
        x = tensor(4, 8, name="x")
        for block in [Block() for _ in range(4)]:
            x = block(x)
        return scopes(x).rows

    assert rows() == rows()


def test_every_scope_comes_after_the_one_around_it() -> None:
    found = scopes(fft(tensor(16, name="x")))
    assert all(row.parent < position for position, row in enumerate(found.rows))


def test_products_of_one_value_stand_side_by_side() -> None:
    x = tensor(2, 4, 8, name="x").relu()
    q, k = x @ tensor(8, 8), x @ tensor(8, 8)
    found = scopes(q + k)
    names = {scope: row.name for scope, row in enumerate(found.rows)}
    read = {
        (names[found.of[source]], names[scope], found.of[source] == scope)
        for node, scope in found.of.items() if scope >= 0
        for source in node.sources if found.of[source] >= 0
    }  # fmt: skip
    assert ("relu", "matmul", False) in read and ("matmul", "matmul", False) not in read
    # Views of it for the products stand with it, and are not what it gives.
    relu = next(row for row in found.rows if row.name == "relu")
    assert relu.result is not None and relu.result.shape == (2, 4, 8)
    assert any(node.shape != (2, 4, 8) for node, it in found.of.items() if names.get(it) == "relu")


def test_shards_that_nothing_reads_are_results() -> None:
    """One call gives a view on each device, and none of them is read."""
    devices = ("CPU", "CPU:1")
    rows, columns = tensor(6, 3).shard(devices, axis=0), tensor(4, 6).shard(devices, axis=1)
    made = compile((columns @ rows).shards)
    assert made.scopes.rows
    assert all(n in made.scopes.of for n in made.graph.nodes if not isinstance(n, Sink))


def modules(x: Tensor, count: int) -> Tensor:
    """A model whose layers are modules, each with its own line, next to other code."""
    with in_module("Net", kinds=["Net"]):
        for number in range(count):
            with in_module("encoder", f"layer.{number}", kinds=["Encoder", "Layer"]):
                with in_module("norm"), called_at("layer_norm", [Line("model.py", 3)]):
                    y = layernorm(x)
                with called_at("add", [Line("model.py", 4)]):
                    x = x + y
    return x


def test_modules_of_a_model_are_scopes_that_iterations_do_not_hide() -> None:
    found = scopes(modules(tensor(4, 8, name="x"), 4).exp())
    layers = [f"      layer.{number}" for number in range(4)]
    assert outline(found, depth=4) == ["modules", "  Net", "    encoder", *layers, "exp"]
    inner = [(row.module.path, row.module.kind) for row in found.rows if row.module]
    assert inner[:3] == [("", "Net"), ("encoder", "Encoder"), ("encoder.layer.0", "Layer")]
    assert all((row.kind == "module") == (row.module is not None) for row in found.rows)


def test_many_modules_are_taken_together_by_their_names() -> None:
    found = scopes(modules(tensor(4, 8, name="x"), 30))
    assert outline(found, depth=2)[:2] == ["encoder", "  layer.0 … layer.2"]
    lines = [row for row in found.rows if row.kind == "lines"]
    assert len(lines) <= MOST_CHILDREN and lines[-1].name == "layer.27 … layer.29"


class Learner(nn.Module):
    """Two layers, the second of which is used twice."""

    def __init__(self) -> None:
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.last(self.first(x).relu()).relu())


def step_of_learning() -> Compilation:
    model = Learner()
    rule = optim.AdamW(model.parameters(), 1e-3)

    @jit
    def step(x: Tensor) -> Tensor:
        loss = model(x).square().mean()
        loss.backward()
        rule.step()
        rule.zero_grad()
        return loss

    x = tensor(4, 8, name="x")
    step(x)
    compilation = step.compilation(x)
    assert isinstance(compilation, Compilation)
    return compilation


def test_in_a_step_of_learning_only_inputs_and_results_are_loose() -> None:
    made = step_of_learning()
    for graph in (made.graph, made.optimized_graph):
        loose = [n for n in graph.nodes if graph.scopes.get(n, -1) < 0 and not isinstance(n, Sink)]
        assert [n.shape for n in loose] == [(4, 8)], "no parameter, no state of the optimiser"
    kinds = Counter(row.kind for row in made.scopes.rows)
    assert kinds["optimizer"] == 1 and kinds["module"] >= 4
    (rule,) = (at for at, row in enumerate(made.scopes.rows) if row.kind == "optimizer")
    assert made.scopes.rows[rule].name == "AdamW" and made.scopes.rows[rule].parent == -1


def test_after_passes_the_way_back_has_the_scope_of_its_call() -> None:
    compilation = step_of_learning()
    graph, rows = compilation.optimized_graph, compilation.scopes.rows
    paths = Counter(
        rows[at].module.path if rows[at].module else ""  # type: ignore[union-attr]
        for node, it in graph.partners.items() if it.is_back
        for at in [module_around(compilation.scopes, graph.scopes[node])] if at >= 0
    )  # fmt: skip
    assert paths["first"] > 0 and paths["last"] > 0 and "AdamW" not in paths
    alone = [node for node, it in graph.partners.items() if not it.is_back]
    assert all(graph.scopes[it] >= 0 for it in alone)


def test_after_passes_inputs_stand_in_no_scope() -> None:
    compilation = compile(fft(tensor(16, name="x")))
    graph = compilation.optimized_graph
    loose = [node for node in graph.nodes if graph.scopes.get(node, -1) < 0]
    assert [it.name for it in loose if isinstance(it, Buffer)] == ["x"]


def module_around(found: Scopes, scope: int) -> int:
    while scope >= 0 and found.rows[scope].module is None:
        scope = found.rows[scope].parent
    return scope


def test_a_weight_belongs_to_its_layer_whoever_else_reads_it() -> None:
    compilation = step_of_learning()
    graph, rows = compilation.graph, compilation.scopes.rows
    weights = [n for n in graph.nodes if isinstance(n, Buffer) and n.shape == (8, 8)]
    homes = Counter(
        rows[at].name for it in weights
        for at in [module_around(compilation.scopes, graph.scopes[it])] if at >= 0
    )  # fmt: skip
    assert homes == {"first": 1, "Learner": 1, "AdamW": 4}, "that of two runs is around both"


def test_a_program_without_calls_of_gradients_asks_for_none() -> None:
    x = tensor(4, name="x")
    assert scopes(x.exp() + 1).sweeps == frozenset()
    y = x.requires_grad_()
    assert len(scopes(y.exp().sum().gradient(y)).sweeps) == 1
