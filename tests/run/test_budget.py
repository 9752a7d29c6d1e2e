"""A program over a budget is refused before anything is allocated, by its largest tensor."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.core.errors import SizeError
from compiler.device import device
from compiler.device.allocator import Allocator
from compiler.program.compilation import Compilation
from compiler.settings.options import Options

N = 256
LINE = "wide = x @ Tensor(np.ones((N, 4 * N), np.float32)"


@contextmanager
def left(nbytes: int) -> Iterator[Allocator]:
    """Memory of which `nbytes` more may be used."""
    memory = device.CPU.memory
    assert memory is not None
    memory.budget = memory.use.live + nbytes
    try:
        yield memory
    finally:
        memory.budget = None


def program() -> Tensor:
    """Two products in a row; the first result is the largest tensor, 1 MiB."""
    x = Tensor(np.ones((N, N), np.float32), name="x")
    wide = x @ Tensor(np.ones((N, 4 * N), np.float32), name="w")
    back = wide @ Tensor(np.ones((4 * N, N), np.float32), name="v")
    return (back @ x).relu() @ x


def _realize(_: Options) -> Callable[[], Any]:
    y = program()
    return lambda: y.realize().numpy()


def _plan(options: Options) -> Callable[[], Any]:
    return compiler.prepare(program(), options).run


def _compiled(options: Options) -> Callable[[], Any]:
    return Compilation([program().node], options, "test").run


WAYS = {
    "realize": (_realize, Options()), "plan": (_plan, Options()),
    "compilation": (_compiled, Options()),
    "plan, unshared": (_plan, Options(plan_memory=False)),
    "compilation, unshared": (_compiled, Options(plan_memory=False)),
}  # fmt: skip


@pytest.mark.parametrize(("way", "options"), WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("nbytes", [1000, N * N * 16 + 1000])
def test_the_largest_tensor_is_named_and_nothing_allocated(
    way: Callable[[Options], Callable[[], Any]], options: Options, nbytes: int
) -> None:
    run = way(options)
    gc.collect()
    with left(nbytes) as memory:
        before = memory.use
        with pytest.raises(SizeError, match="in the memory budget") as caught:
            run()
        after = memory.use
    # what an earlier program left may be freed meanwhile: it goes from live to cached
    assert after.live <= before.live
    assert after.live + after.cached == before.live + before.cached
    problem = caught.value
    assert "f32[256,1024,1], 1,048,576 bytes" in problem.got
    assert problem.origin is not None and problem.origin.text.startswith(LINE)
    assert ("together" in problem.problem) == (nbytes > 1000)
    in_use = {f"of which {use.live:,} are in use" for use in (before, after)}
    assert any(words in problem.expected for words in in_use)
    np.testing.assert_array_equal(np.asarray(run()).reshape(N, N)[0, 0], float(4 * N * N**3))


def test_what_fits_is_not_refused() -> None:
    y = Tensor(np.ones(1000, np.float32)) + 1
    with left(4096):
        assert y.numpy().sum() == 2000


def test_a_limit_names_the_line_in_plans_that_are_kept() -> None:
    for _ in range(2):
        x = Tensor(np.ones((N, N)), name="x")
        y = (x + 1).sum()
        with pytest.raises(SizeError, match="does not fit in memory") as caught:
            compiler.prepare([x.exp(), y], Options(memory_limit=1000))
        assert caught.value.origin is not None
        assert "x.exp()" in caught.value.origin.text
