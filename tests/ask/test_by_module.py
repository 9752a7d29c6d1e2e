"""Nodes, kernels and time of each module at every stage: sums hold at every level."""

from dataclasses import replace

import numpy as np
import pytest

import compiler
from compiler import Compilation, Options, Tensor
from compiler.ask.by_module import ByModule, item_parts, roofs, spread
from compiler.core.modules import in_module
from compiler.llvm import jit
from compiler.schedule.items import Kernel
from tests.models import LENGTH, transformer


@pytest.fixture(scope="module")
def compiled() -> Compilation:
    pytest.importorskip("onnx")
    model = compiler.from_onnx(transformer())
    return compiler.compile([*model(ids=np.arange(LENGTH)[np.newaxis]).values()])


@pytest.fixture(scope="module")
def made(compiled: Compilation) -> ByModule:
    return compiled.by_module()


def test_parts_of_every_item_sum_to_one(compiled: Compilation) -> None:
    for parts in item_parts(compiled, spread(compiled, is_whole=False)):
        for field in ("time", "operations", "moved"):
            assert sum(getattr(it, field) for it in parts.values()) == pytest.approx(1)


def test_modules_sum_to_what_holds_them(compiled: Compilation, made: ByModule) -> None:
    whole = made.rows[0]
    analysis = compiled.schedule.analysis
    assert whole.work.ns == pytest.approx(sum(it.estimated_ns for it in analysis))
    assert whole.work.flops == pytest.approx(sum(it.flops for it in analysis))
    assert whole.work.moved == pytest.approx(sum(it.bytes_read + it.bytes_written
                                                 for it in analysis))  # fmt: skip
    layers = [made[f"encoder.layer.{n}"] for n in range(2)]
    encoder = made["encoder"]
    for of in ("ns", "roof", "moved", "flops"):
        inner = sum(getattr(it.work, of) for it in layers)
        assert getattr(encoder.work, of) == pytest.approx(inner)
    assert encoder.row.nodes == sum(it.row.nodes for it in layers)


def test_what_passes_left_is_counted(compiled: Compilation, made: ByModule) -> None:
    last = [it for it in compiled.optimized_graph.nodes if it is not compiled.simplest]
    assert made.rows[0].alive[-1] == len(last)
    assert made.passes[-1] == "simplify" and len(made.rows[0].alive) == len(made.passes)
    assert 0 < made["layer.0.attention"].alive[-1] < made["layer.0"].alive[-1]


def test_kernels_name_whom_they_also_serve(compiled: Compilation, made: ByModule) -> None:
    names = {it.operation.name for it in compiled.schedule.items
             if isinstance(it.operation, Kernel)}  # fmt: skip
    assert {it.name for it in made.rows[0].kernels} == names
    (up,) = made["layer.0.up"].kernels
    (act,) = made["layer.0.act"].kernels
    assert up.name == act.name and up.items == act.items  # the product and its relu are one
    assert made.modules.rows[up.others[0]].path == "encoder.layer.0.act"
    assert up.shares[0] + act.shares[0] == pytest.approx(1) and up.shares[0] > act.shares[0] > 0
    assert made["layer.0.up"].shared_kernels == 1


def test_code_is_told_and_its_bytes_are_split(compiled: Compilation, made: ByModule) -> None:
    whole = made.rows[0].code
    assert whole.instructions == sum(len(it.instructions) for it in compiled.lowered)
    assert whole.assembly == sum(it.instruction_count for it in compiled.assembly)
    pairs = zip(compiled.source, compiled.assembly, strict=True)
    codes = (jit.object_code(it.text, it.symbol, asm.level) for it, asm in pairs)
    assert whole.nbytes == pytest.approx(sum(map(jit.code_size, codes)))
    outer = made["embeddings"].code.nbytes + made["encoder"].code.nbytes
    assert outer == pytest.approx(whole.nbytes)
    query = made["layer.0.attention.query"].code
    assert 0 < query.instructions < whole.instructions
    assert query.shared_instructions == query.instructions  # one code for all such products


def test_measured_times_take_the_place_of_estimates(compiled: Compilation) -> None:
    measured = compiled.measure(seconds=0.05)
    made = compiled.by_module(measured)
    assert made.is_measured and made.rows[0].work.ns == pytest.approx(measured.total)
    assert "measured" in str(made).splitlines()[0] and "estimated" not in str(made)


def test_it_is_a_table(made: ByModule) -> None:
    lines = str(made).splitlines()
    assert len(lines) == 1 + len(made.rows)
    assert lines[0].split()[:2] == ["module", "nodes"] and "estimated" in lines[0]
    assert lines[1].startswith("(whole program)") and "100 %" in lines[1]
    assert next(it for it in lines if "query" in it).startswith("        query ")
    assert max(map(len, lines)) <= 100


def test_nothing_is_lost_where_it_is_as_wide_as_it_is(made: ByModule) -> None:
    heads, whole, *_ = made.table(None).splitlines()
    for word in (*made.passes, "nodes", "assembly", "bytes", "operations"):
        assert word in heads
    code = made.rows[0].code
    assert f" {round(code.nbytes):,} " in whole and f" {code.assembly:,} " in whole
    up = next(it for it in str(made).splitlines() if it.strip().startswith("up "))
    assert " 1* " in up, "its kernel also serves another module"


def test_long_names_are_shortened_to_the_width(made: ByModule) -> None:
    names = [it.partition("  ")[0] for it in made.table(60).splitlines() if "(" in it]
    assert names == ["(whole program)"] and "…" not in made.table()
    account = made.rows[-1]
    long = replace(account, row=replace(account.row, name="a" * 80))
    text = replace(made, rows=(made.rows[0], long)).table()
    assert "aa…" in text and max(map(len, text.splitlines())) == 100


def test_no_roof_is_above_its_estimate(compiled: Compilation) -> None:
    known = [(roof, row) for roof, row in
             zip(roofs(compiled), compiled.schedule.analysis, strict=True)
             if roof is not None]  # fmt: skip
    assert known and all(0 <= roof <= row.estimated_ns for roof, row in known)


def test_what_is_folded_away_has_no_kernel() -> None:
    x = Tensor(np.arange(6, dtype=np.float32))
    with in_module("Net"):
        with in_module("twice"):
            x = x.neg().neg()
        with in_module("act"):
            x = x.exp()
        with in_module("view"):
            x = x.reshape(2, 3)
    made = compiler.compile(x, Options(device="INTERPRET")).by_module()
    assert made["twice"].kernels == () and made["twice"].work.ns == 0
    assert made["twice"].alive[-1] < made["twice"].row.nodes
    assert len(made["act"].kernels) == 1
    assert made["act"].work.ns == pytest.approx(made.rows[0].work.ns)


def test_the_short_table_has_the_nodes_before_and_after_passes(made: ByModule) -> None:
    heads, *lines = str(made).splitlines()
    assert heads.split()[:3] == ["module", "nodes", "left"]
    for row, line in zip(made.rows, lines, strict=True):
        figures = line[line.index(row.row.name) + len(row.row.name):].split()
        assert [int(it.replace(",", "")) for it in figures[:2]] == [row.row.nodes, row.alive[-1]]
