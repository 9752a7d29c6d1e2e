"""Decisions about the iterations of loops: one for each node, of the call or the buffer."""

from collections.abc import Callable

import pytest

import compiler
from compiler import Tensor, compile
from compiler.core.node import toposort
from compiler.core.reason import Decision
from compiler.graph.nodes import Const, Iota, Param, Sink, Variable
from compiler.graph.words import describe_argument, operation, short
from compiler.program.compilation import Compilation
from tests.program.test_decisions import OPTIONS, VERDICTS, number, values


def power_iteration() -> Tensor:
    matrix = values(64, 64)

    def step(i: Tensor, v: Tensor) -> Tensor:
        w = matrix @ v
        return w / w.square().sum().sqrt()

    return compiler.repeat(5, step, values(64, 1))


def nested() -> Tensor:
    def inner(j: Tensor, x: Tensor) -> Tensor:
        return (x * 2.0 + 1.0).softmax()

    def step(i: Tensor, x: Tensor) -> Tensor:
        return compiler.repeat(3, inner, x + 1.0) * 0.5

    return compiler.repeat(2, step, values(8, 100))


def long_sum() -> Tensor:
    return compiler.repeat(3, lambda i, x: x / x.sum(), values(1 << 20))


def of_iterations(made: Compilation) -> list[Decision]:
    return [d for d in made.decisions if d.reason.startswith("each iteration's ")]


@pytest.mark.parametrize("build", [power_iteration, nested, long_sum])
def test_every_node_of_an_iteration_has_a_decision(build: Callable[[], Tensor]) -> None:
    made = compile(build(), OPTIONS)
    found = of_iterations(made)
    lines = {line.entity for line in made.kernels.lines}
    assert {d.subject for d in found} <= lines | {line.entity for line in made.graph.lines}
    for iteration in made._scheduled.outlined.iterations.values():
        for node in toposort([iteration.root]):
            if not isinstance(node, Sink | Param | Const | Iota | Variable):
                words = filter(None, (operation(node), describe_argument(node), short(node)))
                start = " ".join(["each iteration's", *words])
                assert any(d.reason.startswith(start) for d in found), start


def test_numbers_of_iterations_hold_what_the_verdict_needs() -> None:
    for build in (power_iteration, nested, long_sum):
        for each in of_iterations(compile(build(), OPTIONS)):
            check = VERDICTS.get(each.kind)
            if check is not None and each.numbers:
                assert check(each, {n.name: n for n in each.numbers}), str(each)


def test_decisions_in_an_iteration_are_about_the_call_or_the_buffer() -> None:
    made = compile(power_iteration(), OPTIONS)
    text = {line.entity: line.text for line in made.kernels.lines}
    kept, fused = ([d for d in of_iterations(made) if (d.kind, d.taken) == ("fuse", is_fused)]
                   for is_fused in (False, True))  # fmt: skip
    assert kept and fused
    assert all("buffer" in text[d.subject] for d in kept)
    assert all("call" in text[d.subject] for d in fused)
    for each in (*kept, *fused):
        assert "test_iteration_decisions.py:" in each.reason
    assert number(kept[0], "evaluations").limit == 64


def test_a_long_sum_in_an_iteration_is_cut_in_two() -> None:
    made = compile(long_sum(), OPTIONS)
    (cut,) = [d for d in of_iterations(made) if d.kind == "split_reduction" and d.taken]
    assert number(cut, "elements folded").value == 1 << 20


def test_values_fused_in_iterations_are_among_the_fusions_that_were_taken() -> None:
    made = compile(power_iteration(), OPTIONS)
    found = [it for it in made.schedule.opportunities if it.taken]
    assert {it.value for it in found} == {"reduce sum f32[1,1]"}
    assert len(found) == 5
