"""Each instruction of `lowered/machine.py` alone: verified, printed, interpreted, counted."""

from dataclasses import replace

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.errors import CompileError, DataError, InternalError
from compiler.lowered import custom
from compiler.lowered import interpret as interpreter
from compiler.lowered.custom import Operand
from compiler.lowered.instructions import Const, DefineGlobal, Instruction, Load, Store
from compiler.lowered.interpret import Counts, interpret
from compiler.lowered.machine import Local
from compiler.lowered.printer import Lowered
from compiler.lowered.verify import verify
from tests.evaluate import NUMPYS
from tests.lowered.hand_written import bool_, f32, i64
from tests.lowered.machine_programs import COPYSIGN, MARK, PROGRAMS


def stage(instructions: tuple[Instruction, ...]) -> Lowered:
    return Lowered(
        title="lowered", instructions=instructions, kernel=0, parents=((),) * len(instructions)
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_is_verified_and_printed(name: str) -> None:
    program = PROGRAMS[name]()
    verify(program.instructions)
    lines = [line.text for line in stage(program.instructions).lines]
    assert program.printed in [line.lstrip(" 0123456789") for line in lines]
    graph = stage(program.instructions).to_networkx()
    assert len(graph) == len(program.instructions)
    assert all(facts["kind"] and facts["op"] for _, facts in graph.nodes(data=True))


def test_ifs_are_indented_as_loops_are() -> None:
    lines = [line.text for line in stage(PROGRAMS["nested_ifs_with_loops"]().instructions).lines]
    assert lines[5:16] == [
        "  5  %5 = range %1 i0",
        "  6    %6 = acc %5 i64",
        "  7    %7 = mod %5 %3 i64",
        "  8    %8 = eq %7 %4 bool",
        "  9    if %8",
        " 10      %9 = lt %2 %5 bool",
        " 11      if %9",
        " 12        %10 = range %2 r1 reduction",
        " 13          %11 = add %6 %10 i64 reduction",
        " 14          assign %6 = %11",
        " 15        end %10",
    ]


@pytest.mark.parametrize("block", (2**16, 5, 2))
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_modes_agree_with_numpy(
    name: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter, "BLOCK", block)
    program = PROGRAMS[name]()
    at_once, one_by_one = program.buffers(), program.buffers()
    given = program.variables
    counts = interpret(program.instructions, at_once, variables=given)
    assert counts == interpret(program.instructions, one_by_one, is_serial=True, variables=given)
    program.check(at_once[0])
    assert [v.tobytes() for v in at_once] == [v.tobytes() for v in one_by_one]


COUNTED = {
    # 3 writes and 3 reads of scratch per row, besides the argument and the result
    "local_in_a_loop": Counts(24, 24, 0, 4 * (1 + 3 + 6), 4 + 12 + 12, 96, 96),
    # in1 only where it is inside: 6 elements of 8 lanes
    "masked_vectors": Counts(6, 6, 0, 2 * (1 + 3 * 4), 2, 24, 24),
    # four lanes in the one iteration with the predicate, four in both or the other without it
    "vectors_under_one_predicate": Counts(4, 12, 0, 2 * (1 + 1 + 4 + 1), 2, 4, 12),
    "vector_constants": Counts(12, 12, 12, 3, 3, 48, 48),
    "an_if_guards_memory": Counts(4, 4, 0, 8, 8, 16, 16),
    # i mod 2, = 1 for 8; above 3 for the 4 odd ones; 3 additions for 5 and 7
    "nested_ifs_with_loops": Counts(0, 8, 0, 8 * 2 + 4 + 2 * 3, 8 + 2 * 3, 0, 64),
    "product_of_tiles": Counts(8 + 12 + 6, 6, 2 * 2 * 3 * 4, 0, 0, 104, 24),
    "markers": Counts(3, 3, 0, 0, 3, 12, 12),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counts(name: str) -> None:
    program = PROGRAMS[name]()
    assert interpret(program.instructions, program.buffers()) == COUNTED[name]


def test_addresses_of_lanes() -> None:
    addresses: list[tuple[int, int, bool]] = []
    program = PROGRAMS["masked_vectors"]()
    interpret(program.instructions, program.buffers(), addresses=addresses)
    first, second = range(4), range(4, 6)
    assert addresses == [
        *((1, i, False) for i in first), *((0, i, True) for i in first),
        *((1, i, False) for i in second), *((0, i, True) for i in second),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", NUMPYS, ids=str)
def test_scratch_that_was_not_written_shows(dtype: dtypes.DType) -> None:
    rows = (
        DefineGlobal(0, 0, dtype, 1, True), Const(1, 0, i64), Local(2, dtype, 1),
        Load(3, 2, 1, None, dtype), Store(0, 1, 3, None),
    )  # fmt: skip
    result = np.zeros(1, dtype.numpy)
    interpret(rows, [result])
    if dtype.is_float:
        assert np.isnan(result[0])
    else:
        assert result.tobytes() == (b"\x01" if dtype == bool_ else b"\xa5" * dtype.itemsize)


@pytest.mark.parametrize("is_serial", (False, True))
def test_outside_scratch(is_serial: bool) -> None:
    program = PROGRAMS["local_in_a_loop"]()
    short = [replace(i, size=2) if isinstance(i, Local) else i for i in program.instructions]
    with pytest.raises(InternalError, match="store to local5: an access is outside its buffer"):
        interpret(short, program.buffers(), is_serial=is_serial)


@pytest.mark.parametrize(
    ("given", "name", "got"),
    (
        ({"n": 1}, "gidx1", "nothing"),
        ({"n": 11, "gidx1": 0}, "n", "11"),
        ({"n": 1, "gidx1": 8}, "gidx1", "8"),
    ),
)
def test_variables_must_be_inside_their_bounds(given: dict[str, int], name: str, got: str) -> None:
    program = PROGRAMS["variables"]()
    with pytest.raises(DataError) as caught:
        interpret(program.instructions, program.buffers(), variables=given)
    assert (caught.value.operation, caught.value.got) == (f"variable {name}", got)


@pytest.mark.parametrize(
    ("operation", "problem"),
    (
        (replace(MARK, name="no name"), "the name is not an identifier"),
        (replace(MARK, result=None), "another operation is registered as mark"),
        (replace(COPYSIGN, name="fresh", result=None), "fresh is inline and has no result"),
        (
            replace(COPYSIGN, name="fresh", operands=(Operand(f32, True),)),
            "fresh is inline and takes a memory",
        ),
        (replace(MARK, name="fresh"), "the text of fresh does not define @sv.custom.fresh"),
    ),
)
def test_what_cannot_be_registered(operation: custom.CustomOperation, problem: str) -> None:
    with pytest.raises(CompileError) as caught:
        custom.register(operation)
    assert caught.value.problem == problem
    assert custom.find("fresh") is None
    custom.register(MARK)  # the same once more is no conflict


def test_a_custom_result_of_the_wrong_type_is_refused() -> None:
    program = PROGRAMS["custom_inline"]()
    wrong = replace(COPYSIGN, name="wrong", reference=lambda a, b: a.astype("float64"))
    custom.register(wrong)
    rows = [replace(i, name="wrong") if hasattr(i, "name") and i.name == "copysign"
            else i for i in program.instructions]  # fmt: skip
    with pytest.raises(InternalError, match="wrong gave a value "):
        interpret(rows, program.buffers())
