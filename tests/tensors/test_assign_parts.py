"""Assign writes only its ranges, and in place where a value reads just the elements it writes."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import Tensor, prepare
from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.core.trace import Provenance
from compiler.device.c.source import CRenderer
from compiler.device.metadata import derive, derive_instructions
from compiler.graph import nodes as graph
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import Flip, Pad, Param, Shrink, Sink, elementwise
from compiler.graph.verify import verify
from compiler.loops.index import index
from compiler.loops.nodes import Store
from compiler.program.compilation import Compilation
from compiler.schedule.hazards import OVERWRITTEN
from compiler.settings.options import Options
from tests.evaluate import ENGINES, assert_same
from tests.tensors.test_assign import address, assigned, realised

KINDS = ("new", "view", "alias", "assign", "part", "many", "compute", "range", "scale", "over")


def a_range(choice: st.DataObject, extent: int) -> slice:
    """Any slice of an axis, steps of both signs among them."""
    bound = st.integers(-extent - 1, extent + 1)
    step = st.sampled_from([1, 1, 2, 3, -1, -2])
    return slice(choice.draw(bound), choice.draw(bound), choice.draw(step))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_program_has_value_semantics(choice: st.DataObject) -> None:
    """Tensors against arrays that are copied: whatever is assigned, read and computed when."""
    pairs = [(realised(1, 2, 3, 4), np.arange(1.0, 5)), (realised(5, 6, 7, 8), np.arange(5.0, 9))]
    for _ in range(choice.draw(st.integers(2, 9))):
        kind = choice.draw(st.sampled_from(KINDS))
        n, m = (choice.draw(st.integers(0, len(pairs) - 1)) for _ in range(2))
        (t, a), (u, b) = pairs[n], pairs[m]
        a = a.copy()
        match kind:
            case "new":
                pairs.append((t - u, a - b))
            case "view":
                pairs.append((t[::-1], a[::-1].copy()))
            case "alias":
                pairs.append((Tensor(t), a.copy()))
            case "assign":
                t.assign(u - t[::-1])
                pairs[n] = t, b - a[::-1]
            case "scale":
                t.assign(t * 2 - u)
                pairs[n] = t, a * 2 - b
            case "part":
                t[1:] = u[:-1]
                pairs[n] = t, np.concatenate([a[:1], b[:-1]])
            case "range" | "over":
                where = a_range(choice, 4)
                t[where] = t[where] + u[where] if kind == "range" else u[::-1][where]
                a[where] = a[where] + b[where] if kind == "range" else b[::-1][where]
                pairs[n] = t, a
            case "many":
                t[[0, 2, 0]] = u[:3]
                pairs[n] = t, np.array([b[2], a[1], b[1], a[3]])
            case _:
                assert t.tolist() == a.tolist()
    for t, a in pairs:
        assert t.tolist() == a.tolist()


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_range_of_any_axis_is_written_in_place(choice: st.DataObject) -> None:
    """Slices, integers and steps of a block of three axes; the value reads what it writes."""
    array = np.arange(60.0).reshape(3, 4, 5)
    x = Tensor(array.copy()).contiguous().realize()
    before = address(x)
    for _ in range(choice.draw(st.integers(1, 3))):
        axes = [a_range(choice, n) for n in array.shape]
        place = choice.draw(st.integers(0, 3))
        number = choice.draw(st.integers(-3, 2))
        items: list[Any] = [*axes[:place], number, *axes[place + 1 :]]
        where = tuple(items[: choice.draw(st.integers(1, 3))])
        x[where] = x[where] * 2 + 1
        array[where] = array[where] * 2 + 1
    assert_same(x.numpy(), array)
    assert address(x) == before


def kernels_of(*tensors: Tensor) -> Compilation:
    return Compilation([t.node for t in tensors], Options(verify=True), "test")


@pytest.mark.parametrize(
    ("where", "source"),
    [(np.s_[2:5], np.s_[2:5]), (np.s_[::2], np.s_[::2]), (np.s_[1::3], np.s_[1::3]),
     (np.s_[::-1], np.s_[::-1]), (np.s_[6:1:-2], np.s_[6:1:-2]), (np.s_[4], np.s_[4]),
     (np.s_[:], np.s_[:]), (np.s_[3:3], np.s_[3:3])],
)  # fmt: skip
def test_a_value_that_reads_what_it_writes_needs_no_copy(where: Any, source: Any) -> None:
    x = realised(*range(7))
    x[where] = x[source] * 2 + 1
    kernels = kernels_of(x)
    assert len(kernels.schedule.items) == 1
    assert not [d for d in kernels.decisions if d.reason == OVERWRITTEN]
    assert kernels.check().ok, str(kernels.check())


@pytest.mark.parametrize(
    ("where", "source"),
    [(np.s_[1:], np.s_[:-1]), (np.s_[::2], np.s_[1::2]), (np.s_[:3], np.s_[3:]),
     (np.s_[::-1], np.s_[:]), (np.s_[:1], np.s_[1:2])],
)  # fmt: skip
def test_a_value_that_reads_elsewhere_is_copied(where: Any, source: Any) -> None:
    a = np.arange(6.0)
    x = realised(*a)
    x[where] = x[source] * 2 + 1
    kernels = kernels_of(x)
    (found,) = (d for d in kernels.decisions if d.reason == OVERWRITTEN)
    shown = {kernels.optimized_graph.entity(n) for n in kernels.optimized_graph.nodes}
    assert found.subject in shown
    a[where] = a[source] * 2 + 1
    assert x.tolist() == a.tolist()


def test_the_zeros_around_a_value_are_not_what_is_written() -> None:
    """A column of zeros added to [2, 5] is at the place of element (1, 0), but not that element."""
    x = Tensor(np.arange(10.0).reshape(2, 5)).contiguous().realize()
    zeros = Shrink((Pad((x.node,), ((0, 0), (0, 1))),), ((0, 1), (5, 6)))
    node = Assign((x.node, zeros), ((1, 1, 1), (0, 1, 1)))
    (got,) = ENGINES["machine"]([node])
    assert got[1, 0] == 0 and got[1, 1] == 6


def test_only_the_range_is_written() -> None:
    x = Tensor(np.zeros((100, 100))).contiguous().realize()
    x[10:20, ::5] = 1
    kernels = kernels_of(x)
    (row,) = kernels.schedule.analysis
    assert row.bytes_written == 200 * 8
    (kernel,) = kernels._kernels
    (store,) = kernel.loops.sources
    assert isinstance(store, Store) and store.is_part
    assert math.prod(r.extent for r in store.ranges) == 200
    assert "ptr noalias nocapture writeonly %out" in "\n".join(line.text for line in kernel.source)


def test_what_is_read_and_written_is_called_neither_read_only_nor_written_only() -> None:
    x, y = realised(1, 2, 3), realised(4, 5, 6)
    x[1:] = x[1:] * y[1:]
    kernels = kernels_of(x)
    (kernel,) = kernels._kernels
    text = "\n".join(line.text for line in kernel.source)
    assert "ptr noalias nocapture %out" in text
    assert "ptr noalias nocapture readonly %in1" in text
    instructions = derive_instructions(kernel.linear.instructions)
    assert instructions.outs == (0,) and instructions.ins == (0, 1)
    assert derive([kernel.loops]) == instructions
    source = CRenderer().render(kernel.linear.instructions).source.text
    assert "int64_t *restrict out, const int64_t *restrict in1" in source


def test_a_plan_leaves_data_that_a_range_of_is_written() -> None:
    a = np.arange(4.0)
    x = Tensor(a)
    x[1:3] = x[1:3] * 10
    plan = prepare(x)
    assert plan.structure.written_inputs == (0,)
    assert plan.run()[0].tolist() == plan.run()[0].tolist() == [0, 10, 20, 3]
    assert plan.run([np.ones(4)])[0].tolist() == [1, 10, 10, 1]
    assert a.tolist() == [0, 1, 2, 3]


def test_verify_parts() -> None:
    x, y = assigned(np.ones(4), np.ones(2))
    for parts in (((3, 2, 1),), ((0, 2, 4),), ((0, 3, 1),), ((-1, 2, 1),), ((0, 2, 1), (0, 1, 1))):
        with pytest.raises(InternalError, match="invariant 19: an assign does not fit its target"):
            verify(Sink((Assign((x, y), parts),)))
    verify(Sink((Assign((x, y), ((1, 2, 2),)),)))


def test_a_body_by_hand_that_reads_elsewhere_is_refused() -> None:
    target = Param((), 0, (4,), dtypes.float32)
    right = Sink((graph.Store((target, elementwise("neg", target))),))
    wrong = Sink((graph.Store((target, Flip((target,), (0,)))),))
    (store,) = index(right, Provenance()).sources
    assert isinstance(store, Store)
    with pytest.raises(InternalError, match="a body reads elements of the param it writes"):
        index(wrong, Provenance())
