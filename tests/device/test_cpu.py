"""Programs of tiles on the CPU: what a run needs besides its arguments."""

import pytest

from compiler.device import cpu
from compiler.device.metadata import derive, derive_instructions
from compiler.lowered.linearize import linearize
from tests.lowered.tiled_bodies import CASES


@pytest.mark.parametrize(
    ("name", "tasks", "scratch", "aligned"),
    [
        ("streamed", 1, 0, (0,)),
        ("matmul of float32", 3, 0, ()),
        ("matmul with much scratch", 3, 301 * 32 * 4, ()),
        ("in place", 1, 0, ()),
    ],
)
def test_a_program_of_tiles(name: str, tasks: int, scratch: int, aligned: tuple[int, ...]) -> None:
    case = CASES[name]()
    instructions = tuple(linearize(case.body).instructions)
    spec = cpu.LlvmRenderer().render(instructions, "tiles")
    assert (spec.scratch, spec.aligned) == (scratch, aligned)
    assert [getattr(n, "value", n) for n in spec.metadata.global_size] == [tasks, 1, 1]
    assert derive([case.body]) == derive_instructions(instructions)
    arrays = case.arguments()
    program = cpu.load(cpu.compile_spec(spec, 2))
    program.execute([each.ctypes.data for each in arrays], [0] * len(program.variables))
    case.check(arrays[0])


def test_streamed_stores_go_past_the_caches() -> None:
    case = CASES["streamed"]()
    text = cpu.LlvmRenderer().render(linearize(case.body).instructions).source.text
    assert text.count("align 64, !nontemporal") == 1
    assert "align 64 %out" in text
    assert "  fence seq_cst\n  ret void" in text
