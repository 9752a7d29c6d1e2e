"""`pad` with elements of the tensor itself, against NumPy, on every engine."""

from typing import Any

import numpy as np
import pytest

from compiler import ShapeError, Tensor, compile
from tests.evaluate import assert_same, evaluate, every_engine

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
NUMPYS = {"reflect": "reflect", "symmetric": "symmetric", "edge": "edge", "replicate": "edge",
          "wrap": "wrap", "circular": "wrap"}  # fmt: skip
WIDTHS = [
    [(0, 0), (1, 2), (2, 1)], [(1, 1), (0, 0), (3, 3)], [(0, 0), (0, 0), (0, 0)],
    [(2, 0), (7, 8), (9, 1)],
]  # fmt: skip


@every_engine
@pytest.mark.parametrize("mode", NUMPYS)
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_as_numpy(widths: Any, mode: str, engine: str) -> None:
    got = evaluate(Tensor(X).pad(widths, mode=mode), engine)
    assert_same(got, np.pad(X, widths, NUMPYS[mode]))


def test_pairs_from_the_last_axis_on_and_cuts() -> None:
    got = Tensor(X).pad((1, 2), mode="reflect").numpy()
    assert_same(got, np.pad(X, [(0, 0), (0, 0), (1, 2)], "reflect"))
    cut = Tensor(X).pad([None, (-1, 2), (1, -2)], mode="edge").numpy()
    assert_same(cut, np.pad(X, [(0, 0), (0, 2), (1, 0)], "edge")[:, 1:, :-2])


CROPPED = (
    ("circular", (2, -3), [0, 1, 0, 1]), ("circular", (-2, 3), [2, 3, 4, 2, 3, 4]),
    ("circular", (1, -2), [2, 0, 1, 2]), ("circular", (0, -5), []), ("edge", (0, -5), []),
    ("edge", (2, -5), [0, 0]), ("edge", (-6, 3), [4, 4]), ("reflect", (2, -2), [2, 1, 0, 1, 2]),
    ("reflect", (-2, 2), [2, 3, 4, 3, 2]), ("circular", (-2, -2), [2]),
)  # fmt: skip


@pytest.mark.parametrize(("mode", "widths", "right"), CROPPED)
def test_one_side_is_cut_and_the_other_continued(
    mode: str, widths: tuple[int, int], right: list[int]
) -> None:
    got = Tensor(np.arange(5)).pad(widths, mode=mode)
    assert got.shape == (len(right),) and got.numpy().tolist() == right


def test_nothing_is_left_to_continue_with() -> None:
    with pytest.raises(ShapeError, match="too few elements"):
        Tensor(np.arange(5)).pad((2, -5), mode="circular")


def test_what_is_joined_are_runs_and_nothing_is_gathered() -> None:
    program = compile(Tensor(X).pad((3, 3), mode="reflect"))
    assert len(program.schedule.items) == 1 and program.check().ok
    loads = [i for i in program.lowered[0].instructions if type(i).__name__ == "Load"]
    assert len({i.buffer for i in loads}) == 1


def test_an_axis_of_one_element() -> None:
    for mode in NUMPYS:
        got = Tensor(X[:, :1]).pad([None, (1, 2), None], mode=mode).numpy()
        assert_same(got, np.pad(X[:, :1], [(0, 0), (1, 2), (0, 0)], NUMPYS[mode]))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.pad(1, mode="mirror"), "pad: unknown mode"),
        (lambda x: x[:0].pad(1, mode="edge"), "axis 0 has too few elements"),
        (lambda x: x.pad([(0, 0), (-4, 0), (0, 0)], mode="edge"), "axis 1 has too few elements"),
    ],
)
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        call(Tensor(X))
