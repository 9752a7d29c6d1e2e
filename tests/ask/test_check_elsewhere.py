"""`check` where a cluster is in use: the same rows as without, whatever the program is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor, Variable, custom
from compiler.ask import check_elsewhere
from compiler.ask.checking import Report
from compiler.ask.interpreted import stages_of
from tests.only_maps import only_maps

RNG = np.random.default_rng(17)


def random(*shape: int, dtype: Any = np.float32) -> Tensor:
    return Tensor(RNG.standard_normal(shape).astype(dtype))


def chain() -> Tensor:
    x = random(24, 24)
    return (x @ (x @ x.softmax(1)).softmax(1)).relu().sum(1)


def looped() -> Tensor:
    x = random(6, 6)
    return compiler.repeat(5, lambda _, t: (t @ x).tanh(), random(6, 6))


def of_rows() -> Tensor:
    n = Variable("n", 1, 12)
    return (random(12, 3)[: n.bind(7)] * 2 + 1).exp().sum(0)


def in_place() -> Tensor:
    x = random(40)
    return x.assign(x * 2 + 1) + 1


def on_two_devices() -> Tensor:
    x = random(8, 6).shard(("CPU", "CPU:1"), 0)
    return (x @ random(6, 4).shard(("CPU", "CPU:1"), None)).relu()


PROGRAMS: dict[str, Callable[[], Any]] = {
    "chain": chain, "looped": looped, "of rows": of_rows, "in place": in_place,
    "on two devices": on_two_devices, "random bits": lambda: Tensor.rand(20, 3) + 1,
    "sorted": lambda: random(30).sort()[0], "scanned": lambda: random(5, 40).cumsum(1),
    "integers": lambda: Tensor(RNG.integers(-9, 9, (7, 5))).max(0) // 3,
    "gathered": lambda: random(9, 4)[Tensor([1, 8, 3])] * 0.5,
    "small types": lambda: random(16, 16).cast("bfloat16") @ random(16, 16).cast("bfloat16"),
    "empty": lambda: random(0, 3).sum(0),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_rows_are_those_that_are_found_here(name: str, client: Any) -> None:
    made = compiler.compile(PROGRAMS[name]())
    expected = made.check()
    with only_maps(client) as engine:
        assert made.check() == expected and expected.ok
    graph = [record for record in made.passes if record.stage == "graph"]
    assert engine.rows == len(graph) + 4


def broken(made: Any) -> Any:
    """The compilation with a stage of its first kernel changed: it subtracts instead of adding."""
    body = made.schedule.items[0].operation.body
    kernel, usual = made.kernel(body), made.kernel
    instructions = [
        replace(it, op="sub") if getattr(it, "op", "") == "add" and it.dtype.is_float else it
        for it in kernel.linear.instructions
    ]
    assert instructions != kernel.linear.instructions
    changed = replace(kernel, linear=replace(kernel.linear, instructions=instructions))
    made.kernel = lambda it: changed if it is body else usual(it)
    return made


def test_a_stage_that_was_changed_by_hand_is_checked_as_it_is(client: Any) -> None:
    made = broken(compiler.compile(random(8, 8) + random(8, 8)))
    expected = made.check()
    first = expected.first_difference
    assert first is not None and first.stage == "lowered"
    with only_maps(client):
        assert made.check() == expected


def test_data_and_values_of_another_run(client: Any) -> None:
    made = compiler.compile(of_rows())
    expected = made.check({"n": 3})
    with only_maps(client):
        assert made.check({"n": 3}) == expected != made.check({"n": 4})


def reports(made: Any, client: Any) -> tuple[Report, Report, int]:
    with only_maps(client) as engine:
        there = made.check()
    return made.check(), there, engine.rows


def test_what_one_process_alone_knows_is_checked_here(client: Any, tmp_path: Any) -> None:
    @custom.host()
    def doubled(x: Any) -> Any:
        return x * 2

    expected, found, rows = reports(compiler.compile(doubled(Tensor.ones(3)) + 1), client)
    assert found == expected and not rows
    np.save(tmp_path / "x.npy", np.ones((4, 4), np.float32))
    mapped = compiler.compile(Tensor.load(str(tmp_path / "x.npy")).sum(0))
    expected, found, rows = reports(mapped, client)
    assert found == expected and expected.ok


def test_memory_that_is_there_twice_travels_once() -> None:
    x = random(64, 64)
    made = compiler.compile(x @ x.T)
    values = made.values_of_run()
    sent = check_elsewhere._written(made, values)
    assert sent is not None and [a.size for a in sent.arrays] == [64 * 64]
    assert len(stages_of(made, values).inputs) == 1


def test_threads_do_not_matter(client: Any) -> None:
    made = compiler.compile(chain(), Options(trace=True, threads=2))
    expected, found, rows = reports(made, client)
    assert found == expected and rows
