"""The effect of other passes, in figures."""

from typing import Any

import numpy as np

from compiler import PASSES, Tensor, compile, effect, rule
from compiler.graph.nodes import Contiguous

x = Tensor(np.linspace(0, 1, 4096, dtype=np.float32), name="x")


@rule("exp")
def stored(node: Any) -> Any:
    """exp(x) = exp(x), by way of memory"""
    inside = node.sources[0]
    return None if isinstance(inside, Contiguous) else node.with_sources((Contiguous((inside,)),))


def test_a_kernel_more() -> None:
    y = (x + 1.0).exp()
    found = effect(compile(y), compile(y, passes=PASSES.after("simplify", stored)))
    assert (found["kernels"].before, found["kernels"].after) == (1, 2)
    assert (found["bytes read and written"].before, found["bytes read and written"].after) == (
        2 * 4 * 4096, 4 * 4 * 4096)  # fmt: skip
    measured = found["measured time"]
    assert measured.before and measured.after and measured.before > 0
    assert "kernels" in str(found) and "× 2.00" in str(found)


def test_without_measuring() -> None:
    y = x.exp()
    same = effect(compile(y), compile(y), measured=False)
    assert not any(figure.is_changed for figure in same.figures)
    assert "measured time" not in str(same)


def test_what_cannot_run_has_no_measured_time() -> None:
    empty = compile(Tensor.placeholder(4, dtype="float32", name="p").exp())
    assert effect(empty, empty)["measured time"].before is None
