"""Host memory: aligned, used again, counted, limited; freed with the last view of an array."""

import gc
import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.dtypes import float32, float64, int64, uint8
from compiler.core.errors import SizeError
from compiler.device import cpu, device
from compiler.device.allocator import (
    ALIGNMENT,
    SMALL,
    WAITING,
    Allocator,
    MemoryUse,
    address_of,
    array_at,
    block_size,
)
from compiler.tensor import Tensor

MIB = 2**20


def _address(array: "np.ndarray[Any, Any]") -> int:
    address: int = array.ctypes.data
    return address


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_arrays_are_aligned_flat_and_writable(dtype: dtypes.DType) -> None:
    memory = Allocator()
    for size in (0, 1, 3, 17, 1000):
        made = memory.allocate(size, dtype)
        assert made.shape == (size,) and made.dtype == dtype.numpy
        assert _address(made) % ALIGNMENT == 0
        assert made.flags.c_contiguous and made.flags.writeable and made.flags.aligned
        made[:] = 1
        assert (made == 1).all()


def test_live_arrays_never_share_memory() -> None:
    memory = Allocator()
    made = [memory.allocate(size, uint8) for size in (0, 1, 64, 65, 1000, 1000, 4096) * 3]
    spans = sorted((_address(a), _address(a) + max(a.nbytes, 1)) for a in made)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 65, 511, 512, 513, 4000, 5000, 2**26, 2**26 + 1])
def test_blocks_waste_less_than_a_quarter(nbytes: int) -> None:
    size = block_size(nbytes)
    assert size >= max(nbytes, ALIGNMENT) and size % ALIGNMENT == 0
    assert size - nbytes < max(nbytes / 4, ALIGNMENT + 1)
    assert block_size(size) == size


def test_a_freed_block_is_used_again_by_any_tensor_of_about_its_size() -> None:
    memory = Allocator()
    first = memory.allocate(1000, float64)
    address = _address(first)
    del first
    again = memory.allocate(2000 - 7, float32)
    assert _address(again) == address
    assert memory.use == MemoryUse(live=8192, peak=8192, cached=0)


def test_a_view_keeps_the_memory_of_its_array() -> None:
    memory = Allocator()
    made = memory.allocate(100, int64)
    made[:] = 7
    view = made.reshape(10, 10)[3:5].T
    buffer = memoryview(made)
    del made
    gc.collect()
    assert memory.use.live == 896
    other = memory.allocate(100, int64)
    other[:] = 0
    assert view.tolist() == [[7, 7]] * 10
    del view
    assert memory.use.live == 2 * 896, "the memoryview still reads it"
    assert buffer[0] == 7
    del buffer
    assert memory.use == MemoryUse(live=896, peak=2 * 896, cached=896)


def test_live_peak_and_cached_bytes_and_trim() -> None:
    memory = Allocator()
    a, b = memory.allocate(1024, uint8), memory.allocate(2048, uint8)
    assert memory.use == MemoryUse(3072, 3072, 0)
    del a
    assert memory.use == MemoryUse(2048, 3072, 1024)
    assert memory.trim() == 1024
    assert memory.use == MemoryUse(2048, 3072, 0)
    del b
    assert memory.trim(keep=2048) == 0
    assert memory.trim(keep=2047) == 2048
    assert memory.use == MemoryUse(0, 3072, 0)


def test_what_is_kept_is_limited_and_the_oldest_size_goes_first() -> None:
    memory = Allocator(kept=3072)
    sizes = (1024, 2048, 512)
    made = [memory.allocate(size, uint8) for size in sizes]
    for _ in sizes:
        made.pop(0)
    assert memory.use.cached == 2560, "1,024 bytes were freed first"
    assert memory.use.live == 0


@pytest.mark.parametrize("size", (64, SMALL, SMALL + 1))
def test_many_free_blocks_are_taken_back_by_the_next_allocation(size: int) -> None:
    memory = Allocator(kept=0)
    made = [memory.allocate(size, uint8) for _ in range(WAITING + 2)]
    del made
    again = memory.allocate(size, uint8)
    assert again.size == size
    assert not memory._freed and not any(memory._small.values())


def test_small_blocks_wait_until_large_ones_are_taken_back() -> None:
    memory = Allocator(kept=0)
    small, large = memory.allocate(64, uint8), memory.allocate(2**20, uint8)
    del small, large
    again = memory.allocate(64, uint8)
    assert again.size == 64 and not memory._freed


def test_over_budget_is_refused_by_name_before_anything_is_allocated() -> None:
    memory = Allocator(budget=4096)
    held = memory.allocate(2048, uint8, "w")
    with pytest.raises(SizeError) as caught:
        memory.allocate(2**50, float32, "logits")
    page = "\n".join(str(caught.value).splitlines()[:3])
    assert page == (
        "allocate: tensor logits does not fit in the memory budget\n"
        f"  got:      {2**52:,} bytes, in a block of {2**52:,}\n"
        "  expected: at most 4,096 bytes, of which 2,048 are in use"
    )
    assert memory.use == MemoryUse(2048, 2048, 0)
    assert memory.allocate(2048, uint8).size == held.size
    with pytest.raises(SizeError, match="allocate: a tensor "):
        Allocator(budget=0).allocate(1, uint8)


def test_free_blocks_make_room_within_the_budget() -> None:
    memory = Allocator(budget=4096)
    small = memory.allocate(2048, uint8)
    del small
    whole = memory.allocate(4096, uint8)
    assert whole.size == 4096
    assert memory.use == MemoryUse(4096, 4096, 0)


@pytest.mark.parametrize("size", [2**52, 2**58, 2**61, 2**70])
def test_more_than_the_machine_has_is_refused_by_name(size: int) -> None:
    with pytest.raises(SizeError, match="tensor huge does not fit: the machine has not enough"):
        Allocator().allocate(size, float32, "huge")


def test_threads_allocate_and_free_at_once() -> None:
    memory = Allocator()
    wrong: list[int] = []

    def work(number: int) -> None:
        for number in range(300):
            made = memory.allocate(100 + number % 7, int64)
            made[:] = number
            if (made != number).any():
                wrong.append(number)
            del made

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    use = memory.use
    assert use.live == 0 and 0 < use.peak <= 4 * 1024 * 2


def test_an_end_of_life_inside_the_allocator_does_not_block_it() -> None:
    """A cycle is freed at any allocation, also while the allocator's lock is held."""
    memory = Allocator()
    made = memory.allocate(64, uint8)
    cycle: list[object] = [made]
    cycle.append(cycle)
    del made, cycle
    with memory._lock:
        gc.collect()
    assert memory.use == MemoryUse(0, 64, 64)


def test_memory_of_another_owner_is_seen_not_copied() -> None:
    source = np.arange(4.0)
    seen = array_at(_address(source), 4, float64)
    seen[1] = 9
    assert source.tolist() == [0, 9, 2, 3]


def test_results_of_programs_use_the_memory_of_results_that_are_gone() -> None:
    x = Tensor(np.ones(MIB, "float32"))
    cpu.MEMORY.trim()

    def address() -> int:
        return _address((x * 2.0).realize().numpy())

    gc.collect()
    before = cpu.MEMORY.use.live
    assert len({address() for _ in range(4)}) == 1
    assert cpu.MEMORY.use.live <= before  # what others had may be gone meanwhile
    assert cpu.MEMORY.use.cached >= 4 * MIB


def test_the_cpu_allocates_from_its_allocator() -> None:
    before = cpu.MEMORY.use.live
    made = device.CPU.allocate(1000, float32)
    assert cpu.MEMORY.use.live - before == block_size(made.nbytes)


def test_addresses_are_those_that_numpy_has() -> None:
    made = Allocator().allocate(64, float32)
    views = (made, made[3:], made.view(uint8.numpy)[5:9], made.reshape(8, 8)[2], np.arange(5))
    for array in views:
        assert address_of(array) == array.ctypes.data
