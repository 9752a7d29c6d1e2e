"""The memory plan: places are disjoint where live ranges overlap; the arena is nearly minimal."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core.errors import InternalError
from compiler.graph.nodes import Buffer
from compiler.program.compilation import Compilation
from compiler.schedule.analysis import share as sharing
from compiler.schedule.analysis.share import (
    ALIGNMENT,
    MemoryPlan,
    Place,
    best_fit,
    either_end,
    gaps,
    lowest,
    share,
)
from tests.schedule.items import buffer, schedule

INPUT = buffer(1, 100)


def chain(*sizes: int) -> MemoryPlan:
    """Each item reads what the one before wrote; the last is the result."""
    made = [buffer(-1 - i, size) for i, size in enumerate(sizes)]
    arguments = [(made[0], INPUT), *((made[i], made[i - 1]) for i in range(1, len(sizes)))]
    items = schedule([(i, i + 1) for i in range(len(sizes) - 1)], len(sizes), arguments)
    return share(items, [made[-1]])


def overlaps(plan: MemoryPlan) -> list[tuple[str, str]]:
    """Pairs that have bytes in common and are needed in one level."""
    inside = [p for p in plan.places if p.offset is not None and p.size]
    return [
        (a.buffer.name, b.buffer.name)
        for n, a in enumerate(inside)
        for b in inside[:n]
        if a.offset < b.offset + b.size and b.offset < a.offset + a.size  # type: ignore[operator]
        and a.first <= b.last and b.first <= a.last
    ]  # fmt: skip


def test_a_chain_takes_turns_in_two_places() -> None:
    plan = chain(640, 640, 640, 640, 640, 64)
    assert [p.offset for p in plan.places] == [0, 640, 0, 640, 0, None]
    assert (plan.unshared, plan.arena, plan.kept) == (5 * 640 + 64, 1280, 64)
    assert plan.peak == plan.live == 1344
    assert plan.places[2].reason == "shares 640 bytes with b-1: its live range ends in level 1"
    assert plan.places[5].reason == "a result: never shared"


def test_lives_that_touch_in_one_level_do_not_share() -> None:
    plan = chain(64, 64, 64)
    first, second, _ = plan.places
    assert (first.last, second.first) == (1, 1)
    assert first.offset != second.offset


def test_where_the_arrangements_put_a_buffer() -> None:
    place = Place(buffer(-1, 64), None, 64, 1, 1, "")
    busy = [(0, 64), (256, 320), (384, 512)]
    assert gaps(busy) == [(64, 256), (320, 384), (512, None)]
    assert best_fit(place, busy, 0) == 320, "the smallest gap"
    assert lowest(place, busy, 0) == 64
    assert either_end(place, busy, 640) == 576, "the top, on an odd level"
    assert either_end(place, busy, 0) == 320, "the highest gap where the top is taken"
    large = Place(buffer(-1, 512), None, 512, 1, 1, "")
    assert best_fit(large, busy, 0) == lowest(large, busy, 0) == either_end(large, busy, 0) == 512


def test_results_inputs_and_what_the_caller_keeps_are_not_shared() -> None:
    made = [buffer(-1 - i, 64) for i in range(4)]
    arguments = [(made[0], INPUT), *((made[i], made[i - 1]) for i in range(1, 4))]
    items = schedule([(0, 1), (1, 2), (2, 3)], 4, arguments)
    plan = share(items, [made[0]], kept=[made[2]])
    places = {p.buffer: p for p in plan.places}
    assert INPUT not in places
    assert places[made[0]].offset is None and places[made[0]].last == 3
    assert places[made[2]].reason == "the caller keeps it: never shared"


def test_a_buffer_on_disk_is_not_shared() -> None:
    on_disk = Buffer((), -2, (64,), INPUT.dtype, "file", "DISK")
    items = schedule([(0, 1)], 2, [(buffer(-1, 64), INPUT), (on_disk, buffer(-1, 64))])
    assert share(items, []).places[1].reason == "on DISK: never shared"


def test_empty_buffers_and_empty_schedules() -> None:
    assert chain(0, 0).peak == 0
    plan = share((), [])
    assert (plan.peak, plan.live, plan.places) == (0, 0, ())
    assert "peak 0 bytes" in str(plan)


def test_a_wrong_plan_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    arrangements = ((lambda place: 0, lambda place, busy, least: 0),)
    monkeypatch.setattr(sharing, "ARRANGEMENTS", arrangements)
    with pytest.raises(InternalError, match="two live buffers overlap"):
        chain(64, 64, 64)


@pytest.mark.parametrize("seed", range(40))
def test_random_schedules_never_overlap(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 40)
    made = [buffer(-1 - i, rng.choice((0, 3, 64, 100, 1000, 5000))) for i in range(count)]
    edges = [(a, b) for b in range(count) for a in range(b) if rng.random() < 3 / count]
    arguments = [(made[i], *(made[a] for a, b in edges if b == i)) for i in range(count)]
    items = schedule(edges, count, arguments)
    results = rng.sample(made, rng.randint(0, min(3, count)))
    plan = share(items, results)
    assert not overlaps(plan)
    assert all((p.offset or 0) % ALIGNMENT == 0 for p in plan.places)
    assert plan.live <= plan.peak <= plan.unshared
    assert plan == share(items, results), "deterministic"
    assert {p.buffer for p in plan.places if p.offset is None} == set(results)


@pytest.mark.parametrize("seed", range(12))
def test_a_sweep_finds_what_comparing_all_pairs_finds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    made = [buffer(-1 - i, rng.choice((16, 64, 100, 1000, 5000))) for i in range(50)]
    edges = [(a, b) for b in range(50) for a in range(b) if rng.random() < 0.06]
    arguments = [(made[i], *(made[a] for a, b in edges if b == i)) for i in range(50)]
    items = schedule(edges, 50, arguments)
    monkeypatch.setattr(sharing, "ARRANGEMENTS", ((sharing._by_level, sharing.best_fit),))
    compared = share(items, [])
    monkeypatch.setattr(sharing, "MANY", 0)
    swept = share(items, [])
    assert not overlaps(swept)
    assert {p.buffer: p.offset for p in swept.places} == {
        p.buffer: p.offset for p in compared.places
    }


# --- whole programs -------------------------------------------------------------------------------


def data(*shape: int) -> Tensor:
    rng = np.random.default_rng(sum(shape))
    return Tensor((rng.standard_normal(shape) / 8).astype(np.float32))


def layers() -> list[Tensor]:
    """Twelve layers of different widths."""
    widths = (96, 64, 128, 48, 96, 96, 32, 128, 64, 80, 96, 64, 10)
    x = data(32, widths[0])
    for before, after in pairwise(widths):
        x = (x @ data(before, after) + data(after)).relu()
    return [x.softmax(1)]


def block() -> list[Tensor]:
    """Attention and two layers, each added to what went in: as in a transformer."""
    x = data(24, 32)
    query, key, value = (x @ data(32, 32 + n)[:, :32] for n in range(3))
    weights = (query @ key.permute(1, 0) / 32**0.5).softmax(1)
    x = x + (weights @ value) @ data(32, 35)[:, :32]
    centred = x - x.mean(1, keepdim=True)
    normed = centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()
    return [x + (normed @ data(32, 128)).gelu() @ data(128, 32)]


def branches() -> list[Tensor]:
    """Branches of different lengths that meet, and a result in the middle."""
    x = data(40, 40)
    left = right = x
    for _ in range(3):
        left = (left @ x).contiguous()
    for _ in range(5):
        right = (right @ x * 0.5).contiguous()
    both = left @ right
    return [both @ x, left + 1.0, both.sum(0)]


def columns() -> list[Tensor]:
    """Statistics over both axes, which need several kernels."""
    x = data(64, 48)
    for _ in range(4):
        x = ((x - x.mean(0)) / (x.square().mean(0) + 1.0)).contiguous()
        x = (x.softmax(1) + x.max()).contiguous()
    return [x]


Program = Callable[[], list[Tensor]]
PROGRAMS = (layers, block, branches, columns)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_same_numbers_with_and_without_a_plan(program: Program) -> None:
    nodes = [t.node for t in program()]
    for options in (Options(optimize=0), Options()):
        planned, alone = (
            Compilation(nodes, replace(options, plan_memory=on), "p").run() for on in (True, False)
        )
        for a, b in zip(planned, alone, strict=True):
            np.testing.assert_array_equal(a, b)
    expected = compiler.compile(program()).check()
    assert expected.ok, str(expected)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_peak_is_close_to_what_is_alive(program: Program) -> None:
    plan = compiler.compile(program()).schedule.memory_plan
    assert plan is not None and not overlaps(plan)
    assert plan.live <= plan.peak <= 1.1 * plan.live
    assert plan.peak < plan.unshared
