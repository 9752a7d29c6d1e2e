"""Assign: a tensor gets another value in its own memory, and no other tensor changes."""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, compile, custom
from compiler.core.errors import AxisError, DataError, InternalError, ShapeError
from compiler.core.node import toposort
from compiler.device.buffers import data, new_buffer
from compiler.device.disk import read_npy
from compiler.graph import nodes
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import TensorNode, elementwise
from compiler.graph.verify import verify
from compiler.program.compilation import Compilation
from compiler.schedule.hazards import OUTLIVED, OVERWRITTEN
from compiler.settings.options import Options
from compiler.tensors.readers import READERS
from tests.evaluate import ENGINES, assert_same, every_engine

Array = np.ndarray[Any, Any]


def realised(*values: float) -> Tensor:
    """A tensor in memory of its own."""
    return Tensor(np.array(values)).contiguous().realize()


def address(tensor: Tensor) -> int:
    node = tensor.node
    assert isinstance(node, nodes.Buffer)
    return int(data(node).ctypes.data)


def test_the_memory_is_written() -> None:
    x = realised(1, 2, 3)
    before = address(x)
    assert x.assign(x + 1) is x
    assert x.tolist() == [2, 3, 4]
    assert address(x) == before
    x.assign(0)
    assert x.tolist() == [0, 0, 0] and address(x) == before


def test_nothing_happens_before_it_is_computed() -> None:
    a = np.zeros(3)
    x = Tensor(a).assign(5)
    assert a.tolist() == [0, 0, 0]
    x.realize()
    assert a.tolist() == [5, 5, 5]


def test_a_tensor_that_is_not_computed_becomes_the_value() -> None:
    x = Tensor([1.0, 2.0]) * 2
    x.assign(7)
    assert not isinstance(x.node, Assign)
    x[0] = 1
    assert x.tolist() == [1, 7]


def test_a_loop_over_elements_is_written_to_memory_now_and_then() -> None:
    """Else the program were as deep as there are elements, and slow to compile."""
    x = Tensor(np.ones((30, 2))) * 2
    for i in range(30):
        x[i, 0] = i
    kinds = [type(node) for node in toposort([x.node])]
    assert kinds.count(nodes.Contiguous) == 3
    np.testing.assert_array_equal(x.numpy(), [[i, 2.0] for i in range(30)])


def test_readers_see_the_value_of_their_time() -> None:
    x = realised(0, 1, 2, 3)
    before, view, alias, total = x * 10, x[1:3], Tensor(x), x.sum()
    x.assign(x[::-1])
    after = x + 0.5
    assert x.tolist() == [3, 2, 1, 0]
    assert before.tolist() == [0, 10, 20, 30]
    assert view.tolist() == [1, 2]
    assert alias.tolist() == [0, 1, 2, 3]
    assert total.item() == 6
    assert after.tolist() == [3.5, 2.5, 1.5, 0.5]
    assert address(alias) != address(x)


def test_old_and_new_in_one_kernel() -> None:
    x = realised(1, 2, 3)
    old = x * 10
    x.assign(x + 1)
    assert (old + x).tolist() == [12, 23, 34]
    assert x.tolist() == [2, 3, 4] and old.tolist() == [10, 20, 30]


def test_a_reader_that_is_computed_makes_the_assign_happen_once() -> None:
    x = realised(1, 2)
    x.assign(x * 2)
    y = x + 1
    assert y.tolist() == [3, 5]
    assert x.tolist() == [2, 4]
    assert (x + 0).tolist() == [2, 4]


def test_assigns_in_a_row() -> None:
    x = realised(1, 2)
    first = x * 1
    x.assign(x + 1)
    second = x * 1
    x.assign(x * first)
    third = x * 1
    x.assign(second - x)
    assert x.tolist() == [0, -3]
    assert [t.tolist() for t in (first, second, third)] == [[1, 2], [2, 3], [2, 6]]


def test_two_names_of_one_value_part() -> None:
    x = realised(1, 2)
    y = Tensor(x)
    x.assign(5)
    y.assign(y + 1)
    assert y.tolist() == [2, 3] and x.tolist() == [5, 5]
    assert address(x) != address(y)
    y.assign(0)
    x.assign(x + 1)
    assert x.tolist() == [6, 6] and y.tolist() == [0, 0]


def test_swap() -> None:
    x, y = realised(1, 2), realised(3, 4)
    old = Tensor(x)
    x.assign(y)
    y.assign(old)
    x.realize(y)
    assert x.tolist() == [3, 4] and y.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("index", "source"),
    [
        (np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[::2], np.s_[1::2]),
        (np.s_[::-1], np.s_[:]), (np.s_[[0, 1, 1]], np.s_[[5, 4, 3]]), (np.s_[2:5], np.s_[0]),
    ],
)  # fmt: skip
def test_overlapping_parts(index: Any, source: Any) -> None:
    a = np.arange(6.0)
    x = realised(*a)
    expected = a.copy()
    expected[index] = a[source].copy()
    x[index] = x[source]
    assert_same(x.numpy(), expected)


def test_elements_are_assigned_in_place() -> None:
    x = realised(*range(6))
    before = address(x)
    x[2:4] = [7, 8]
    x[x > 6] = -1
    x[[0, 5]] = x[[5, 0]]
    x[1] += 10
    assert x.tolist() == [5, 11, -1, -1, 4, 0]
    assert address(x) == before


def test_assign_in_a_loop() -> None:
    x, total = realised(1, 2), realised(0, 0)
    for _ in range(5):
        total.assign(total + x)
        x.assign(x * 2)
    total.realize(x)
    assert total.tolist() == [31, 62] and x.tolist() == [32, 64]


def test_a_compiled_program_writes_once_in_each_run() -> None:
    a = np.zeros(2)
    program = compile(Tensor(a).assign(Tensor(a) + 1))
    runs = [program.run()[0].tolist() for _ in range(3)]
    assert runs == [[1, 1], [2, 2], [3, 3]]
    assert program.check().ok and a.tolist() == [3, 3]


def test_results_of_a_run_are_not_overwritten_by_the_next() -> None:
    x = realised(1.0)
    program = compile(x.assign(x + 1))
    first = program.run()[0]
    program.run()
    assert first.tolist() == [2]


def test_memory_shared_with_numpy_is_shared() -> None:
    a = np.arange(3.0)
    x = Tensor(a)
    view = x.numpy()
    x.assign(9).realize()
    assert a.tolist() == view.tolist() == [9, 9, 9]


@pytest.mark.parametrize("operations", [1, 300])
def test_two_tensors_on_one_array(operations: int) -> None:
    """The value reads the very memory under another name: it is computed before, in a network of
    many nodes too."""
    a = np.arange(4.0)
    x, y = Tensor(a), Tensor(a[1:])
    value = y
    for _ in range(operations):
        value = value + 1
    x[1:] = value[::-1]
    x.realize()
    assert a.tolist() == [0, 3 + operations, 2 + operations, 1 + operations]


def test_refused() -> None:
    a = np.arange(3.0)
    a.flags.writeable = False
    with pytest.raises(DataError, match="the memory of the tensor cannot be written") as caught:
        Tensor(a).assign(1)
    assert caught.value.got == "a read-only array"
    with pytest.raises(ShapeError, match="the value does not fit"):
        realised(1, 2).assign([1, 2, 3])
    with pytest.raises(AxisError, match="out of range"):
        realised(1, 2)[3] = 1


def test_files_are_not_written(tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", np.arange(3.0))
    x = Tensor._of(read_npy(tmp_path / "x.npy"))
    with pytest.raises(DataError) as caught:
        x[0] = 1
    assert caught.value.got == "a file"
    y = x.contiguous()
    y[0] = 5
    assert y.tolist() == [5, 1, 2]


def test_types_and_shapes_stay() -> None:
    x = Tensor(np.array([1, 2, 3], np.int8)).contiguous().realize()
    x.assign(Tensor([1.9, -2.9, 400.0]))
    assert x.numpy().tolist() == [1, -2, 127] and str(x.dtype) == "int8"
    nothing = Tensor(np.zeros((0, 2))).contiguous().realize()
    assert nothing.assign(1).numpy().shape == (0, 2)
    scalar = Tensor(np.array(2.0)).contiguous().realize()
    assert scalar.assign(scalar * 4).item() == 8
    scalar[...] = 1
    assert scalar.item() == 1


def assigned(*arrays: Array) -> list[nodes.Buffer]:
    return [new_buffer(a) for a in arrays]


def _flip(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    return [Assign((x, nodes.Flip((x,), (0,))))]


def _chain(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    first = Assign((x, elementwise("add", y, y)))
    return [Assign((first, elementwise("mul", first, first))), elementwise("neg", first)]


def _both(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    first = Assign((x, elementwise("add", y, y)))
    return [elementwise("mul", x, first), first]


def _apart(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    return [elementwise("neg", x), Assign((x, y)), elementwise("mul", y, y)]


def _result(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    return [x, Assign((x, elementwise("neg", y)))]


def _crossed(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    return [Assign((x, elementwise("neg", y))), Assign((y, elementwise("add", x, x)))]


def _constant(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    return [Assign((x, nodes.Const((), 0, x.dtype, x.shape))), elementwise("add", x, y)]


def _itself(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    halves = nodes.Reshape(
        (elementwise("mul", nodes.Reshape((x,), (3, 1)), nodes.Reshape((y,), (3, 1))),), (3,)
    )
    return [Assign((x, elementwise("add", halves, y)))]


def _part(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    first = Assign((x, nodes.Shrink((y,), ((0, 2),))), ((1, 2, 1),))
    both = nodes.Shrink((first,), ((0, 2),))
    return [Assign((first, elementwise("add", both, both)), ((0, 2, 1),)), elementwise("neg", y)]


def _steps(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    padded = nodes.Reshape((nodes.Pad((x,), ((0, 1),)),), (2, 2))
    ends = nodes.Reshape((nodes.Shrink((padded,), ((0, 2), (0, 1))),), (2,))
    return [elementwise("neg", x), Assign((x, elementwise("mul", ends, ends)), ((0, 2, 2),))]


def _moved(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    return [Assign((x, nodes.Shrink((x,), ((0, 2),))), ((1, 2, 1),))]


def _reduced(x: TensorNode, y: TensorNode) -> list[TensorNode]:
    total = nodes.Expand((nodes.Reduce((x,), "sum", (0,)),), (3,))
    return [Assign((x, elementwise("sub", x, total)))]


PROGRAMS: dict[str, Callable[[TensorNode, TensorNode], list[TensorNode]]] = {
    "flip": _flip, "chain": _chain, "both": _both, "apart": _apart, "result": _result,
    "crossed": _crossed, "constant": _constant, "itself": _itself, "part": _part, "steps": _steps,
    "moved": _moved, "reduced": _reduced,
}  # fmt: skip


@every_engine
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_engine(name: str, engine: str) -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([5.0, 7.0, 9.0])
    expected = ENGINES["graph"](PROGRAMS[name](*assigned(x.copy(), y.copy())))
    got = ENGINES[engine](PROGRAMS[name](*assigned(x, y)))
    for one, other in zip(got, expected, strict=True):
        assert_same(one, other, name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_check_writes_nothing(name: str) -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([5.0, 7.0, 9.0])
    compilation = Compilation(PROGRAMS[name](*assigned(x, y)), Options(verify=True), "test")
    assert compilation.check().ok, str(compilation.check())
    assert x.tolist() == [1, 2, 3] and y.tolist() == [5, 7, 9]


@pytest.mark.parametrize(
    ("name", "reasons"),
    [("flip", [OVERWRITTEN]), ("both", [OUTLIVED]), ("apart", []), ("result", [OUTLIVED]),
     ("chain", []), ("constant", []), ("itself", []), ("part", []), ("steps", []),
     ("moved", [OVERWRITTEN]), ("reduced", [OVERWRITTEN])],
)  # fmt: skip
def test_copies_have_a_reason(name: str, reasons: list[str]) -> None:
    compilation = Compilation(PROGRAMS[name](*assigned(np.ones(3), np.ones(3))), Options(), "test")
    found = [d.reason for d in compilation.decisions if d.reason in (OVERWRITTEN, OUTLIVED)]
    assert found == reasons


def test_the_schedule_says_why_the_writer_waits() -> None:
    made = Compilation(_apart(*assigned(np.ones(3), np.ones(3))), Options(verify=True), "test")
    kinds = {d.kind for d in made.schedule.dependencies}
    assert "anti" in kinds
    assert "assign %" in str(made.graph)
    writers = [i for i in made.schedule.items if any(b.unique > 0 for b in i.operation.writes)]
    assert len(writers) == 1 and writers[0].depends_on


def test_verify() -> None:
    x, y = assigned(np.ones(2), np.ones(3))
    wrong = (
        (Assign((elementwise("neg", x), x)), "an assign to what is no buffer"),
        (Assign((x, y)), "an assign does not fit its target"),
    )
    for node, problem in wrong:
        with pytest.raises(InternalError, match=f"invariant 19: {problem}"):
            verify(nodes.Sink((node,)))
    two = nodes.Sink((Assign((x, x)), Assign((x, elementwise("neg", x)))))
    with pytest.raises(InternalError, match="invariant 19: two assigns have one target"):
        verify(two)


def test_tensors_that_are_gone_are_forgotten() -> None:
    gc.collect()
    many = [Tensor([1.0]) for _ in range(3000)]
    before = len(READERS)
    assert before >= 3000
    del many
    gc.collect()
    for _ in range(10_000):
        Tensor(1.0)
    assert len(READERS) < before + 3000


@custom.host()
def plus_one(x: Array) -> Array:
    """On the host."""
    return x + 1


def test_assign_from_the_host() -> None:
    x = realised(1, 2)
    old = x * 2
    x.assign(plus_one(x))
    assert x.tolist() == [2, 3] and old.tolist() == [2, 4]


def test_equal_results_are_one_buffer_until_one_is_assigned() -> None:
    x = realised(1, 2)
    (y, z), same = [x - 1 for _ in range(2)], x * 1
    x.realize(y, z, same)
    y.assign(9).realize()
    same.assign(7).realize()
    assert [t.tolist() for t in (x, y, z, same)] == [[1, 2], [9, 9], [0, 1], [7, 7]]
