"""Names of other libraries: aliases of our methods, or errors with what to write instead."""

import copy
import pickle
import timeit
from functools import partial
from typing import Any

import numpy as np
import pytest

import compiler
import svodviz
from compiler import Tensor
from compiler.core.errors import NameMistake
from compiler.tensors.names import ABSENT, INSTEAD
from compiler.tensors.value import TensorValue
from tests import pages

T: Any = Tensor


def x() -> Any:
    return Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


SAME = {
    "absolute": "abs", "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh",
    "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", "astype": "cast", "bitwise_invert": "bitwise_not",
    "bitwise_left_shift": "lshift", "bitwise_right_shift": "rshift", "bmm": "matmul",
    "clamp": "clip", "clamp_max": "minimum", "clamp_min": "maximum", "concat": "cat",
    "concatenate": "cat", "divide": "div", "equal": "eq", "expand_dims": "unsqueeze",
    "floor_divide": "floordiv", "greater": "gt", "greater_equal": "ge",
    "invert": "bitwise_not", "left_shift": "lshift", "less": "lt", "less_equal": "le",
    "matrix_transpose": "mT", "mm": "matmul", "moveaxis": "movedim", "multiply": "mul",
    "mv": "matmul", "negative": "neg", "not_equal": "ne", "permute_dims": "permute",
    "power": "pow", "remainder": "mod", "right_shift": "rshift",
    "subtract": "sub", "true_divide": "div", "view": "reshape",
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_same(name: str) -> None:
    t = x()
    assert getattr(Tensor, name) is getattr(Tensor, SAME[name]) and name in dir(t)
    if name == "matrix_transpose":
        assert t.matrix_transpose.shape == (3, 2)
    else:
        assert getattr(t, name) == getattr(t, SAME[name])


@pytest.mark.parametrize("name", [*INSTEAD, *ABSENT])
def test_what_is_written_instead_is_needed(name: str) -> None:
    assert name not in dir(Tensor)
    with pytest.raises(NameMistake) as caught:
        getattr(x(), name)
    assert caught.value.hint in (f"write {INSTEAD.get(name)}", ABSENT.get(name))


SPELLINGS = [text for text in INSTEAD.values() if ", or " not in text and "value" not in text]


@pytest.mark.parametrize("text", sorted(set(SPELLINGS)))
def test_what_is_written_instead_works(text: str) -> None:
    square = T(np.array([[2, 1], [1, 3]], np.float32))
    known = {
        "a": square, "b": square, "c": square, "x": square, "other": square, "np": np,
        "Tensor": Tensor, "data": [1.0], "array": np.ones(2), "shape": (2, 2), "axis": 0,
        "mean": 0.0, "variance": T([1.0]), "eps": 1e-5, "n": 2, "groups": 1, "mask": square > 1,
        "sizes": 1,
        "yes": 1, "no": 0,
    }  # fmt: skip
    if "save" not in text:
        eval(text, known)


def test_each_attribute_is_defined_by_one_mixin() -> None:
    mixins = [kind for kind in Tensor.__mro__ if issubclass(kind, TensorValue)]
    names = [name for kind in mixins for name in vars(kind)]
    ours = {"__annotations__", "__doc__", "__module__", "__slots__"}
    assert {name for name in names if names.count(name) > 1} <= ours


def test_the_tower_of_mixins_is_low() -> None:
    def floors(kind: type) -> int:
        return 1 + max(map(floors, kind.__bases__), default=-1)

    assert floors(Tensor) == 8


page = partial(pages.page, kind=NameMistake)


def test_did_you_mean() -> None:
    assert page(lambda: x().permut(1, 0)) == [
        "Tensor: there is no attribute permut",
        "  got:      permut",
        "  expected: an attribute of Tensor: dir(Tensor) has them all",
        "  hint:     did you mean permute?",
    ]
    assert page(lambda: T.zeroes(3))[-1] == "  hint:     did you mean zeros?"
    assert page(lambda: x().soft_max())[-1] == "  hint:     did you mean softmax?"
    assert page(lambda: x().argMax())[-1] == "  hint:     did you mean argmax?"
    assert page(lambda: x().grad_fn)[-1].startswith("  hint:     the backward pass is in the pro")
    assert page(lambda: x().relu_())[-1] == (
        "  hint:     operations give a new tensor: x = x.relu(...), or x.assign(...)"
    )
    assert page(lambda: x().qqqqq)[-1].startswith("  expected:")


def test_modules() -> None:
    assert page(lambda: compiler.Tenser) == [
        "compiler: there is no attribute Tenser",
        "  got:      Tenser",
        "  expected: a name of compiler: dir(compiler) has them all",
        "  hint:     did you mean Tensor?",
    ]
    hint = "  hint:     write x.relu(...): it is a method of tensors"
    assert page(lambda: compiler.relu)[-1] == hint
    assert page(lambda: compiler.as_tensor)[-1] == "  hint:     write Tensor(data)"
    assert page(lambda: svodviz.explor)[-1] == "  hint:     did you mean explore?"
    written = "  hint:     write from compiler import compile"
    assert page(lambda: svodviz.compile)[-1] == written
    with pytest.raises(ImportError):
        from compiler import nothing_like_it  # type: ignore[attr-defined]  # noqa: F401


def test_probing_works_and_is_quick() -> None:
    t = x()
    assert not hasattr(t, "nothing") and not hasattr(t, "_repr_html_")
    assert not hasattr(Tensor, "nothing") and not hasattr(compiler, "__wrapped__")
    assert getattr(t, "nothing", 3) == 3
    assert copy.copy(t) is t and copy.deepcopy([t])[0] is t
    assert np.array_equal(pickle.loads(pickle.dumps(t)).numpy(), t.numpy())
    assert min(timeit.repeat(lambda: hasattr(t, "_repr_html_"), number=100, repeat=5)) < 0.01
    assert min(timeit.repeat(lambda: hasattr(t, "nothing"), number=100, repeat=5)) < 0.1


def test_the_commonest_line_of_another_library() -> None:
    t = x()
    assert np.array_equal(t.detach().cpu().numpy(), t.numpy())
