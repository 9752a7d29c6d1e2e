"""Every task of a kernel on the interpreter."""

import numpy as np
import pytest

from compiler import Tensor
from compiler.core.errors import DataError
from compiler.lowered.interpret import interpret
from compiler.lowered.run_tasks import run_tasks
from compiler.program.compilation import compile
from compiler.settings.options import Options


@pytest.mark.parametrize("tasks", [2, 3, 7])
def test_all_tasks_together_do_the_whole_kernel(tasks: int) -> None:
    x = np.arange(5 * 4, dtype=np.float32).reshape(5, 4)
    options = Options(loops={"k0": f"parallelize i0 {tasks}"})
    made = compile(Tensor(x).sum(1), options)
    out = np.zeros(5, np.float32)
    run_tasks(made.lowered[0].instructions, [out, x.reshape(-1)])
    np.testing.assert_array_equal(out, x.sum(1))
    with pytest.raises(DataError, match="core_id"):
        interpret(made.lowered[0].instructions, [out, x.reshape(-1)])


def test_every_stage_of_a_shared_out_kernel_is_checked() -> None:
    x = np.random.default_rng(0).standard_normal((6, 9)).astype(np.float32)
    made = compile(Tensor(x).exp() * 2.0, Options(loops={"k0": "parallelize i2 3"}))
    report = made.check()
    assert [row.stage for row in report.rows if row.ok is not True] == [], str(report)
