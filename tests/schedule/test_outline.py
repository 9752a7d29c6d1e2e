"""Bodies and calls: equal bodies share a name; arguments are in the order of first use."""

import pytest

from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.graph import nodes
from compiler.graph.kinds.markers import Later
from compiler.graph.nodes import TensorNode, const, elementwise
from compiler.graph.words import operation
from compiler.schedule.calls import After, Call, buffer_of, calls_of
from compiler.schedule.outline import Outlined, body_of, outline
from compiler.schedule.partition import partition
from compiler.schedule.verify import verify_kernels
from compiler.settings.options import Options
from tests.loops.programs import PROGRAMS, data

op = elementwise
f32 = dtypes.float32


def outlined(*roots: TensorNode, realized: tuple[TensorNode, ...] = ()) -> Outlined:
    """The kernel graph with every root realized, and `realized` before them."""
    made = [r for r in dict.fromkeys(roots) if not isinstance(r, nodes.Buffer)]
    result = outline(nodes.Sink(roots), [*realized, *made])
    verify_kernels(result.root)
    return result


def body_text(body: nodes.Sink) -> list[str]:
    """The operations of a body with its parameters."""
    order: list[TensorNode] = toposort([body])
    return [f"param {n.slot}" if isinstance(n, nodes.Param) else operation(n) for n in order]


def test_a_body_reads_parameters_and_stores_to_the_first() -> None:
    x, y = data(2, 3), data(2, 3)
    result = outlined(op("exp", op("sub", y, x)))
    (call,) = calls_of(result.root)
    assert body_text(call.body) == ["param 0", "param 1", "param 2", "sub", "exp", "store", "sink"]
    assert [buffer_of(a) for a in call.sources][1:] == [y, x], "in the order the body meets them"
    written = buffer_of(call.sources[0])
    assert (written.name, written.unique, written.shape) == ("tmp0", -1, (2, 3))
    written_to, first, second = (nodes.Param((), slot, (2, 3), f32) for slot in range(3))
    assert call.body.sources[0] is nodes.Store((written_to, op("exp", op("sub", first, second))))


def test_a_body_is_made_without_looking_at_all_that_is_in_memory() -> None:
    class Found:
        """Whatever is asked for is in memory or not; there is no list of it."""

        def __contains__(self, node: object) -> bool:
            return node is middle or node is end

    middle = op("exp", data(3))
    end = op("neg", op("sqrt", middle))
    found = body_text(body_of(end, Found()))
    assert found == ["param 0", "param 1", "sqrt", "neg", "store", "sink"]


def test_an_input_read_twice_is_one_argument() -> None:
    x = data(4, 4)
    (call,) = calls_of(outlined(op("add", x, nodes.Permute((x,), (1, 0)))).root)
    assert len(call.sources) == 2


def test_equal_bodies_share_one_object_and_name() -> None:
    first, second, other = (op("exp", data(4)) for _ in range(3))
    result = outlined(first, second, op("neg", other), realized=(other,))
    names = [(c.name, c.body) for c in calls_of(result.root)]
    assert sorted(name for name, _ in names) == ["k0", "k0", "k0", "k1"]
    assert len({id(body) for name, body in names if name == "k0"}) == 1
    assert list(result.bodies.values()) == ["k0", "k1"]


@pytest.mark.parametrize(
    "other",
    (op("exp", data(5)), op("exp", data(4, dtype=dtypes.float64)), op("exp2", data(4))),
    ids=("shape", "type", "operation"),
)
def test_different_bodies_have_different_names(other: TensorNode) -> None:
    result = outlined(op("exp", data(4)), other)
    assert list(result.bodies.values()) == ["k0", "k1"]


def test_names_follow_the_first_use() -> None:
    x = data(4)
    a, b = op("exp", x), op("neg", x)
    assert [body_text(s)[-3] for s in outlined(a, b).bodies] == ["exp", "neg"]
    assert [body_text(s)[-3] for s in outlined(b, a).bodies] == ["neg", "exp"]


def test_a_kernel_reads_what_another_wrote_through_an_after() -> None:
    first = op("exp", data(4))
    last = op("neg", first)
    result = outlined(last, realized=(first,))
    producer, consumer = calls_of(result.root)
    waits = consumer.sources[1]
    assert isinstance(waits, After) and waits.sources == (producer.sources[0], producer)
    assert result.root.sources == (After((consumer.sources[0], consumer)),)


def test_inputs_and_repeated_results_need_no_call() -> None:
    x = data(4)
    made = op("exp", x)
    result = outlined(x, made, x, made)
    assert len(calls_of(result.root)) == 1
    assert result.root.sources[0] is x and result.root.sources[1] is result.root.sources[3]


def test_results_without_data_are_written_by_a_call() -> None:
    result = outlined(const(1.5, f32, (3,)), nodes.Iota((), 3, dtypes.int32))
    assert [len(c.sources) for c in calls_of(result.root)] == [1, 1]
    values = [body.sources[0].sources[1] for body in result.bodies]
    assert [type(v) for v in values] == [nodes.Const, nodes.Iota]


def test_every_node_says_what_it_comes_from() -> None:
    x = data(4, 6)
    total = nodes.Reduce((op("exp", x),), "sum", (1,))
    result = outlined(op("neg", total))
    (call,) = calls_of(result.root)
    of = result.origins.of
    assert of(call) == {total.sources[0], total, op("neg", total)}
    assert of(call.sources[0]) == {op("neg", total)} == of(result.root.sources[0])
    assert of(x) == {x}
    inside = {operation(n): of(n) for n in toposort([call.body])}
    assert inside["exp"] == {total.sources[0]} and inside["reduce sum"] == {total}
    assert inside["store"] == {op("neg", total)}
    assert all(inside.values())


@pytest.mark.parametrize("limit", (2, 256))
@pytest.mark.parametrize("name", PROGRAMS)
def test_outlined_programs_are_whole(name: str, limit: int) -> None:
    """Every node of the graph is in a body, or is an input; nothing is lost."""
    root = nodes.Sink((PROGRAMS[name](),))
    parts = partition(root, Options(kernel_operations=limit))
    result = outline(root, parts.realized)
    verify_kernels(result.root)
    covered = {n for call in toposort([result.root]) for n in result.origins.of(call)}
    wanted = {n for n in toposort([root]) if n is not root}
    assert wanted <= covered | {n for b in result.bodies for n in toposort([b])}
    assert all(isinstance(c, Call) for c in calls_of(result.root))


def test_a_value_that_waits_for_a_call_is_read_after_it() -> None:
    """A Later is read in the memory of its value, once its second operand was computed."""
    value, other = op("exp", data(4)), op("neg", data(4))
    later = Later((value, other))
    result = outlined(later, realized=(value, other))
    (held,) = result.root.sources
    producer, waited = calls_of(result.root)
    assert isinstance(held, After) and buffer_of(held) is producer.sources[0]
    assert held.sources[1:] == (waited,)
