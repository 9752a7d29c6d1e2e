"""Tiles of arguments copied to scratch memory."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.core.errors import ScheduleError
from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.loops.choices import Choices, Pack, parse, text
from compiler.loops.choosing.choose import choose
from compiler.loops.nodes import Argument, Body, Load, Local, Range, Reduce, Store, memory
from compiler.loops.transforms import pack
from compiler.machines.model import DEFAULT
from tests.loops.examples import EXAMPLES
from tests.loops.transformed import SIZES, assert_same, body_of, transform
from tests.rows import whole_loops


def test_the_example_in_the_docstring() -> None:
    assert EXAMPLES["pack"].text in (pack.__doc__ or "")


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize(("name", "choices"), [
    ("matmul", "pack 2"),
    ("matmul", "tile i1 16; reorder i1.0 i0; pack 2 i1.0"),
    ("matmul of integers",
     "tile i1 16 mask; tile i0 8; reorder i1.0 i0.0; pack 2 i1.0; pack 1 i0.0"),
    ("x @ w.T", "tile i1 16 mask; reorder i1.0 i0; pack 2 i1.0; vectorize i1.1"),
    ("x.T @ w", "tile i0 8; pack 1 i0.0"),
    ("bmm", "pack 2 i0"),
    ("matmul", "tile i0 8; tile i1 16; reorder i0.0 i1.0; pack 2 i0.0; unroll i0.1"),
    ("matmul", "tile i0 16; tile i0.1 4; pack 2 i0.0; parallelize i0.0 2"),
    ("convolution", "pack 1 i0"),
])  # fmt: skip
def test_same_values(name: str, choices: str, n: int) -> None:
    before = body_of(name, 17, n, 7)
    assert_same(before, transform(before, choices))


@pytest.mark.parametrize(("choices", "why"), [
    ("pack 0", "not read"),
    ("pack 3", "not read"),
    ("pack 2 i8", "no axis i8"),
])  # fmt: skip
def test_illegal_choices_are_refused(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(body_of("matmul", 17, 64, 32), choices)


READ_TWICE: dict[str, Callable[[Tensor], Tensor]] = {
    "a @ a": lambda a: a @ a, "a @ a.T": lambda a: a @ a.T, "a.T @ a": lambda a: a.T @ a,
    "a @ a + a": lambda a: a @ a + a,
}  # fmt: skip


def squared(name: str, n: int) -> Body:
    """The loops of a product of one argument with itself."""
    made = compile(READ_TWICE[name](Tensor(np.zeros((n, n), np.float32))), Options(loops="plain"))
    return made.loops[-1].body


def reads(body: Body) -> list[Argument | Local]:
    """The memories that the loads of the innermost loop of the sum read."""
    order: list[Any] = toposort([body])
    (product,) = [n.sources[0] for n in order if isinstance(n, Reduce)]
    loads = {n for n in order if isinstance(n, Load)}
    return [memory(n) for n in toposort([product], loads) if isinstance(n, Load)]


@pytest.mark.parametrize("name", READ_TWICE)
def test_one_of_two_reads_of_an_argument(name: str) -> None:
    cut = "tile i1 8; reorder i1.0 i0 i1.1; "
    before = squared(name, 16)
    one = transform(before, f"{cut}pack 1[i1] i1.0")
    assert sorted(type(n).__name__ for n in reads(one)) == ["Argument", "Local"]
    other = transform(before, f"{cut}pack 1[i0] i0")
    assert sorted(type(n).__name__ for n in reads(other)) == ["Argument", "Local"]
    both = transform(before, f"{cut}pack 1 i1.0")
    assert [type(n).__name__ for n in reads(both)] == ["Local", "Local"]
    for after in (one, other, both):
        assert_same(before, after)


@pytest.mark.parametrize(("choices", "why"), [
    ("pack 1[i7]", "no load of argument 1 depends on i7"),
    ("tile i1 8; pack 1[i1.2]", r"no load of argument 1 depends on i1\.2"),
])  # fmt: skip
def test_a_read_that_is_not_there(choices: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why):
        transform(squared("a @ a", 16), choices)


@pytest.mark.parametrize(("shape", "name"), [
    ((1536, 1536), "a @ a"), ((1536, 1536), "a @ a.T"), ((2000, 2000), "a.T @ a"),
    ((3000, 1500), "a.T @ a"),
])  # fmt: skip
def test_products_of_one_argument_are_chosen_as_those_of_two(
    shape: tuple[int, int], name: str
) -> None:
    a, b = (Tensor(np.broadcast_to(np.float32(0), shape)) for _ in range(2))
    two = a @ b if name == "a @ a" else a @ b.T if name == "a @ a.T" else a.T @ b
    compilations = (compile(value, Options(loops="plain")) for value in (READ_TWICE[name](a), two))
    one, other = (text(choose(whole_loops(it), replace(DEFAULT, cores=2))) for it in compilations)
    assert "; pack 2 i1.0; " in other
    assert one == other.replace("pack 2 i1.0", "pack 1[i1] i1.0")


def test_values_of_products_of_one_argument() -> None:
    a = np.random.default_rng(0).standard_normal((1500, 203)).astype(np.float32)
    x = Tensor(a)
    np.testing.assert_allclose((x.T @ x).numpy(), a.T @ a, rtol=1e-3, atol=1e-2)
    wide = x @ x.T
    assert "pack 1[i1] " in text(compile(wide).choices["k0"])
    np.testing.assert_allclose(wide.numpy(), a @ a.T, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("k", [4, 7, 8, 33])
@pytest.mark.parametrize("n", [4, 7, 17])
def test_squares_change_places_where_the_original_lies_across(n: int, k: int) -> None:
    choices = (
        "tile i0 2; tile i1 8 mask; tile i1.1 4; reorder i1.0 i0.0 i0.1 i1.1.0 i1.1.1; "
        "pack 2 i1.0; unroll i0.1; unroll i1.1.0; vectorize i1.1.1"
    ) if n > 8 else "tile i1 4 mask; pack 2; vectorize i1.1"
    before = body_of("x @ w.T", 6, n, k)
    after = transform(before, choices)
    assert_same(before, after)
    assert any(
        each.level == "unroll" and each.extent == 4 and each.number > 2
        for each in toposort([after])
        if isinstance(each, Range)
    )


def test_what_squares_leave_has_no_lanes() -> None:
    """Lanes 300 elements apart have an index for each, in a vector that is kept during the sums: of
    16 registers for vectors two were missing there, and 400×300×300 took 1.4 ms, not 0.65."""
    before = body_of("x @ w.T", 4, 16, 19)
    choices = "tile i1 8; pack 2 i1.0; reorder i1.0 i0 i1.1; unroll i0; vectorize i1.1"
    after = transform(before, choices)
    assert_same(before, after)
    numbers = {r.number for r in toposort([before]) if isinstance(r, Range)}
    nests = [
        {r.level for r in n.ranges if r.number not in numbers}
        for n in toposort([after]) if isinstance(n, Store) and isinstance(n.sources[0], Local)
    ]  # fmt: skip
    assert sorted("vector" in levels for levels in nests) == [False, True]
    text = "\n".join(
        compile(Tensor(np.ones((400, 300), np.float32)) @ Tensor(np.ones((304, 300), np.float32)).T)
        .assembly_for("x86-avx2")[0].rows
    )  # fmt: skip
    assert not re.search(r"ymmword ptr \[rsp", text)


def test_a_nest_outside_of_the_axis_reads_the_original() -> None:
    before = body_of("matmul", 17, 16, 9)
    after = transform(before, "tile i0 8; reorder i0.0 i1; pack 2 i0.0")
    assert_same(before, after)
    slots = [n.sources[0] for n in toposort([after]) if isinstance(n, Load)]
    assert sum(isinstance(s, Argument) and s.slot == 2 for s in slots) == 2


def test_a_store_keeps_its_number_where_all_stores_read_the_copy() -> None:
    body = body_of("matmul", 17, 64, 32)
    provenance: Provenance[str] = Provenance()
    provenance.add(body, frozenset(("line",)))
    number = provenance.numbers[body.sources[0]]
    (choice,) = parse("pack 2").rows
    assert isinstance(choice, Pack)
    after = pack.pack(body, Choices((choice,)), provenance)
    assert len(after.sources) == 1 and provenance.numbers[after.sources[0]] == number
