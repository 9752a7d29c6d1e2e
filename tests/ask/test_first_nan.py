"""Where a NaN began: the operation, what it read, the line, and how far it reached."""

import numpy as np

from compiler import Tensor, compile, first_nan, nn


def test_a_logarithm_of_what_is_below_zero() -> None:
    x = Tensor(np.array([1.0, -2.0, 3.0]), name="x")
    y = x * 2 - 1
    z = y.log()  # here
    found = first_nan(compile((z.exp() + y).sum()))
    assert found
    (first,) = found.beginnings
    assert first.text == "log f64[3]" and (first.count, first.size) == (1, 3)
    assert [(it.least, it.greatest) for it in first.operands] == [(-5.0, 5.0)]
    assert first.line is not None and "# here" in first.line.text
    assert first.reached >= 2
    text = str(found)
    assert "NaN begins at graph:" in text and "1 of 3 elements" in text
    assert "-5 to 5" in text and "# here" in text


def test_in_a_gradient_the_line_is_that_of_the_value() -> None:
    w = Tensor(np.array([0.0, 4.0]), requires_grad=True)
    x = Tensor(np.array([0.0, 1.0]))
    root = (w * x).sqrt()  # its slope at 0 is infinite, times 0
    made = compile(root.sum().gradient(w))
    assert np.isnan(made.run()[0]).tolist() == [True, False]
    (first,) = first_nan(made).beginnings
    assert first.line is not None and ("times 0" in first.line.text or "w * x" in first.line.text)
    assert first.line.method.startswith("gradient of")


def test_several_beginnings_and_none() -> None:
    x = Tensor(np.array([np.nan, 1.0]), name="given")
    y = Tensor(np.array([0.0, 0.0]))
    found = first_nan(compile(x * 2, y / y))
    assert [it.text.split()[0] for it in found.beginnings] == ["buffer", "fdiv"]
    calm = first_nan(compile(nn.softmax(Tensor(np.array([[-np.inf, 0.0]])))))
    assert not calm and str(calm) == "no value is NaN"


def test_of_integers_and_of_nothing() -> None:
    assert not first_nan(compile(Tensor([1, 2]) + 1, Tensor(np.zeros((0, 3)))))
