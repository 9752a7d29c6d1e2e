"""Hot spots of a kernel: shares of blocks, instructions and lines, measured or estimated."""

import numpy as np
import pytest

import compiler
from compiler import Compilation, Options, Tensor
from compiler.ask import hot as asking
from compiler.ask import sampling
from compiler.ask.hot import Hot
from compiler.ask.sampling import CannotSample, refuse_without_samples, sampled
from compiler.core.errors import DataError, DeviceError
from compiler.llvm import jit
from compiler.llvm.looking import marked

X86 = pytest.mark.skipif(not jit.is_x86(), reason="counters are code of x86-64")


def can_sample() -> bool:
    try:
        refuse_without_samples()
    except CannotSample:
        return False
    return True


SAMPLED = pytest.mark.skipif(not can_sample(), reason="the system lets no thread be sampled")


@pytest.fixture(scope="module")
def made() -> Compilation:
    x = Tensor(np.ones((64, 96), np.float32), name="x")
    return compiler.compile((x @ x.T).relu(), Options(threads=1))


@pytest.fixture
def without_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise CannotSample("this system says no")

    monkeypatch.setattr(asking, "refuse_without_samples", refuse)


def hold(found: Hot, made: Compilation) -> None:
    """Properties of all shares, measured or estimated."""
    listing = made.assembly[0]
    assert len(found.shares) == len(listing.rows) and min(found.shares) >= 0
    labels = [s for s, row in zip(found.shares, listing.rows, strict=True) if row.endswith(":")]
    assert not any(labels)
    for shares in (found.shares, found.blocks, [share for _, share in found.lines]):
        assert sum(shares) == pytest.approx(1)
    hottest = listing.flow.blocks[found.blocks.index(max(found.blocks))]
    assert hottest.loops and max(found.blocks) > 0.5
    assert {line for line, share in found.ir_lines.items() if share > 0} <= set(
        range(1, len(made.source[0].rows) + 1))
    assert found.lines[0][0] is not None and found.lines[0][0].text.strip().startswith("return")


@SAMPLED
def test_shares_are_measured_where_a_thread_can_be_sampled(
    made: Compilation, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds in (0.1, 1.0, 10.0):  # the thread may wait through a short time
        monkeypatch.setattr(asking, "SECONDS", seconds)
        found = made.hot("k0")
        if found.is_measured:
            break
    hold(found, made)
    assert found.is_measured and not found.runs
    assert found.how.startswith("measured, ") and "samples" in found.how


@X86
@pytest.mark.usefixtures("without_samples")
def test_else_they_are_estimated_from_runs_that_were_counted(made: Compilation) -> None:
    found = made.hot("k0")
    hold(found, made)
    assert not found.is_measured and len(found.runs) == len(made.assembly[0].flow.blocks)
    assert found.how.startswith("estimated (this system says no): ")
    assert found.runs[0] == 1 and max(found.runs) > 96
    assert "runs" in str(found) and "test_hot.py:" in str(found)


@pytest.mark.usefixtures("without_samples")
def test_where_neither_can_be_had_it_says_so(
    made: Compilation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marked, "is_counted", lambda: False)
    with pytest.raises(DeviceError, match="nothing can be measured here"):
        made.hot("k0")


def test_a_kernel_that_is_not_there_is_refused(made: Compilation) -> None:
    with pytest.raises(DataError, match="no such kernel"):
        made.hot("k9")


@X86
@pytest.mark.usefixtures("without_samples")
def test_data_that_a_program_writes_stay_as_they_are() -> None:
    held = np.zeros(8, np.float32)
    x = Tensor(held, name="x")
    x.assign(x + 1.0)
    made = compiler.compile(x)
    before = [array.copy() for array in made.inputs(None, {}).values()]
    made.hot("k0")
    for old, new in zip(before, made.inputs(None, {}).values(), strict=True):
        assert old.tolist() == new.tolist()


@SAMPLED
def test_samples_are_addresses_of_this_thread() -> None:
    found = sampled(lambda: sum(range(100_000)), 0.05)
    assert len(found.addresses) > 20 and all(found.addresses)
    assert found.by in ("the clock", "the processor's cycles")


def test_a_system_without_the_call_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "sampling_call", lambda: None)
    with pytest.raises(CannotSample, match="does not let"):
        sampled(lambda: None, 0)
