"""The cuts compute what one machine does, with data of one's own; so they are right programs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from compiler.distributed.simulation import cuts
from compiler.distributed.simulation.cuts import Put

DEVICES = ("CPU", "CPU:1", "CPU:2")
RNG = np.random.default_rng(5)
DATA: dict[tuple[str, int, int], Any] = {}


def given(name: str, rows: int, columns: int, put: Put) -> Tensor:
    if (name, rows, columns) not in DATA:
        DATA[name, rows, columns] = RNG.standard_normal((rows, columns)).astype(np.float32) / 4
    return put(Tensor(DATA[name, rows, columns]))


def values(made: Any) -> list[Any]:
    return [t.numpy() for t in (made if isinstance(made, list) else [made])]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_cuts_compute_the_same_on_any_number_of_workers(count: int) -> None:
    devices = DEVICES[:count]
    programs: tuple[Callable[[tuple[str, ...]], Any], ...] = (
        lambda it: cuts.data_parallel(it, 12, 6, 2, given),
        lambda it: cuts.tensor_parallel(it, 12, 6, 2, given),
        lambda it: cuts.pipeline(it, 12, 6, 4, 3, given),
    )
    for program in programs:
        found, expected = (values(program(it)) for it in (devices, ("CPU",)))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_step_goes_down_the_gradient() -> None:
    after = values(cuts.data_parallel(("CPU",), 12, 6, 2, given=given))
    x, y, w, v = (DATA[key] for key in (("x", 12, 6), ("y", 12, 2), ("first", 6, 6),
                                        ("last", 6, 2)))  # fmt: skip

    def loss(w: Any, v: Any) -> float:
        return float(((np.maximum(x @ w, 0) @ v - y) ** 2).sum() / 12)

    assert loss(*after) < loss(w, v)
