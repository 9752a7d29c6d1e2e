"""Bodies that differ only in the offsets of reads share a kernel; others stay separate."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, compile
from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.core.origin import no_origin
from compiler.graph.interpret import interpret
from compiler.graph.nodes import (
    Narrow,
    Param,
    Shrink,
    Sink,
    Store,
    TensorNode,
    Variable,
    elementwise,
)
from compiler.graph.verify import verify
from compiler.program.compilation import Compilation
from compiler.schedule import deduplicate
from compiler.schedule.calls import Call, calls_of
from compiler.schedule.general_body import general_bodies
from compiler.schedule.items import Kernel

f32 = dtypes.float32
X = np.random.default_rng(0).standard_normal((6, 8)).astype("f4")


def body(bounds: tuple[tuple[int, int], ...], op: str = "exp") -> Sink:
    """out = exp of a part of a matrix of 6 rows and 8 columns."""
    part = Shrink((Param((), 1, (6, 8), f32),), bounds)
    return Sink((Store((Param((), 0, part.shape, f32), elementwise(op, part))),))


def value(shared: Sink, variables: dict[str, int]) -> Any:
    """The value that a body stores."""
    (store,) = shared.sources
    order: list[TensorNode] = toposort([store.sources[1]])
    given: dict[TensorNode, Any] = {n: X for n in order if isinstance(n, Param)}
    given |= {n: np.array(variables[n.name]) for n in order if isinstance(n, Variable)}
    return interpret([store.sources[1]], given)[0]


def test_parts_of_one_size_share_a_body() -> None:
    bodies = [body(((0, 6), (n, n + 2))) for n in (0, 4, 2)]
    found = general_bodies(bodies)
    assert list(found) == bodies
    assert len({it.body for it in found.values()}) == 1
    for own, begin in zip(bodies, (0, 4, 2), strict=True):
        ((variable, at),) = found[own].values
        assert (variable.name, variable.low, variable.high, at) == ("at0", 0, 4, begin)
        np.testing.assert_array_equal(value(found[own].body, {"at0": at}), value(own, {}))
        verify(found[own].body.sources[0].sources[1])


def test_two_axes_take_two_variables_and_equal_begins_one() -> None:
    corners = (0, 0), (2, 3), (4, 1)
    bodies = [body(((a, a + 2), (b, b + 5))) for a, b in corners]
    found = general_bodies(bodies)
    for own, corner in zip(bodies, corners, strict=True):
        inputs = {v.name: at for v, at in found[own].values}
        assert inputs == {"at0": corner[0], "at1": corner[1]}
        np.testing.assert_array_equal(value(found[own].body, inputs), value(own, {}))
    same = [body(((n, n + 2), (n, n + 2))) for n in (0, 1)]
    assert [len(general_bodies(same)[own].values) for own in same] == [1, 1]


def test_what_is_cut_alike_stays_cut() -> None:
    bodies = [body(((1, 5), (n, n + 2))) for n in (0, 3)]
    (shared,) = {it.body for it in general_bodies(bodies).values()}
    kinds = [type(n) for n in toposort([shared]) if isinstance(n, Shrink | Narrow)]
    assert kinds == [Shrink, Narrow]


@pytest.mark.parametrize(
    "bodies",
    [
        [body(((0, 6), (0, 2)))],
        [body(((0, 6), (0, 2))), body(((0, 6), (0, 3)))],
        [body(((0, 6), (0, 2))), body(((0, 6), (2, 4)), "neg")],
    ],
    ids=["alone", "another size", "another operation"],
)
def test_others_stay_apart(bodies: list[Sink]) -> None:
    assert general_bodies(bodies) == {}


def test_what_is_written_in_place_stays_apart() -> None:
    with no_origin():
        written, read = Param((), 0, (8,), f32), Param((), 1, (8,), f32)
        parts = [(n, Shrink((read,), ((n, n + 2),))) for n in (0, 2)]
        bodies = [Sink((Store((written, part), ((n, 2, 1),)),)) for n, part in parts]
    assert general_bodies(bodies) == {}


def test_a_narrow_stays_inside_its_axis() -> None:
    part = Narrow((Param((), 1, (6, 8), f32), Variable((), "at0", 0, 7)), 1, 2)
    with pytest.raises(InternalError, match="a narrow reaches outside"):
        verify(part)


def heads() -> list[Tensor]:
    """Attention, head by head."""
    q, k = Tensor(X, name="q"), Tensor(X[::-1].copy(), name="k")
    parts = [slice(h * 2, h * 2 + 2) for h in range(4)]
    return [(q[:, part] @ k[:, part].T).softmax().contiguous() for part in parts]


def steps() -> list[Tensor]:
    """A recurrent cell, step by step."""
    x, w = Tensor(X, name="x"), Tensor(X.T @ X, name="w")
    h = Tensor(np.zeros(8, "f4"), name="h")
    for t in range(6):
        h = (x[t] + h @ w).tanh().contiguous()
    return [h]


def halves() -> list[Tensor]:
    """Even and odd elements, again and again."""
    x = Tensor(X.reshape(-1), name="x")
    even, odd = x[0::2].contiguous(), x[1::2].contiguous()
    return [(part[n::2] * 2).contiguous() for part in (even, odd) for n in (0, 1)]


PROGRAMS: dict[str, tuple[Callable[[], list[Tensor]], int]] = {
    "heads": (heads, 3), "steps": (steps, 2), "halves": (halves, 2),
}  # fmt: skip
"""Programs, each with its maximal number of distinct kernels."""


def kernels(made: Compilation) -> list[Kernel]:
    return [i.operation for i in made.schedule.items if isinstance(i.operation, Kernel)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_written_as_a_loop_compiles_its_kernels_once(name: str) -> None:
    program, most = PROGRAMS[name]
    compilation = compile(program())
    calls = kernels(compilation)
    assert len({call.body for call in calls}) <= most < len(calls)
    assert compilation.check().ok
    assert all(set(call.variables) == set() for call in calls), "calls say where they read"


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_call_says_where_it_reads(name: str) -> None:
    made = compile(PROGRAMS[name][0]())
    fixed = [call.fixed for call in kernels(made) if call.fixed]
    assert len(set(fixed)) > 1
    assert "; at0 = " in str(made.kernels)
    assert "at0 = " in str(made.schedule)
    calls = [c for c in calls_of(made.kernels.root) if isinstance(c, Call) and c.fixed]
    assert all(made.kernels.parents[call] for call in calls), "they come from their own lines"


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_are_chosen_as_for_a_kernel_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That the begin of a part is a variable costs no choice."""
    program, _ = PROGRAMS[name]
    together = compile(program())
    monkeypatch.setattr(deduplicate, "general_bodies", lambda bodies: {})
    alone = compile(program())
    pairs = list(zip(kernels(together), kernels(alone), strict=True))
    assert len({b.body for _, b in pairs}) > len({a.body for a, _ in pairs})
    for shared, own in pairs:
        assert str(together.choices[shared.name]) == str(alone.choices[own.name])
