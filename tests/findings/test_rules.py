"""Each rule fires on a program made for it, with its numbers, its line, what to write instead."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Compilation, Options, Tensor
from compiler.core.text import duration
from compiler.findings.finding import Finding, Findings
from compiler.findings.rules import REPORTED_FROM, RULES, findings
from compiler.findings.subject import LEAST, WORTH
from compiler.run.recompiled import MANY
from tests.findings.corpus import block, data, training


def found(program: Any, rule: str, options: Options | None = None) -> tuple[Compilation, Finding]:
    """The program and the first finding of a rule, which is there."""
    made = compiler.compile(program, options or Options(threads=2))
    rows = [each for each in made.findings if each.rule == rule]
    assert rows, made.findings
    (first, *_) = rows
    assert first.instead.endswith(".") and first.words.endswith(".") and first.gain > 0
    assert first.brings.startswith(f"about {duration(first.gain)} less")
    assert first.place.startswith(("test_rules.py:", "corpus.py:")), first.place
    assert first.line in made.user_source.entities.values()
    return made, first


def total(made: Compilation) -> float:
    return sum(row.cost for row in made.schedule.analysis)


# -- float64 ---------------------------------------------------------------------------------------


def test_a_number_of_numpys_makes_a_program_float64() -> None:
    made, row = found(block(np.sqrt(64)), "float64")
    assert "because it meets a float64 constant" in row.words and "Python number" in row.instead
    assert "/ scale" in row.text
    (time,) = row.numbers
    assert time.limit == total(made) and row.gain == pytest.approx(time.value / 2)
    assert made.graph.to_networkx().nodes[row.subject]["op"] == "cast"


def test_zeros_of_the_default_type_do_so_too() -> None:
    _, row = found(training("float64"), "float64")
    assert 'dtype="float32"' in row.instead and "b1" in row.text


def test_a_named_operand_is_what_to_cast() -> None:
    wide = data("wide", 512, 512, dtype=np.float64)
    _, row = found((data("x", 512, 512) * wide).exp().sum(1), "float64")
    assert 'wide.cast("float32")' in row.instead


# -- copies ----------------------------------------------------------------------------------------


def test_a_copy_that_is_no_result_is_told() -> None:
    made, row = found(data("x", 2048, 2048).T.contiguous().exp().sum(1), "copy")
    assert row.words.startswith("k0 contiguous takes ") and "it copies (32 MiB moved)" in row.words
    assert row.stage == "schedule"
    analysis = made.schedule.analysis[int(row.subject.partition(":")[2])]
    assert row.gain == analysis.cost and analysis.flops == 0


def test_a_conversion_in_a_kernel_of_its_own_is_told() -> None:
    wide = Tensor(np.ones((1 << 20,), np.int32), name="wide").cast("float32").contiguous()
    _, row = found((wide * 2).sum() + (wide + 1).max(), "copy")
    assert "converts int32 to float32" in row.words


def test_a_copy_that_is_asked_for_as_a_result_is_none() -> None:
    made = compiler.compile(data("x", 2048, 2048).T.contiguous())
    assert "copy" not in {each.rule for each in made.findings}


# -- compiled anew ---------------------------------------------------------------------------------


def test_a_line_that_compiles_at_every_call_is_told() -> None:
    x = data("x", 40)
    with pytest.warns(compiler.RecompiledWarning):
        for count in range(1, MANY + 2):
            made = x[:count].exp().sum()
            made.numpy()
    again, row = found(made, "recompiled")
    assert f"had {MANY + 1} programs compiled" in row.words
    assert "compiler.Variable" in row.instead
    assert row.gain > total(again)


# -- kernels ---------------------------------------------------------------------------------------


def test_a_reduction_inside_another_is_below_its_roofline() -> None:
    x = data("x", 256, 256)
    read = x.fuse()
    _, row = found((read @ read).fuse().exp().fuse().sum(1), "roofline")
    took, vectors = row.numbers
    assert took.limit is not None and took.value >= 4 * took.limit
    assert vectors.value < 100
    assert "matmul is computed inside the loop of sum" in row.words
    assert ".contiguous() behind matmul" in row.instead
    assert compiler.compile((x @ x).contiguous().exp().sum(1)).findings.rows == ()


def test_reads_that_ask_whether_they_are_inside_are_a_cause() -> None:
    padded = data("x", 256, 1024).pad(((0, 0), (64, 64))).fuse()
    _, row = found(padded.unfold(1, 64).max(2), "roofline")
    assert "asks whether it is inside" in row.words


def test_nobody_is_told_to_take_back_what_was_advised() -> None:
    padded = data("x", 256, 1024).pad(((0, 0), (64, 64))).contiguous()
    assert not compiler.compile(padded.unfold(1, 64).max(2)).findings.rows


def test_a_column_alone_is_read_with_a_stride() -> None:
    made, row = found(data("table", 65536, 64)[:, 3].sum(), "strided")
    apart, lost = row.numbers
    assert (apart.value, apart.limit) == (256, 64)
    assert lost.limit is not None and lost.value <= lost.limit <= total(made)
    assert "table" in row.words and "[:, 3]" in row.text
    assert not compiler.compile(data("table", 64, 65536)[3].sum()).findings.rows


def test_blocks_of_a_sum_and_their_rest_are_one_reduction() -> None:
    found(data("table", 200_003, 64)[:, 3].sum(), "strided", Options(threads=2, loops="plain"))


def test_two_reductions_of_one_column_are_two() -> None:
    column = data("table", 200_003, 64)[:, 3]
    made = compiler.compile(column.var(), Options(threads=2, loops="plain"))
    assert "strided" not in {each.rule for each in made.findings}


def test_loops_as_they_are_asked_for_are_told_as_such() -> None:
    _, row = found(data("a", 256, 256) @ data("b", 256, 256), "strided", Options(loops="plain"))
    assert row.instead.startswith('leave Options(loops="plain") out')


def test_a_kernel_that_cannot_be_shared_out_is_told() -> None:
    many = Options(threads=16)
    _, row = found(data("x", 4, 1 << 18).softmax(-1), "one core", many)
    assert "16 cores" in row.words and "outer axis" in row.instead
    assert row.numbers[-1].value > row.numbers[-1].limit * 15


def test_little_work_is_right_on_one_core() -> None:
    made = compiler.compile(data("x", 4, 64).softmax(-1), Options(threads=16))
    assert not made.findings.rows


# -- fusion ----------------------------------------------------------------------------------------


def test_a_value_that_is_asked_for_in_memory_could_be_fused() -> None:
    made, row = found(((data("x", 1 << 20) * 2).contiguous() + 1).exp(), "fusion")
    number = int(row.subject.rpartition(" ")[2])
    assert row.gain == -made.schedule.opportunities[number].change
    assert "leave .contiguous() out" in row.instead and row.view == "fusion"
    assert not compiler.compile(((data("x", 1 << 20) * 2) + 1).exp()).findings.rows


# -- times -----------------------------------------------------------------------------------------


def with_times(made: Compilation, times: Sequence[float]) -> Findings:
    return findings(made, dict(enumerate(times)))


def test_a_kernel_is_named_and_its_time_is_said_to_be_an_estimate() -> None:
    x = data("x", 2048, 2048)
    made, row = found(x.T.contiguous().exp().sum(1), "copy")
    cost = made.schedule.analysis[0].cost
    share = f"{100 * cost / total(made):.0f} % of the program"
    assert row.words.startswith(f"k0 contiguous takes {duration(cost)} (estimated), {share}")
    assert row.brings.endswith("of the estimated time")


def test_measured_times_take_the_place_of_estimates() -> None:
    made, row = found(data("x", 2048, 2048).T.contiguous().exp().sum(1), "copy")
    again = next(it for it in with_times(made, [1e6, 3e6]) if it.rule == "copy")
    assert "takes 1 ms (measured), 25 % of the program" in again.words and again.gain == 1e6
    assert again.brings == "about 1 ms less, 25 % of the measured time"
    assert "copy" not in {it.rule for it in with_times(made, [1e5, 9e6])}  # 1 %: not worth it
    assert next(iter(with_times(made, [1e6]))) == made.findings[0]  # not all were measured
    assert row in made.findings


def test_a_kernel_that_ran_near_its_roof_is_not_told_to_be_far_from_it() -> None:
    product = data("x", 256, 256).fuse() @ data("y", 256, 256).fuse()
    made, row = found(product.fuse().exp().fuse().sum(1), "roofline")
    roof = row.numbers[0].limit
    assert roof is not None
    assert not with_times(made, [3 * roof]).rows and with_times(made, [9 * roof]).rows


def test_a_slow_run_for_which_the_model_sees_no_cause_is_not_explained() -> None:
    made = compiler.compile(data("x", 1024, 1024).exp() + 1)
    assert not with_times(made, [1e9]).rows


def test_a_measurement_is_what_findings_rest_on_from_then_on() -> None:
    x = data("x", 1024, 512)
    made = compiler.compile(x.T.contiguous().exp().sum(1), Options(threads=2))
    assert "estimated" in made.findings[0].brings
    made.measure(seconds=0.05)
    assert all("measured" in row.brings for row in made.findings)


# -- all of them -----------------------------------------------------------------------------------


def test_findings_stand_in_the_order_of_what_they_would_bring() -> None:
    x = data("x", 1024, 1024)
    made = compiler.compile(((x * np.float64(2)).T.contiguous() + 1).exp().sum(1))
    gains = [each.gain for each in made.findings]
    assert len(gains) > 1 and gains == sorted(gains, reverse=True)
    assert made.findings[0].gain == gains[0] and len(made.findings[:2]) == 2
    text = str(made.findings)
    assert text.startswith(f"1  {made.findings[0].rule}") and "\n2  " in text
    assert text.count("Instead: ") == len(gains)


def test_where_nothing_is_found_it_says_what_was_looked_for() -> None:
    text = str(compiler.compile(data("x", 8) + 1).findings)
    assert text.startswith("no findings. Looked for:")
    assert all(rule.looks_for in text for rule in RULES) and REPORTED_FROM in text
    assert f"{WORTH:.0%}" in REPORTED_FROM and f"{LEAST / 1000:g} µs" in REPORTED_FROM


def test_what_a_program_is_called_cannot_speak_to_a_terminal() -> None:
    row = Finding("float64", "a\x1b[31m", "b\n1  fake", 1.0, "graph:1", "graph", "graph",
                  place="c\u202e.py:1", text="d\x07")  # fmt: skip
    text = str(Findings((row,)))
    assert text.isprintable() or set(text) - set("\n") == {c for c in text if c.isprintable()}
    assert len(text.splitlines()) == 4


RULE_TESTS: dict[str, Callable[[], None]] = {
    "float64": test_a_number_of_numpys_makes_a_program_float64,
    "copy": test_a_copy_that_is_no_result_is_told,
    "recompiled": test_a_line_that_compiles_at_every_call_is_told,
    "roofline": test_a_reduction_inside_another_is_below_its_roofline,
    "strided": test_a_column_alone_is_read_with_a_stride,
    "one core": test_a_kernel_that_cannot_be_shared_out_is_told,
    "fusion": test_a_value_that_is_asked_for_in_memory_could_be_fused,
}


def test_every_rule_has_its_program() -> None:
    assert set(RULE_TESTS) == {rule.name for rule in RULES}
