"""Kernel fission: kernels that are split because their parts are faster, and others that stay."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core.errors import InternalError
from compiler.core.passes import StageName
from compiler.core.reason import numbers_of
from compiler.graph import nodes
from compiler.graph.nodes import TensorNode
from compiler.graph.words import operation
from compiler.pipeline import driver, kernels
from compiler.pipeline.kernels import estimated
from compiler.run.building import Build
from compiler.schedule.fission import Estimated, fission
from compiler.schedule.outline import body_of
from compiler.schedule.partition import partition
from tests.loops.programs import data, fold, matmul, op
from tests.rows import watched

Program = Callable[[Tensor, Tensor, Tensor], Tensor]


def pooled(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    return x.conv2d(w, padding=1).relu().max_pool2d(3, stride=2, padding=1)


def residual(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    return (x.conv2d(w, padding=1) + x.conv2d(v)).relu()


def averaged(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    return (x.conv2d(w, padding=1).relu() + x).mean((2, 3))


CUT: dict[str, tuple[Program, int]] = {
    "padded": (pooled, 2), "of two sums": (residual, 1), "folded": (averaged, 1),
}  # fmt: skip
"""Programs that `partition` fuses too much, each with its number of splits."""


def inputs(channels: int = 16, side: int = 24) -> tuple[Tensor, Tensor, Tensor]:
    random = np.random.default_rng(0)
    shapes = (1, channels, side, side), (channels, channels, 3, 3), (channels, channels, 1, 1)
    x, w, v = (Tensor(random.standard_normal(s).astype(np.float32)) for s in shapes)
    return x, w, v


@pytest.mark.parametrize("name", CUT)
def test_a_kernel_is_cut_where_its_parts_are_faster(name: str) -> None:
    program, cuts = CUT[name]
    compilation = compiler.compile(program(*inputs()), Options(cache=False))
    found = [d for d in compilation.decisions if "loops of one kernel" in str(d.numbers)]
    assert len(found) == cuts
    for each in found:
        assert not each.taken
        (one,) = (n for n in each.numbers if n.name == "loops of one kernel")
        assert one.limit is not None and one.value > 1.1 * one.limit
    whole = compiler.compile(program(*inputs()), Options(cache=False, loops="plain"))
    assert len(whole._kernels) < len(compilation._kernels)
    np.testing.assert_allclose(compilation.run()[0], whole.run()[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "root",
    (
        op("exp", op("add", matmul(data(64, 96), data(96, 64)), data(64, 64))),
        fold("sum", op("exp", data(64, 96)), 1),
        matmul(data(64, 96), data(96, 64)),
    ),
    ids=operation,
)
def test_what_has_good_loops_is_left_whole(root: TensorNode) -> None:
    parts = partition(nodes.Sink((root,)), Options())
    asked: list[nodes.Sink] = []

    def estimate(body: nodes.Sink, *, is_tried: bool = False) -> Estimated:
        asked.append(body)
        return estimated(body, Options())

    assert fission(nodes.Sink((root,)), parts, Options(), estimate) is parts
    assert asked == [body_of(root, [root])]


def test_nothing_is_cut_that_was_asked_for() -> None:
    x, w, _ = inputs()
    y = x.conv2d(w, padding=1).fuse().relu().max_pool2d(3, stride=2, padding=1)
    compilation = compiler.compile(y, Options(cache=False))
    asked = [d for d in compilation.decisions if d.kind == "fuse" and "requested" in d.reason]
    assert asked and all(d.taken for d in asked)


def test_an_iteration_of_a_loop_is_judged() -> None:
    x, w, v = inputs()
    y = compiler.repeat(2, lambda i, h: residual(h, w, v) * 0.1, x)
    made = compiler.compile(y, Options(cache=False))
    cut = [d for d in made.decisions if "loops of one kernel" in str(d.numbers) and not d.taken]
    assert cut and all(numbers_of(d.reason) for d in cut)
    plain = compiler.compile(y, Options(cache=False, loops="plain"))
    np.testing.assert_allclose(made.run()[0], plain.run()[0], rtol=1e-3, atol=1e-3)


def test_a_body_is_estimated_once() -> None:
    root = op("exp", matmul(data(64, 96), data(96, 64)))
    body = body_of(root, {root: None})
    first = estimated(body, Options())
    with watched() as ran:
        assert estimated(body_of(root, {root: None}), Options()) == first
        assert estimated(body_of(root, {}), Options(loops={"k0": ""})) == first
    assert not ran
    assert first.ns >= first.ideal > 0


@pytest.mark.parametrize("name", CUT)
def test_a_kernel_goes_through_the_passes_on_loops_once(name: str) -> None:
    """One that was only tried goes on from there, and is verified then."""
    program, _ = CUT[name]
    y = program(*inputs())
    compiler.cache_clear()
    with watched() as ran:
        plan = compiler.prepare(y, options=Options(cache=False))
    rows = Counter(row.place for row in ran)
    compiled = {body for body, _ in plan.structure.programs}
    assert rows["loops.index"] == len({key[0] for key, _ in kernels.LOOPED.items()} | compiled)
    assert rows["lowered.linearize"] == len(compiled) < rows["loops.index"]
    assert len(compiled) <= rows["loops.verify"] <= 2 * rows["loops.index"]


@pytest.mark.parametrize("way", [compiler.prepare, compiler.compile])
def test_so_it_does_in_a_program_of_more_kernels_than_are_kept(
    way: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler.cache_clear()
    monkeypatch.setattr(kernels.LOOPED, "bound", 1)
    products = [Tensor(np.ones((n, 64), np.float32)) @ np.ones((64, 96), np.float32)
                for n in (64, 65, 66)]  # fmt: skip
    with watched() as ran:
        way(products, options=Options(cache=False))
    assert Counter(row.place for row in ran)["loops.index"] == 3 and len(kernels.LOOPED) == 1


def test_what_was_tried_and_is_broken_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    y = pooled(*inputs())
    whole = compiler.prepare(y, options=Options(cache=False)).run()
    compiler.cache_clear()
    usual = driver.check

    def refused(unit: driver.Unit, stage: StageName) -> None:
        usual(unit, stage)
        raise InternalError("loops", "a test")

    monkeypatch.setattr(driver, "check", refused)
    with watched() as ran:
        again = compiler.prepare(y, options=Options(cache=False))
    assert Counter(row.place for row in ran)["loops.index"] > len(kernels.WORKS)
    np.testing.assert_array_equal(again.run()[0], whole[0])


def test_the_reader_of_a_part_that_takes_too_long_is_not_estimated() -> None:
    x, w, v = inputs()
    root = Build(nodes.Sink((residual(x, w, v).node,)), Options()).simplest
    parts = partition(root, Options())
    asked: list[bool] = []

    def estimate(body: nodes.Sink, *, is_tried: bool = False) -> Estimated:
        asked.append(is_tried)
        return Estimated(1e6, 1e3, False)

    assert fission(root, parts, Options(), estimate) is parts
    held: list[bool] = []

    def halves(body: nodes.Sink, *, is_tried: bool = False) -> Estimated:
        held.append(is_tried)
        return Estimated(1e6 if not is_tried else 7e5, 1e3, False)

    assert fission(root, parts, Options(), halves) is parts
    assert sum(held) == 2 * sum(asked) > 0, "a part that takes less has its reader estimated"


def test_sums_that_are_spread_are_cut_from_what_spreads_them() -> None:
    """As in the backward pass of a convolution after a max pool: LLVM would vectorise the fused
    loops, and the estimate is not far from fully vectorised code."""
    random = np.random.default_rng(0)
    shapes = (64, 32, 4, 4), (64, 32, 3, 3), (64, 64, 4, 4)
    x, w, g = (Tensor(random.standard_normal(shape).astype(np.float32)) for shape in shapes)
    is_it = Tensor(random.random((64, 32, 4, 4, 2, 2)) < 0.25)
    image = (x.conv2d(w, padding=1) * g).sum().gradient(x)
    squares = image.reshape(64, 32, 4, 4, 1, 1).expand(64, 32, 4, 4, 2, 2)
    options = Options(machine="x86-avx2", cache=False)
    program = compiler.compile(is_it.where(squares, 0), options)
    assert any("loops of one kernel" in str(d.numbers) for d in program.decisions)
    summing = [each for each in program.loops if "reduction" in str(each)]
    assert summing and not any(program.choices[each.name].is_plain for each in summing)
