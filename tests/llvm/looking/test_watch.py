"""LLVM's passes one by one: each change applied to the text before gives the text after."""

import itertools

import pytest

from compiler.core.errors import DataError, InternalError
from compiler.llvm import apart
from compiler.llvm.looking.pass_changes import Change, PassRun, Printed
from compiler.llvm.looking.pass_words import UNKNOWN
from compiler.llvm.looking.remarks import in_words, remarks
from compiler.llvm.looking.watch import LATE
from compiler.llvm.writer import SourceLine
from compiler.program.compilation import Compilation, compile
from compiler.settings.options import Options
from tests.llvm.programs import floats


@pytest.fixture(scope="module")
def program() -> Compilation:
    x, y = floats(512), floats(512)
    return compile((x * y + 1.0).relu(), Options(loops="plain"), name="chain")


@pytest.fixture(scope="module")
def run(program: Compilation) -> PassRun:
    return program.llvm_passes()


def applied(change: Change) -> tuple[str, ...]:
    """The text before with the edits of a change."""
    rows = list(change.before.rows)
    for edit in reversed(change.edits):
        rows[edit.at : edit.at + edit.removed] = change.after.rows[edit.start : edit.end]
    return tuple(rows)


def test_the_passes_are_those_of_the_kernels_level(program: Compilation, run: PassRun) -> None:
    assert run.level == program.levels["k0"] and run.level.passes == "pipeline"
    names = [change.name for change in run]
    assert "LoopVectorize" in names
    assert any(name.endswith("isel") for name in names)
    assert [c.kind for c in run] == sorted((c.kind for c in run), key=("IR", "machine").index)


def test_every_change_is_one_and_is_complete(run: PassRun) -> None:
    assert len(run) > 10
    for change in run:
        assert change.edits and change.before.rows != change.after.rows
        assert applied(change) == change.after.rows
        assert len(change.after.rows) - len(change.before.rows) == change.added - change.removed
        assert len(change.after.rows) == len(change.after.sources)


def test_each_begins_where_the_last_of_its_kind_ended(run: PassRun) -> None:
    before = run.start
    for change in (it for it in run if it.kind == "IR"):
        assert change.before.rows == before.rows
        before = change.after
    machine = [it for it in run if it.kind == "machine"]
    assert machine[0].is_first
    for one, other in itertools.pairwise(machine):
        assert other.before.rows == one.after.rows


def test_the_last_text_of_llvm_ir_is_what_the_stage_shows(program: Compilation) -> None:
    (optimized,) = program.optimized
    mine = [c for c in program.llvm_passes() if c.kind == "IR" and c.name not in LATE]
    wanted = [row for row in optimized.rows if row.startswith("  %")]
    assert wanted == [row for row in mine[-1].after.rows if row.startswith("  %")]


def test_lines_lead_to_the_generated_text(program: Compilation, run: PassRun) -> None:
    rows = len(program.source[0].rows)
    for change in run:
        assert all(0 < n <= rows for lines in change.after.sources for n in lines)
    linked = sum(bool(lines) for lines in run[len(run) - 1].after.sources)
    assert linked > 0.4 * len(run[len(run) - 1].after.rows)


def test_nothing_of_debug_information_is_shown(run: PassRun) -> None:
    for change in run:
        text = "\n".join(change.after.rows)
        for word in ("!dbg", "debug-location", "DILocation", "kernel.ll", "remark:"):
            assert word not in text, f"{word} in {change.name}"


def test_almost_every_pass_has_words(run: PassRun) -> None:
    unknown = [change.name for change in run if change.purpose == UNKNOWN]
    assert len(unknown) <= 0.1 * len(run), unknown


def test_the_vectoriser_is_quoted(run: PassRun) -> None:
    (found,) = [it for it in run.remarks if "vectorised by LLVM" in it.words]
    assert found.taken and found.loop == "i0" and "vectorized loop" in found.original
    assert str(found).startswith("✓ loop i0, line ")


def test_vector_code_needs_few_passes() -> None:
    made = compile((floats(512) * 2.0).relu())
    assert made.levels["k0"].passes == "few"
    own = made.llvm_passes("k0")
    assert not any(change.name == "LoopVectorize" for change in own)
    assert any(change.kind == "machine" for change in own)
    assert len(made.llvm_passes("k0", level=3)) > len(own)


def test_what_is_asked_for_must_exist(program: Compilation) -> None:
    with pytest.raises(DataError, match="no such kernel"):
        program.llvm_passes("k9")
    with pytest.raises(DataError, match="no such level"):
        program.llvm_passes("k0", level=4)
    with pytest.raises(KeyError, match="these did"):
        program.llvm_passes()["NoSuchPass"]


def test_a_program_without_kernels_says_so() -> None:
    with pytest.raises(DataError, match="no such kernel"):
        compile(floats(3)).llvm_passes()


def test_an_abort_of_llvm_is_an_error_in_words() -> None:
    # of another machine: no instruction here does this
    call = "call void @llvm.arm.dmb(i32 1)"
    text = f"declare void @llvm.arm.dmb(i32)\ndefine void @k() {{\n  {call}\n  ret void\n}}"
    question = {"job": "passes", "text": text, "level": [2, "few"], "options": []}
    with pytest.raises(InternalError, match="LLVM ended the process") as error:
        apart.ask(question)
    assert "LLVM ERROR" in error.value.got and "select" in error.value.got
    with pytest.raises(InternalError, match="took more than"):
        apart.ask(question, seconds=0.001)


REMARKS = (
    ("vectorized loop (vectorization width: 8, interleaved count: 2)", True,
     "8 elements at a time, 2 such vectors"),
    ("vectorized loop (vectorization width: vscale x 4, interleaved count: 1)", True,
     "a multiple of 4 elements"),
    ("loop not vectorized: cannot prove it is safe to reorder floating-point operations", False,
     "another order"),
    ("loop not vectorized: something new", False, "something new"),
    ("completely unrolled loop with 10 iterations", True, "its 10 iterations were"),
    ("unrolled loop by a factor of 4 with run-time trip count", True, "4 iterations"),
    ("Stores SLP vectorized with cost -9 and with tree size 4", True, "saves 9"),
    ("2 spills 1.0e+01 total spills cost 3 folded reloads 2.0e+00 total folded reloads cost "
     "generated in loop", None, "2 spills"),
    ("148 instructions in function", None, "148 instructions"),
    ("words nobody has seen", None, "LLVM says: words nobody has seen"),
)  # fmt: skip


@pytest.mark.parametrize(("original", "taken", "part"), REMARKS)
def test_remarks_in_words(original: str, taken: bool | None, part: str) -> None:
    words, is_taken = in_words(original)
    assert part in words and is_taken is taken


def test_remarks_are_placed() -> None:
    rows = [
        SourceLine("define void @k() {"),
        SourceLine("  %i0.1.4 = phi i64 [ 0, %entry ], [ %i0.1.4.next, %i0.1.4.body ]"),
        SourceLine("  %acc.9 = phi float [ 0.0, %i0.1.4.body ], [ %v1, %r2.9.body ]"),
    ]
    printed = [
        "remark: kernel.ll:2:1: vectorized loop (vectorization width: 4, interleaved count: 1)",
        "remark: kernel.ll:3:1: hoisting load",
        "remark: kernel.ll:3:1: hoisting load",
        "remark: kernel.ll:0:0: Some: Function: k: MI Instruction count changed from 1 to 2",
        "remark: <unknown>:0:0: 3 instructions in function",
        "no remark",
    ]
    found = remarks(printed, rows)
    assert [(it.line, it.loop) for it in found] == [(2, "i0.1"), (3, ""), (0, "")]


def test_a_diff_shows_what_is_around() -> None:
    before = Printed(tuple("abcdefgh"), ((),) * 8)
    after = Printed(tuple("abcdXfgh"), ((),) * 8)
    change = Change("p", "P", "k", "IR", "tests", before, after)
    assert change.diff(1).split("\n") == ["  … 3 lines", "  d", "- e", "+ X"]
    assert (change.removed, change.added) == (1, 1)
