"""The search among programs that select by value finds only planted faults."""

import numpy as np
import pytest

import compiler
from compiler.llvm import operations
from tests.ask.test_ties import Contracted
from tests.search.bodies import BODIES, MAPS
from tests.search.heads import HEADS
from tests.search.selections import APART, NoData, drawn, failure, operands, tried

FOUND = (
    "amax of columns", "infinity norm", "scatter amax", "clip at the second",
    "maximum with itself turned", "max_pool1d((2,), (1,), (0,), (1,))",
)  # fmt: skip


def test_a_sample_is_right() -> None:
    count, failures = tried(36, range(24))
    assert not failures and count > 12


def test_values_are_equal_only_where_their_operands_are() -> None:
    programs = [drawn(9026, number) for number in range(1890, 1990)]
    counts = dict.fromkeys(APART, 0)
    for program in programs:
        draw = np.random.default_rng(program.shape)
        try:
            x, c, matrix = operands(program, draw)
        except NoData:
            continue
        z = x @ matrix
        pairs = set(zip(z.flat, c.flat, strict=True))
        values = {float(BODIES[program.body](np.float64(z), np.float64(c))) for z, c in pairs}
        assert len(values) == len(pairs), program
        counts[program.dtype] += 1
    assert all(counts.values())


def test_every_head_body_and_map_is_drawn() -> None:
    programs = [drawn(1, number) for number in range(600)]
    assert {each.head for each in programs} == set(HEADS)
    assert {each.body for each in programs} == set(BODIES)
    assert {each.map for each in programs} == set(MAPS)


def test_a_program_is_known_by_its_name() -> None:
    assert drawn(7, 12) == drawn(7, 12) != drawn(7, 13)
    assert not failure(drawn(7, 12))


def test_it_and_check_see_copies_with_other_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler.cache_clear()
    monkeypatch.setattr(operations, "_Place", Contracted)
    wrong, seen = set(), set()
    for head in FOUND:
        for seed in range(10):
            is_right, is_checked = _compiled(head, seed)
            if not is_right:
                wrong.add((head, seed))
            if not is_checked:
                seen.add((head, seed))
    compiler.cache_clear()
    assert {head for head, _ in wrong} and wrong <= seen


def _compiled(head: str, seed: int) -> tuple[bool, bool]:
    """True if the gradient of one program is right; and True if check reports so."""
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((2, max(3, HEADS[head].least))).astype(np.float32)
    wide = x.astype(np.float64)
    leaf = compiler.Tensor(x, requires_grad=True)
    made = HEADS[head].ours(leaf * leaf.detach() + leaf.detach())
    w = draw.integers(1, 5, made.shape).astype(np.float32)
    loss = (made * compiler.Tensor(w)).sum() + leaf.erf().sum()
    options = compiler.Options(loops="plain", mode="explain", cache=False)
    program = compiler.compile(loss, loss.gradient(leaf), options=options)
    slope = 2 / np.sqrt(np.pi) * np.exp(-(wide**2))
    right = HEADS[head].right(wide**2 + wide, w.astype(np.float64)) * wide + slope
    is_right = bool(np.abs(program.run()[1] - right).max() < 1e-3)
    return is_right, is_right or bool(program.check())
