"""Reverse sweeps: shared values, several inputs, the replay of steps, and errors."""

from dataclasses import replace

import numpy as np
import pytest

from compiler import GradientError, Tensor, check_passes, compile, custom, rule
from compiler.core.node import toposort
from compiler.core.trace import PassRecord
from compiler.graph.differentiate import differentiated
from compiler.graph.kinds.gradient import Backward, Gradient
from compiler.graph.nodes import Elementwise
from compiler.ops.table import OPS
from tests.differences import assert_gradients, values


def sweep_of(tensor: Tensor) -> PassRecord:
    record = compile(tensor).passes[0]
    assert record.name == "differentiate"
    return record


def test_a_value_is_passed_once_when_all_that_reads_it_was() -> None:
    x = Tensor(np.array([0.5]), name="x")
    y = x
    for _ in range(40):
        y = y * y + y  # 2^40 ways lead to x
    record = sweep_of(y.sum().gradient(x))
    assert 80 <= len(record.matches) <= 100


def test_each_step_is_one_rule_and_can_be_replayed() -> None:
    x, w = Tensor(np.ones((2, 3)), name="x"), Tensor(np.ones((3, 2)), name="w")
    record = sweep_of((x @ w).exp().sum().gradient(w))
    names = [match.rule for match in record.matches]
    assert names[-1] == "gradient" and {"exp", "mul", "reduce sum", "expand"} <= set(names)
    exp = next(row for row in record.applied if row.rule == "exp")
    assert exp.algebra == "d e^x = e^x dx" and "ops/derivatives.py:" in exp.source
    assert "def of_exp" in exp.code
    graphs = list(record.replay())
    assert len(graphs) == len(names) + 1
    words = [{facts["op"] for _, facts in graph.nodes(data=True)} for graph in graphs]
    assert "gradient" in words[0] and "backward" in words[-2] and "gradient" not in words[-1]
    half = record.program_after(len(names) // 2)
    assert any(isinstance(node, Backward) for node in toposort([half]))
    first, last = (values(Tensor._of(it.sources[0])) for it in (half, record.after))
    np.testing.assert_array_equal(first[0], last[0])


def test_what_a_step_makes_belongs_to_the_line_of_the_value() -> None:
    x = Tensor(np.ones(3))
    y = x.exp()
    z = y.sin()
    compilation = compile(z.sum().gradient(x))
    places = {}
    for node in toposort([compilation.optimized_graph.root]):
        if isinstance(node, Elementwise):
            origins = compilation.provenance.of(node)
            places[node.op] = {origin.method for origin in origins}
    assert "gradient of sin" in places["cos"]
    assert places["mul"] == {"gradient of exp"}


def test_equal_values_of_two_lines_are_two_inputs() -> None:
    x = Tensor(np.array([1.0, 2.0]))
    first = x * 2
    second = x * 2
    y = (first + second * 3).sum()
    one, three = y.gradient(first, second)
    assert one.numpy().tolist() == [1, 1] and three.numpy().tolist() == [3, 3]
    assert y.gradient(x).numpy().tolist() == [8, 8]


def test_an_input_on_the_way_to_another() -> None:
    x = Tensor(np.array([3.0]))
    h = x * x
    to_h, to_x = (h * h + x).sum().gradient(h, x)
    assert (to_h.item(), to_x.item()) == (18.0, 109.0)


def test_gradients_of_gradients() -> None:
    x = np.random.default_rng(0).uniform(0.5, 1, (2, 2))
    assert_gradients(lambda x: (x @ x).tanh().softmax(1), x, orders=3, rtol=1e-4)


def test_no_way_leads_there() -> None:
    x, y = Tensor(np.ones(2)), Tensor(np.ones(2))
    assert (x * 2).sum().gradient(y, allow_unused=True).numpy().tolist() == [0, 0]
    with pytest.raises(GradientError, match="this tensor does not depend on input 1"):
        (x * 2).sum().gradient(x, y)
    assert (x.detach() * x).sum().gradient(x).numpy().tolist() == [1, 1]
    assert (x.cast("int64").cast("float64") + x).sum().gradient(x).numpy().tolist() == [1, 1]


def test_every_pass_keeps_it() -> None:
    x, w = Tensor(np.ones((4, 3), "float32")), Tensor(np.ones((3, 2), "float32"))
    loss = (x @ w).gelu().log_softmax(1)[:, 0].mean()
    slopes = loss.gradient(x, w)
    assert compile(*slopes).check()
    assert check_passes(compile(*slopes))


def test_the_interpreter_needs_no_pass() -> None:
    x = Tensor(np.array([2.0]))
    slope = (x * x).sum().gradient(x)
    assert isinstance(slope.node, Gradient)
    assert values(slope)[0].tolist() == [4.0]
    assert not any(isinstance(n, Gradient) for n in toposort(differentiated([slope.node])))


def test_an_operation_without_a_derivative_is_refused_by_name_and_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = Tensor(np.ones(3))
    monkeypatch.setitem(OPS, "exp", replace(OPS["exp"], derivative=None))
    y = x.sin().exp()
    with pytest.raises(GradientError, match=r"(?s)exp: no gradient can pass.*x.sin\(\).exp\(\)"):
        y.sum().gradient(x)
    assert y.detach().sum().gradient(x).numpy().tolist() == [0, 0, 0]


def test_a_function_from_outside_without_a_derivative() -> None:
    @custom.host()
    def doubled(x: np.ndarray) -> np.ndarray:
        return x * 2

    x = Tensor(np.ones(3))
    with pytest.raises(GradientError, match="no gradient can pass"):
        doubled(x).sum().gradient(x)


def test_a_derivative_of_ones_own() -> None:
    @custom.host()
    def scaled_cube(x: np.ndarray, y: np.ndarray, by: float = 1.0) -> np.ndarray:
        return by * x**3 * y

    @scaled_cube.derivative
    def _(g: Tensor, made: Tensor, x: Tensor, y: Tensor, by: float) -> tuple[Tensor, Tensor]:
        return 3 * by * x * x * y * g, by * x**3 * g

    a, b = np.random.default_rng(0).uniform(0.5, 1, (2, 4))
    assert_gradients(lambda x, y: scaled_cube(x, y, by=2.0).exp(), a, b)

    @scaled_cube.derivative
    def _(g: Tensor, made: Tensor, x: Tensor, y: Tensor, by: float) -> Tensor:
        return g

    x = Tensor(a)
    with pytest.raises(GradientError, match="one for each operand"):
        scaled_cube(x, x, by=2.0).sum().gradient(x).numpy()


def test_a_kernel_of_ones_own() -> None:
    x = np.random.default_rng(0).uniform(0.5, 1, (3, 2))
    assert_gradients(
        lambda x: Tensor.kernel("attend", lambda q, k: (q @ k.T).softmax(-1) @ k, x, x * 2), x
    )


def test_a_rule_of_ones_own_meets_gradients() -> None:
    @rule("mul")
    def keep(node: object) -> None:
        """a b = a b"""

    x = Tensor(np.array([2.0]))
    assert compile((x * x).sum().gradient(x), passes=compile_passes(keep)).run()[0].tolist() == [4]


def compile_passes(own: object) -> object:
    from compiler import PASSES

    return PASSES.after("differentiate", own)
