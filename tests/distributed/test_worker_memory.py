"""Programs that do not fit in the memory of a worker are refused, with the line."""

from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, SizeError, Tensor
from compiler.graph.nodes import Buffer
from compiler.schedule.analysis.footprint import Lifetime, peak_of

A = np.ones((64, 64), "float32")


def test_what_a_worker_has_no_room_for_is_refused(client: Any) -> None:
    with compiler.cluster(client, memory="40 kB") as engine:
        x = Tensor(A).shard(engine.workers, 0)
        np.testing.assert_array_equal((x * 2).numpy(), A * 2)
        with pytest.raises(SizeError) as caught:
            (Tensor(A).to("DASK") @ Tensor(A).to("DASK")).realize()
    text = str(caught.value)
    assert "in the memory of worker DASK together" in text
    assert "f32[64,64], 16,384 bytes" in text and "at most 40,000 bytes" in text
    assert "test_worker_memory.py" in text


def test_a_tensor_that_is_too_large_alone(client: Any) -> None:
    with compiler.cluster(client, memory=1000), pytest.raises(SizeError, match="a tensor of the"):
        (Tensor(A).to("DASK:1") + 1).realize()


def test_memory_is_an_amount(client: Any) -> None:
    with pytest.raises(DataError, match="no amount of memory"):
        compiler.cluster(client, memory="a").__enter__()


def test_peak() -> None:
    from compiler.core.dtypes import float32

    one, two = (Buffer((), n, (4,), float32, "", "DASK") for n in (1, 2))
    assert peak_of([Lifetime(one, 0, 1), Lifetime(two, 1, 2)], 3) == 32
    assert peak_of([Lifetime(one, 0, 0), Lifetime(two, 1, 2)], 3) == 16
