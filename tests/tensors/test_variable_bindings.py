"""Variables whose bounds or values contradict each other: refused where they meet, both named."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import CompileError, DataError, ShapeError, Tensor, Variable
from compiler.core.errors import AxisError

N = Variable("n", 1, 10)
ROWS = np.arange(20.0).reshape(10, 2)


def first_rows(count: int) -> Tensor:
    return Tensor(ROWS[:count].copy(), name="x", symbolic={0: N})


MADE = f"test_variable_bindings.py:{first_rows.__code__.co_firstlineno + 1}"


def test_a_part_keeps_no_other_binding() -> None:
    x = first_rows(10)
    for tensor in (x, x + 1, x.T[:, : N.bind(10)].T):
        with pytest.raises(DataError) as caught:
            tensor[: N.bind(3)]
        text = str(caught.value).split("\n  line:")[0]
        assert text == (
            "getitem: variable n is bound to two values\n"
            f"  got:      n = 10 ({MADE}) and n = 3\n"
            "  expected: one value of n in each program"
        )
        assert caught.value.hint == "two extents that differ are two variables"
    np.testing.assert_array_equal(x[: N.bind(10)].numpy(), ROWS)
    np.testing.assert_array_equal(x[:N].numpy(), ROWS)


def test_a_part_binds_what_had_no_value() -> None:
    whole = Tensor(ROWS)
    for tensor in (whole[:N], (whole[:N] * 1), whole[:N].T.T):
        np.testing.assert_array_equal(tensor[: N.bind(3)].numpy(), ROWS[:3])
    both = Tensor(np.ones((4, 5)))[: Variable("a", 1, 4), : Variable("b", 1, 5)]
    bound = both[: Variable("a", 1, 4).bind(2)][:, : Variable("b", 1, 5).bind(3)]
    np.testing.assert_array_equal(bound.numpy(), np.ones((2, 3)))
    square = Tensor(np.ones((4, 4)))[: Variable("a", 1, 4), : Variable("a", 1, 4)]
    np.testing.assert_array_equal(square[: Variable("a", 1, 4).bind(2)].numpy(), np.ones((2, 2)))


def _assigned() -> None:
    first_rows(4).assign(first_rows(3))


def _assigned_computed() -> None:
    (first_rows(4) + 1).assign(first_rows(3))


def _put() -> None:
    first_rows(4)[:] = first_rows(3)


Refusal = tuple[Callable[[], Any], type[CompileError], str, str]
REFUSED: tuple[Refusal, ...] = (
    (_assigned, DataError, "assign: variable n is bound to two values",
     f"n = 4 ({MADE}) and n = 3 ({MADE})"),
    (_assigned_computed, DataError, "assign: variable n is bound to two values",
     f"n = 4 ({MADE}) and n = 3 ({MADE})"),
    (_put, DataError, "setitem: variable n is bound to two values",
     f"n = 4 ({MADE}) and n = 3 ({MADE})"),
    (lambda: (first_rows(4) + first_rows(3)).numpy(), DataError,
     "variables: variable n is bound to two values", f"n = 4 ({MADE}) and n = 3 ({MADE})"),
    (lambda: Tensor(np.ones((4, 3)), symbolic={0: N, 1: N}), DataError,
     "Tensor: variable n is bound to two values", "4 (axis 0) and 3 (axis 1)"),
    (lambda: first_rows(4)[: Variable("n", 1, 9)], DataError,
     "getitem: variable n has two pairs of bounds", "n (1 … 10) of the tensor, and 1 … 9"),
    (lambda: Tensor(ROWS)[: Variable("m", 1, 20)], ShapeError,
     "getitem: axis 0 cannot have m elements", "m (1 … 20) of 10"),
    (lambda: Tensor(ROWS)[N], DataError, "getitem: cannot index with Variable", "Variable"),
    (lambda: Tensor(ROWS)[N::2], AxisError,
     "getitem: only step 1 can be taken where an axis or a part is variable", "2"),
    (lambda: Tensor(ROWS).set(np.s_[:N], 0), AxisError,
     "set: a slice with a variable end cannot be written", "x[:n]"),
    (lambda: Tensor(ROWS).__setitem__(np.s_[..., : Variable("m", 1, 2)], 0), AxisError,
     "setitem: a slice with a variable end cannot be written", "x[:m]"),
    (lambda: first_rows(3)[first_rows(3) > 2], ShapeError,
     "getitem: axis 0 has n (1 … 10) elements: its extent is not known", "bool[n,2]"),
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number: int) -> None:
    use, kind, first, got = REFUSED[number]
    with pytest.raises(kind) as caught:
        use()
    assert str(caught.value).split("\n")[0] == first
    assert caught.value.got == got


def test_what_the_hints_say_works() -> None:
    x = Tensor(ROWS.copy())
    mask = (Tensor.arange(10) < N.bind(4)).reshape(-1, 1)
    x.assign(mask.where(0, x))
    assert x.tolist() == [[0, 0]] * 4 + ROWS[4:].tolist()
    assert Tensor(ROWS)[Tensor(N.bind(4))].tolist() == ROWS[4].tolist()


def test_all_of_a_symbolic_axis_is_written() -> None:
    x = first_rows(3)
    x[:N] = 7
    x[: N.bind(3), 0] = 5
    assert x.tolist() == [[5, 7]] * 3


def test_a_mask_beside_a_variable_counts_its_axes() -> None:
    x, m = np.arange(24.0).reshape(2, 3, 4), Variable("m", 1, 4)
    mask = x[:, :, 0] > 3
    for index, plain in (
        (np.s_[mask, : m.bind(2)], np.s_[mask, :2]),
        (np.s_[None, ..., : m.bind(3)], np.s_[None, ..., :3]),
        (np.s_[True, ..., : m.bind(3)], np.s_[True, ..., :3]),
        (np.s_[:, [0, 2], : m.bind(1)], np.s_[:, [0, 2], :1]),
    ):  # fmt: skip
        np.testing.assert_array_equal(Tensor(x)[index].numpy(), x[plain])
