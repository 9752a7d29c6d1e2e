"""Metadata derived from loops that are shared out to tasks, or that have scratch memory."""

from compiler.device.metadata import Variable, derive
from compiler.loops.nodes import Const
from tests.loops.bodies import BODIES


def test_a_range_that_tasks_share_out_is_core_id() -> None:
    made = derive([BODIES["matmul in tiles"]().body])
    assert made.vars == (Variable("core_id", 0, 1),)
    assert [n.value for n in made.global_size if isinstance(n, Const)] == [2, 1, 1]


def test_scratch_memory_has_no_slot() -> None:
    for name in ("softmax row", "column sums", "packed panel"):
        example = BODIES[name]()
        made = derive([example.body])
        assert made.globals == tuple(range(len(example.sizes)))
        assert made.outs == (0,) and made.ins == made.globals[1:]
