"""`Kernel`: one call under its own name, nothing fused across its border; and `Fuse`."""

import numpy as np
import pytest

from compiler import DataError, GraphBuilder, Tensor, compile
from compiler.core.node import toposort
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.nodes import TensorNode
from compiler.graph.words import operation
from compiler.program.compilation import Compilation
from compiler.schedule.calls import Call
from compiler.settings.options import Options

g = GraphBuilder()
X = Tensor(np.arange(24, dtype="float32").reshape(4, 6), name="x")


def doubled(p: TensorNode) -> TensorNode:
    return g.op("add", p, p)


def calls(made: Compilation) -> list[str]:
    return [node.name for node in made.kernels.nodes if isinstance(node, Call)]


def reasons(made: Compilation) -> list[tuple[bool, str]]:
    return [(d.taken, d.reason) for d in made.decisions if d.kind == "fuse"]


def test_a_kernel_is_one_call_and_its_input_is_in_memory() -> None:
    node = g.kernel("doubled", doubled, X.T + 1)
    compilation = compile((Tensor.from_node(node) * 3).relu())
    assert calls(compilation) == ["k0", "doubled", "k1"]
    assert compilation.check().ok
    assert reasons(compilation)[:2] == [
        (False, "it is an input of kernel doubled, which reads memory"),
        (False, "kernel doubled was requested: one call, nothing fused into it, and never split; "
                "a reduction read under several indices is recomputed inside"),
    ]  # fmt: skip
    np.testing.assert_array_equal(compilation.run()[0], (X.numpy().T + 1) * 6)


def test_what_partition_would_cut_stays_whole() -> None:
    """A sum of all elements that every element reads, and a value read under two indices."""

    def body(p: TensorNode) -> TensorNode:
        total = g.expand(g.reduce(g.contiguous(g.fuse(p)), "sum", (0, 1)), p.shape)
        rows = g.expand(g.reduce(g.op("exp", p), "max", (1,)), p.shape)
        return g.op("add", g.op("mul", total, p), g.op("sub", rows, g.flip(rows, (0,))))

    compilation = compile(Tensor.from_node(g.kernel("whole", body, X)))
    assert calls(compilation) == ["whole"] and compilation.check().ok


def test_equal_kernels_of_two_lines_are_one_body_and_the_name_is_kept() -> None:
    first = g.kernel("twice", doubled, X)
    second = g.kernel("twice", doubled, X + 1)
    third = g.kernel("other", doubled, X + 2)
    compilation = compile([Tensor.from_node(n) for n in (first, second, third)])
    assert sorted(calls(compilation)) == ["k0", "k1", "twice", "twice", "twice"]
    assert compilation.check().ok


def test_a_name_taken_by_another_body_gives_way() -> None:
    first = g.kernel("same", doubled, X)
    second = g.kernel("same", lambda p: g.op("mul", p, p), X)
    k0 = g.kernel("k0", lambda p: g.op("neg", p), X)
    compilation = compile([Tensor.from_node(n) for n in (first, second, k0)] + [X + 1])
    assert len(set(calls(compilation))) == 4 and {"same", "k0"} < set(calls(compilation))
    assert compilation.check().ok


def test_kernels_of_kernels_of_constants_and_of_the_same_input_twice() -> None:
    five = g.constant(5, "float32", (4, 6))
    both = g.kernel("both", lambda p, q: g.op("sub", p, q), five, g.kernel("inner", doubled, X))
    same = g.kernel("same", lambda p, q: g.op("mul", p, q), X, X)
    none = g.kernel("none", lambda: g.iota(5))
    compilation = compile([Tensor.from_node(n) for n in (both, same, none)])
    assert compilation.check().ok
    assert {"both", "inner", "same", "none"} < set(calls(compilation))
    np.testing.assert_array_equal(compilation.run()[2], np.arange(5))


def test_the_body_is_decomposed_and_simplified() -> None:
    def body(p: TensorNode) -> TensorNode:
        one = g.constant(1, "float32", p.shape)
        return g.op("sigmoid", g.op("mul", g.detach(p), one))

    compilation = compile(Tensor.from_node(g.kernel("squashed", body, X)))
    rules = [r.rule for record in compilation.passes[:5] for r in record.rewrites]
    assert rules == ["kernel", "simplify_body"]
    (kernel,) = (n for n in toposort([compilation.simplest]) if isinstance(n, Kernel))
    assert {operation(n) for n in toposort([kernel.body])} == {
        "param", "neg", "exp", "const", "add", "recip",
    }  # fmt: skip
    assert compilation.check().ok


def test_a_kernel_of_tensors() -> None:
    made = compile(Tensor.kernel("attend", lambda q, k: (q @ k.T).softmax(-1) @ k, X, X + 1) * 2)
    assert calls(made) == ["k0", "attend", "k1"] and made.check().ok
    with pytest.raises(DataError) as caught:
        Tensor.kernel("leaky", lambda p: p + X, X)
    assert [line for line in str(caught.value).splitlines() if "line:" not in line] == [
        "kernel: the body reads more than its Params",
        "  got:      buffer",
        "  expected: Params only",
        "  hint:     make it an input of the kernel",
    ]
    with pytest.raises(DataError, match="a kernel takes and returns tensors"):
        Tensor.kernel("number", lambda p: 3, X)


def shared(sums: Tensor) -> Tensor:
    """Two uses of one sum under different indices."""
    return (sums + X).sum() + sums * X


def test_fuse_computes_a_value_inside_all_its_users() -> None:
    plain = compile(shared(X.sum(1, keepdim=True)))
    fused = compile(shared(X.sum(1, keepdim=True).fuse()))
    assert len(plain.schedule.items) == 2 and len(fused.schedule.items) == 1
    assert (True, "requested by fuse()") in reasons(fused)
    assert fused.check().ok
    assert "fuse" not in {operation(n) for n in toposort(list(fused._scheduled.outlined.bodies))}


def test_fuse_looks_through_movement_and_reads_at_data() -> None:
    sums = X.sum(1).reshape(2, 2).T.fuse()
    compilation = compile(sums[Tensor([1, 0, 1]) + 0] * 2)
    assert len(compilation.schedule.items) == 1 and compilation.check().ok
    assert reasons(compilation) == [(True, "requested by fuse()")]


def test_what_must_be_in_memory_is_not_fused_and_says_why() -> None:
    sums = X.sum(1, keepdim=True)
    result = compile([sums, sums.fuse() + X])
    expected = (False, "requested by fuse(), but it is a result: it has to be in memory")
    assert expected in reasons(result) and result.check().ok
    held = compile((sums * 2).contiguous().fuse() + X)
    assert (False, "requested by fuse(), but contiguous() asks for memory") in reasons(held)
    assert len(held.schedule.items) == 2 and held.check().ok
    kernel = compile(Tensor.kernel("rows", lambda p: p.sum(1), X).fuse() + 1)
    assert kernel.check().ok
    assert reasons(kernel)[0][1].startswith("requested by fuse(), but kernel rows was requested")


def test_a_value_nobody_reads_but_fuse_is_a_result() -> None:
    compilation = Compilation([g.fuse(X), g.fuse(X.sum())], Options(), "t")
    np.testing.assert_array_equal(compilation.run()[0], X.numpy())
    assert compilation.run()[1] == 276
