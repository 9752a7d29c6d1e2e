"""Modules of models: what nodes made in them know of their place."""

import numpy as np

from compiler import Tensor
from compiler.core.errors import ShapeError
from compiler.core.modules import Line, called_at, in_module
from compiler.core.origin import Origin, state, user_call

FILE = "/elsewhere/model.py"


def tensor() -> Tensor:
    return Tensor(np.ones(3, np.float32), name="x")


def origin_of(x: Tensor) -> Origin:
    origin = x.node.origin
    assert origin is not None
    return origin


@user_call
def model(x: Tensor) -> Tensor:
    """A model as an importer calls it: two nodes of one module and one that stands in none."""
    with in_module("Net", kinds=["Net"]):
        for number in (7, 8):
            with in_module("encoder", "layer.0", kinds=["Encoder", "Layer"]):
                lines = [Line(FILE, 3, "Net.forward"), Line(FILE, number, "Layer.forward")]
                with called_at("exponential", lines):
                    x = x.exp()
        with called_at("Relu"):
            return x.relu()


def test_nodes_come_from_the_line_of_the_model_in_its_module() -> None:
    y = model(tensor())
    last, inner = origin_of(y), y.node.sources[0].origin
    assert inner is not None and inner.module is not None and last.module is not None
    assert (inner.file, inner.line, inner.method) == (FILE, 8, "exponential")
    assert inner.module.path == "encoder.layer.0" and inner.module.kind == "Layer"
    assert [(it.name, it.kind) for it in inner.module.chain()] == [
        ("Net", "Net"), ("encoder", "Encoder"), ("layer.0", "Layer"),
    ]  # fmt: skip
    assert inner.lines[1] == (FILE, 3) and inner.lines[2][0] == __file__
    assert "y = model(tensor())" in inner.callers[-2].text
    assert inner.inside.endswith("encoder/layer.0")
    assert last.method == "Relu" and last.file == __file__ and last.module.path == ""
    assert last.inside.endswith("model/Net") is False and last.inside.endswith("Net")
    assert state.module is None and state.origin is None


def test_equal_names_are_one_module_and_runs_are_told_apart() -> None:
    made = []
    for run in (0, 0, 1):
        with in_module("Net"), in_module("head", run=run):
            made.append(state.module)
    assert made[0] is made[1] is not made[2]
    assert made[2] is not None and made[2].path == "head"


def test_errors_show_the_line_of_the_model() -> None:
    try:
        with in_module("Net"), called_at("addmm", [Line(FILE, 5, "Net.forward")]):
            tensor().matmul(np.ones((4, 4), np.float32))
    except ShapeError as error:
        assert f"{FILE}:5" in str(error) and "test_modules.py" in str(error)
    else:
        raise AssertionError("shapes that do not fit were accepted")
