"""The roofline bound of a kernel: the least time for its work, never above its estimate."""

import numpy as np

import compiler
from compiler import Options, Tensor
from compiler.schedule.analysis.roof import at_best, roof_ns
from compiler.schedule.analysis.work import Work, begin_ns, estimate


def work_of(y: Tensor, options: Options) -> Work:
    (work,) = compiler.compile(y, options).schedule.works
    assert work is not None
    return work


def test_strided_reads_and_plain_loops_are_below_the_roofline() -> None:
    x = Tensor(np.ones((512, 512), np.float32))
    options = Options(loops="plain")
    work = work_of(x.T.exp(), options)
    model = options.model
    took = estimate(work, model) - begin_ns(model)
    roof = roof_ns(work, model, 0)
    assert 0 < roof < took / 2
    assert at_best(work).occupancy > work.occupancy == 0
    assert roof_ns(at_best(work), model, 0) == roof  # nothing is better than the best
