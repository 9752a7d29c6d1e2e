"""Small ONNX models with modules, written by hand as exporters write them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

WIDTH, HIDDEN, LENGTH, WORDS = 16, 32, 8, 50
"""Of the transformer: features, those inside its feed-forward layers, positions, words."""


class Writer:
    """Collects the nodes and constants of a model; each node is called by its module."""

    def __init__(self, *, as_dynamo: bool = False) -> None:
        self.as_dynamo = as_dynamo
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.random = np.random.default_rng(7)

    def weight(self, name: str, *shape: int) -> str:
        """A constant of random numbers."""
        from onnx import numpy_helper

        data = self.random.standard_normal(shape).astype(np.float32) * 0.2
        self.constants.append(numpy_helper.from_array(data, name))
        return name

    def node(self, op: str, path: Sequence[str], *inputs: str, **attributes: Any) -> str:
        """A node in the modules of `path`, each with its name in the one before; its output."""
        from onnx import helper

        number = len(self.nodes)
        name = f"node_{op}_{number}" if self.as_dynamo else "/".join(("", *path, op))
        made = helper.make_node(op, list(inputs), [f"v{number}"], name=name, **attributes)
        if self.as_dynamo:
            scopes = ["", *(".".join(path[: n + 1]) for n in range(len(path))), f"call_{number}"]
            kinds = ["app.Model", *(f"app.{it.split('.')[0].title()}" for it in path), f"aten.{op}"]
            for key, value in (("name_scopes", scopes), ("class_hierarchy", kinds)):
                made.metadata_props.add(key=f"pkg.torch.onnx.{key}", value=repr(value))
        self.nodes.append(made)
        return f"v{number}"

    def model(self, name: str, inputs: Sequence[Any], output: str) -> Any:
        """The model, whose output has an unspecified shape."""
        from onnx import TensorProto, helper

        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, name, list(inputs), outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def transformer(layers: int = 2, *, as_dynamo: bool = False, batch: int | str = 1) -> Any:
    """An embedding and `layers` blocks of attention and feed-forward, as BERT's modules are called;
    input `ids`, int64[batch, LENGTH]."""
    from onnx import TensorProto, helper

    it = Writer(as_dynamo=as_dynamo)
    x = it.node("Gather", ["embeddings"], it.weight("table", WORDS, WIDTH), "ids")
    for number in range(layers):
        x = _block(it, number, x)
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [batch, LENGTH])
    return it.model("transformer", [ids], x)


def _block(it: Writer, number: int, x: str) -> str:
    layer = ["encoder", f"layer.{number}"]
    attention = [*layer, "attention"]
    made = [_linear(it, [*attention, name], x, WIDTH, WIDTH) for name in ("query", "key", "value")]
    turned = it.node("Transpose", attention, made[1], perm=[0, 2, 1])
    scores = it.node("MatMul", attention, made[0], turned)
    mixed = it.node("MatMul", attention, it.node("Softmax", attention, scores, axis=-1), made[2])
    x = it.node("Add", attention, mixed, x)
    inner = it.node("Relu", [*layer, "act"], _linear(it, [*layer, "up"], x, WIDTH, HIDDEN))
    return it.node("Add", layer, _linear(it, [*layer, "down"], inner, HIDDEN, WIDTH), x)


def _linear(it: Writer, path: Sequence[str], x: str, inner: int, outer: int) -> str:
    name = ".".join(path)
    product = it.node("MatMul", path, x, it.weight(f"{name}.weight", inner, outer))
    return it.node("Add", path, product, it.weight(f"{name}.bias", outer))


def convolutions() -> Any:
    """Two convolutions and a classifier, called as torchvision's networks are: `features.0`."""
    from onnx import TensorProto, helper

    it = Writer()
    x = "x"
    for number, (inner, outer) in enumerate(((3, 4), (4, 4))):
        path = ["features", f"features.{2 * number}"]
        weight = it.weight(f"features.{2 * number}.weight", outer, inner, 3, 3)
        x = it.node("Conv", path, x, weight, pads=[1, 1, 1, 1])
        x = it.node("Relu", ["features", f"features.{2 * number + 1}"], x)
    x = it.node("Flatten", [], it.node("GlobalAveragePool", ["avgpool"], x))
    x = it.node("Gemm", ["classifier"], x, it.weight("classifier.weight", 4, 5))
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])
    return it.model("convolutions", [image], x)
