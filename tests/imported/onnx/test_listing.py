"""A model as lines of text, and the modules of its nodes by what exporters note or name."""

import linecache

import numpy as np
import pytest
from onnx import TensorProto, helper

import compiler
from compiler.imported.onnx.listing import listed, modules_of
from svodviz.foundation.subject import compilation_of
from tests.models import LENGTH, convolutions, transformer


@pytest.fixture(autouse=True)
def no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """No lines are registered: other tests of the process list models of the same names."""
    monkeypatch.setattr(linecache, "cache", {})


def named(name: str) -> tuple[str, ...]:
    return modules_of(helper.make_node("Relu", ["x"], ["y"], name=name))[0]


@pytest.mark.parametrize(
    ("name", "modules"),
    [
        ("/layers.0/attn/MatMul", ("layers.0", "attn")),
        ("/layer1/layer1.0/conv1/Conv", ("layer1", "0", "conv1")),
        ("/features/features.0/Conv", ("features", "0")),
        ("layers.0.attn.MatMul", ("layers.0", "attn")),
        ("model/dense/BiasAdd", ("model", "dense")),
        ("Relu_7", ()),
        ("", ()),
        ("/Relu", ()),
        ("///", ()),
    ],
)
def test_names_of_nodes_say_their_modules(name: str, modules: tuple[str, ...]) -> None:
    assert named(name) == modules


def noted(**notes: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    node = helper.make_node("Relu", ["x"], ["y"], name="node_relu")
    for key, value in notes.items():
        node.metadata_props.add(key=key if key == "namespace" else f"pkg.torch.onnx.{key}",
                                value=value)  # fmt: skip
    return modules_of(node)


def test_what_exporters_note_says_them_with_their_classes() -> None:
    scopes = "['', 'encoder', 'encoder.layer.0', 'encoder.layer.0.act', 'relu']"
    classes = "['app.Net', 'app.Encoder', 'app.Layer', 'torch.nn.modules.ReLU', 'aten.relu']"
    wanted = ("encoder", "layer.0", "act"), ("Net", "Encoder", "Layer", "ReLU")
    assert noted(name_scopes=scopes, class_hierarchy=classes) == wanted
    space = ": app.Net/encoder: app.Encoder/encoder.layer.0: app.Layer/relu: aten.relu"
    assert noted(namespace=space) == (("encoder", "layer.0"), ("Net", "Encoder", "Layer"))
    assert noted(name_scopes=scopes, class_hierarchy="['one']")[1] == ("", "", "", "")
    for broken in ("[", "__import__('os')", "7", "[1, 2]", "[" * 10_000):
        assert noted(name_scopes=broken) == ((), ("",))


def test_a_model_is_lines_of_text_and_nodes_come_from_theirs() -> None:
    model = compiler.from_onnx(transformer())
    rows = model.listing.rows
    assert rows[0] == "input   ids: int64[1,8]" and rows[-1].startswith("output  v")
    assert rows[1] == "v0 = Gather(table, ids)"
    (y,) = model(ids=np.zeros((1, LENGTH), np.int64)).values()
    origin = y.node.origin
    assert origin is not None and origin.module is not None
    assert origin.text == rows[origin.line - 1] and origin.method == "Add"
    assert origin.module.path == "encoder.layer.1"
    assert any("(y,) = model(" in caller.text for caller in origin.callers)
    source = str(compiler.compile(y).user_source)
    assert "\n".join(rows) in source and "def test_a_model_is_lines" in source


def test_classes_of_the_model_come_along() -> None:
    model = compiler.from_onnx(transformer(1, as_dynamo=True))
    (y,) = model(ids=np.zeros((1, LENGTH), np.int64)).values()
    rows = compiler.compile(y).modules.rows
    assert [(it.path, it.kind) for it in rows[1:4]] == [
        ("embeddings", "Embeddings"), ("encoder", "Encoder"), ("encoder.layer.0", "Layer"),
    ]  # fmt: skip
    assert "encoder.layer.0.attention.query" in [it.path for it in rows]


def test_other_lines_have_another_name() -> None:
    first, again, other = listed(transformer()), listed(transformer()), listed(transformer(1))
    assert first.file == again.file == "transformer.onnx" != other.file
    assert linecache.getline(other.file, 2) == "v0 = Gather(table, ids)\n"


def test_inner_graphs_stand_below_their_node() -> None:
    branches = {
        name: helper.make_graph(
            [helper.make_node(op, ["x"], [name], name=f"/{name}/{op}")], name, [],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])])
        for name, op in (("then_branch", "Exp"), ("else_branch", "Neg"))
    }  # fmt: skip
    node = helper.make_node("If", ["flag"], ["y"], name="/choice/If", **branches)
    x, flag = (helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in
               (("x", TensorProto.FLOAT, [2]), ("flag", TensorProto.BOOL, [])))  # fmt: skip
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([node], "g", [x, flag], [out])
    model = compiler.from_onnx(helper.make_model(graph))
    assert "    then_branch = Exp(x)" in model.listing.rows
    y = model(x=np.ones(2, np.float32), flag=np.array(True))["y"].node
    assert y.origin is not None and y.origin.text == "then_branch = Exp(x)"
    assert y.origin.module is not None and y.origin.module.path == "then_branch"


def test_a_model_is_a_function_to_compile_and_to_explore() -> None:
    model = compiler.from_onnx(transformer(1))
    made = compiler.compile(model, np.zeros((1, LENGTH), np.int64))
    assert made.modules.is_model and len(made.results) == 1
    # Constants are those of the first call; the tree is the same.
    again = compilation_of(model, np.ones((1, LENGTH), np.int64)).modules
    assert [it.path for it in again.rows] == [it.path for it in made.modules.rows]


def test_networks_of_torchvision_have_their_names() -> None:
    model = compiler.from_onnx(convolutions())
    (y,) = model(x=np.ones((1, 3, 8, 8), np.float32)).values()
    paths = [row.path for row in compiler.compile(y).modules.rows]
    assert paths[1:5] == ["features", "features.0", "features.1", "features.2"]
    assert paths[-2:] == ["avgpool", "classifier"]
