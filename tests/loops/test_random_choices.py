"""Random legal choices change nothing but how: every program equals its plain loop."""

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from compiler.errors import ScheduleError
from compiler.loops.axes import axes
from compiler.loops.choices import (
    Accumulate,
    Choice,
    Choices,
    Keep,
    Pack,
    Parallelize,
    Reorder,
    Stream,
    Tile,
    Unroll,
    Vectorize,
)
from compiler.loops.nodes import Body
from tests.loops.transformed import (
    PROGRAMS,
    SIZES,
    assert_close,
    assert_same,
    body_of,
    on_machine,
    transform,
)


@st.composite
def choices_for(draw: st.DrawFn, body: Body) -> list[Choice]:
    """Choices that may be legal for `body`, in the order of their passes."""
    names = sorted(axes(body))
    assume(names)
    axis = st.sampled_from(names)
    rows: list[Choice] = []
    rows += draw(st.lists(st.builds(Keep, axis, axis), max_size=1))
    for _ in range(draw(st.integers(0, 4))):
        size = draw(st.sampled_from((1, 2, 3, 4, 8, 16, 20)))
        cut = draw(st.sampled_from(names))
        rows.append(Tile(cut, size, draw(st.sampled_from(("peel", "mask")))))
        names += [f"{cut}.{part}" for part in range(3)]
    part = st.sampled_from(names)
    if draw(st.booleans()):
        rows.append(Reorder(tuple(draw(st.permutations(names)))))
    slots = st.integers(1, 2)
    rows += draw(st.lists(st.builds(Pack, slots, part | st.just("")), max_size=2))
    inside = part | st.just("")
    rows += draw(st.lists(st.builds(Accumulate, axis, st.integers(1, 4), inside), max_size=1))
    rows += draw(st.lists(st.builds(Unroll, part), max_size=3))
    rows += draw(st.lists(st.builds(Vectorize, part), max_size=3))
    rows += draw(st.lists(st.builds(Parallelize, part, st.integers(2, 3)), max_size=2))
    return rows + draw(st.lists(st.just(Stream(0)), max_size=1))


def legal(body: Body, rows: list[Choice]) -> Choices:
    """Those of `rows` that are not refused together with those before them."""
    kept: tuple[Choice, ...] = ()
    for row in rows:
        try:
            transform(body, Choices((*kept, row)))
        except ScheduleError:
            continue
        kept = (*kept, row)
    return Choices(kept)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(sorted(PROGRAMS)), *[st.sampled_from(SIZES)] * 3)
def test_random_choices_compute_the_same(
    data: st.DataObject, name: str, m: int, n: int, k: int
) -> None:
    before = body_of(name, m, n, max(k, 2))
    chosen = legal(before, data.draw(choices_for(before)))
    assert_same(before, transform(before, chosen))


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(sorted(PROGRAMS)), *[st.sampled_from(SIZES[3:])] * 3)
def test_machine_code_of_random_choices(
    data: st.DataObject, name: str, m: int, n: int, k: int
) -> None:
    before = body_of(name, m, n, k)
    chosen = legal(before, data.draw(choices_for(before)))
    expected, found = on_machine(name, m, n, k, {"k0": chosen})
    assert_close(found, expected)
