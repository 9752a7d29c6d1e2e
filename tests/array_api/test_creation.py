"""Memory shared by DLPack, and requested copies."""

import ml_dtypes
import numpy as np
import pytest

from compiler import Tensor
from compiler import array_api as xp
from compiler.core.errors import DataError
from tests.pages import page


def address(array: "np.ndarray") -> int:
    return array.__array_interface__["data"][0]


def test_numpy_reads_the_memory_of_a_tensor() -> None:
    for made in (Tensor(np.arange(6.0)) * 2, Tensor(np.arange(6)) > 2, Tensor([1, 2], xp.uint16)):
        array = np.from_dlpack(made)
        assert address(array) == address(made.numpy()) and array.dtype == made.dtype
        assert not array.flags.writeable
        np.testing.assert_array_equal(array, made.numpy())


def test_a_tensor_reads_the_memory_of_numpy() -> None:
    array = np.arange(6.0, dtype=np.float32)
    shared, own = xp.from_dlpack(array), xp.from_dlpack(array, copy=True)
    array[0] = 9
    assert shared.dtype == xp.float32 and address(shared.numpy()) == address(array)
    assert shared.tolist()[0] == 9 and own.tolist()[0] == 0
    assert xp.from_dlpack(shared + 1).tolist() == (array + 1).tolist()


def test_what_is_not_row_major_is_copied_or_refused() -> None:
    turned = np.arange(6.0).reshape(2, 3).T
    assert xp.from_dlpack(turned).tolist() == turned.tolist()
    for make in (xp.from_dlpack, xp.asarray):
        with pytest.raises(ValueError, match="copy=False forbids it"):
            make(turned, copy=False)
    assert page(lambda: xp.from_dlpack([1, 2]))[1:3] == [
        "  got:      list", "  expected: an array with __dlpack__",
    ]  # fmt: skip


def test_a_library_of_an_older_dlpack_gets_a_copy() -> None:
    x = Tensor([1.0, 2.0])

    class Older:
        """A consumer that names no version."""

        copy: bool | None = None

        def __dlpack__(self, **given: object) -> object:
            return x.__dlpack__(copy=self.copy)

        def __dlpack_device__(self) -> tuple[int, int]:
            return x.__dlpack_device__()

    array = np.from_dlpack(Older())
    assert array.tolist() == [1, 2] and address(array) != address(x.numpy())
    Older.copy = False
    array = np.from_dlpack(Older())
    assert array.tolist() == [1, 2] and address(array) == address(x.numpy())
    with pytest.raises(BufferError, match="device"):
        x.__dlpack__(max_version=(1, 0), dl_device=(2, 0))
    with pytest.raises(DataError, match="no streams"):
        x.__dlpack__(stream=1)
    copied = x.__dlpack__(max_version=(1, 0), copy=True)
    assert "dltensor" in repr(copied)


def test_bfloat16_both_ways() -> None:
    x = Tensor(np.array([1.5, -2.0, 3.25], ml_dtypes.bfloat16))
    again = xp.from_dlpack(x)
    assert again.dtype == xp.bfloat16 and again.tolist() == [1.5, -2, 3.25]
    assert address(again.numpy()) == address(x.numpy())


def test_torch_both_ways() -> None:
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.int64, torch.bool, torch.bfloat16):
        given = torch.tensor([[1, 0], [2, 3]]).to(dtype)
        x = xp.from_dlpack(given)
        assert address(x.numpy()) == given.data_ptr()
        assert x.tolist() == given.tolist()
        back = torch.from_dlpack(x)
        assert back.data_ptr() == given.data_ptr() and back.dtype == dtype


def test_asarray_shares_and_copies() -> None:
    array = np.array([1.0, 2.0])
    shared, own = xp.asarray(array), xp.asarray(array, copy=True)
    assert address(shared.numpy()) == address(array) != address(own.numpy())
    assert xp.asarray(shared) is shared and xp.asarray(shared, copy=False) is shared
    cloned = xp.asarray(shared, copy=True)
    cloned[0] = 5
    array[1] = 7
    assert shared.tolist() == [1, 7] and cloned.tolist()[0] == 5
    assert xp.asarray(bytearray(b"\x01\x02")).tolist() == [1, 2]
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray([1, 2], copy=False)
    with pytest.raises(DataError, match="complex128"):
        xp.asarray([1j])
