"""Fusion: stored and fused values, with the reasons and their numbers."""

from collections.abc import Sequence

import numpy as np
import pytest

from compiler import Tensor, compile, custom, nn
from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.graph import nodes
from compiler.graph.decompose import decompose
from compiler.graph.interpret import interpret
from compiler.graph.nodes import TensorNode, const
from compiler.graph.simplify import simplify
from compiler.graph.words import operation
from compiler.schedule.interpret import interpret_kernels
from compiler.schedule.order import order
from compiler.schedule.outline import outline
from compiler.schedule.partition import Partition, is_called, partition
from compiler.schedule.verify import verify
from compiler.settings.options import Options
from tests.loops.programs import PROGRAMS, data, f32, fold, layernorm, matmul, op, softmax


def parts(*roots: TensorNode, options: Options | None = None) -> Partition:
    """The partition of a program, its kernel graph and schedule verified."""
    graph = simplify(decompose(nodes.Sink(roots), Provenance()), Provenance())
    assert isinstance(graph, nodes.Sink)
    result = partition(graph, options or Options())
    outlined = outline(graph, result.realized)
    verify(outlined.root, *order(outlined.root))
    return result


def realized(result: Partition) -> list[str]:
    """The values written to memory, e.g. `max 64,10`."""
    return [f"{operation(n)} {','.join(map(str, n.shape))}" for n in result.realized]


def reasons(result: Partition) -> list[tuple[str, bool, str]]:
    """Each choice: the operation, whether it was fused, and why."""
    return [(operation(c.node), c.is_fused, c.reason) for c in result.choices]


def test_softmax_is_one_kernel() -> None:
    result = parts(softmax(data(64, 10)))
    assert realized(result) == ["fdiv 64,10"]
    per_row = "computed once per 64, in the loop nest of its only reader; saves 256 bytes"
    words = "640 evaluations where it is read cost {} µs; once, in memory, {} µs; saves 2,560 bytes"
    assert reasons(result) == [
        ("reduce max", True, per_row),
        ("sub", True, words.format("0.03", "0.36")),
        ("exp", True, words.format("0.11", "0.44")),
        ("reduce sum", True, per_row),
    ]


def test_two_layers_are_two_kernels_with_epilogues() -> None:
    hidden = op("relu", matmul(data(64, 784), data(784, 32)))
    result = parts(op("relu", matmul(hidden, data(32, 10))))
    assert realized(result) == ["max 64,32", "max 64,10"]
    once = "computed once per 64 × {}, in the loop nest of its only reader; saves {} bytes"
    assert reasons(result) == [
        ("reduce sum", True, once.format(32, "8,192")),
        (
            "max",
            False,
            "it ends the kernel of a reduction: it would be computed 10 times: "
            "its index does not use the loop of 10 around it",
        ),
        ("reduce sum", True, once.format(10, "2,560")),
    ]


def test_layernorm_is_one_kernel() -> None:
    result = parts(layernorm(data(64, 32)))
    assert realized(result) == ["fdiv 64,32"]
    assert all(is_fused for _, is_fused, _ in reasons(result))
    saved = [why for name, _, why in reasons(result) if name == "reduce sum"]
    assert len(saved) == 2
    assert all("once per 64, " in why and "saves 256 bytes" in why for why in saved)


def test_a_large_total_is_a_kernel_of_its_own() -> None:
    x = data(2**20)
    result = parts(op("fdiv", x, fold("sum", x, 0)))
    assert realized(result) == ["reduce sum 1", "fdiv 1048576"]
    assert reasons(result) == [
        (
            "reduce sum",
            False,
            "a reduction of all 1,048,576 elements would delay "
            "all 1,048,576 elements that read it",
        )
    ]


def test_a_small_total_is_fused() -> None:
    x = data(64)
    result = parts(op("fdiv", x, fold("sum", x, 0)))
    assert realized(result) == ["fdiv 64"]
    why = "computed once, in the loop nest of its only reader; saves 4 bytes"
    assert reasons(result) == [("reduce sum", True, why)]


@pytest.mark.parametrize("limit", (256, 100))
def test_a_long_chain_is_cut(limit: int) -> None:
    x: TensorNode = data(16)
    for number in range(1000):
        x = op(("sin", "exp")[number % 2], x)
    options = Options(kernel_operations=limit)
    result = parts(x, options=options)
    assert len(result.realized) == -(-1000 // limit)
    why = f"the kernel that reads it already has {limit} operations"
    assert reasons(result)[0][1:] == (False, why)
    outlined = outline(nodes.Sink((x,)), result.realized)
    for body in outlined.bodies:
        assert sum(isinstance(n, nodes.Elementwise) for n in toposort([body])) <= limit


def test_a_reduction_read_by_two_kernels_is_written() -> None:
    total = nodes.Reduce((data(64, 100),), "sum", (1,))
    result = parts(op("exp", total), op("sin", total))
    assert realized(result) == ["reduce sum 64,1", "exp 64,1", "sin 64,1"]
    why = (
        "2 kernels read the result; fused, each would repeat the reduction: 128 evaluations "
        "where it is read cost 0.47 µs; once, in memory, 0.54 µs"
    )
    assert reasons(result) == [("reduce sum", False, why)]


def test_a_cheap_value_read_by_two_kernels_is_computed_twice() -> None:
    x = op("add", data(64, 100), data(64, 100))
    result = parts(op("exp", x), op("sin", x))
    assert realized(result) == ["exp 64,100", "sin 64,100"]
    why = (
        "12,800 evaluations where it is read cost 0.79 µs; once, in memory, 1.19 µs; "
        "saves 25,600 bytes"
    )
    assert reasons(result) == [("add", True, why)]


def test_a_dear_value_read_by_two_kernels_is_written() -> None:
    x = op("tan", op("tan", op("sin", data(1000, 1000))))
    result = parts(op("neg", x), op("abs", x))
    assert realized(result) == ["tan 1000,1000", "neg 1000,1000", "abs 1000,1000"]
    # 2.2 ns for two tangents and a sine, 4 bytes read and written; 2 million times, or 1 million
    why = "2,000,000 evaluations where it is read cost 4,666.67 µs; once, in memory, 2,743.16 µs"
    assert reasons(result)[-1] == ("tan", False, why)


def test_a_reduction_under_two_indices_is_written() -> None:
    rows = fold("sum", data(8, 8), 1)
    result = parts(op("add", rows, nodes.Permute((rows,), (1, 0))))
    assert realized(result) == ["reduce sum 8,1", "add 8,8"]
    why = (
        "it is read under 2 different indices; fused, it would be repeated: 72 evaluations "
        "where it is read cost 0.02 µs; once, in memory, 0.30 µs"
    )
    assert reasons(result) == [("reduce sum", False, why)]


def test_contiguous_ends_a_kernel() -> None:
    result = parts(op("neg", nodes.Contiguous((op("exp", data(4)),))))
    assert realized(result) == ["contiguous 4", "neg 4"]


def test_results_that_need_no_data_are_written() -> None:
    constant, counter = const(2.5, f32, (3,)), nodes.Iota((), 3, f32)
    assert realized(parts(constant, counter)) == ["const 3", "iota 3"]


def test_an_input_given_back_needs_no_kernel() -> None:
    x = data(4)
    assert realized(parts(x)) == []


def program_values(roots: Sequence[TensorNode], options: Options) -> None:
    """The kernels, run call by call, give what the graph gives."""
    inputs = [n for n in toposort(roots) if isinstance(n, nodes.Buffer)]
    generator = np.random.default_rng(3)
    arrays = [
        generator.integers(0, 5, n.shape).astype(n.dtype.numpy)
        if n.dtype.kind != "float"
        else generator.random(n.shape).astype(n.dtype.numpy)
        for n in inputs
    ]
    expected = interpret(roots, dict(zip(inputs, arrays, strict=True)))
    graph = simplify(decompose(nodes.Sink(tuple(roots)), Provenance()), Provenance())
    assert isinstance(graph, nodes.Sink)
    outlined = outline(graph, partition(graph, options).realized)
    flat = {n: a.reshape(-1) for n, a in zip(inputs, arrays, strict=True)}
    for value, want in zip(interpret_kernels(outlined.root, flat), expected, strict=True):
        np.testing.assert_allclose(value.reshape(want.shape), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("limit", (1, 3, 256))
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_compute_the_program(name: str, limit: int) -> None:
    program_values([PROGRAMS[name]()], Options(kernel_operations=limit))


def test_products_that_a_sum_folds_are_no_values_that_end_a_reduction() -> None:
    """Of attention's gradient a product of 16 times as many elements as the sum that folds it was
    written to memory, so that another sum below it could stay in its kernel."""
    layer = nn.MultiheadAttention(64, 4)
    x = Tensor(np.ones((4, 16, 64), "f"), requires_grad=True)
    loss = (x + layer(x, is_causal=True)[0]).gelu().sum()
    schedule = compile(*loss.gradient(x, *layer.parameters())).schedule
    written = {it for item in schedule.items for it in item.operation.writes}
    assert max(it.size for it in written) <= 4 * 16 * 192, max(written, key=lambda it: it.size)


def test_functions_on_arrays_are_calls_and_inline_ones_are_not() -> None:
    inline = custom.inline("half", "fmul float {0}, 0.5", ["float32"], "float32", lambda x: x / 2)
    host = custom.host()(np.negative)
    x = Tensor(np.ones(4, np.float32))
    assert [is_called(it.node) for it in (inline(x), host(x), x.exp())] == [False, True, False]
