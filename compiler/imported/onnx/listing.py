"""listing: a model as lines of text, which are its source: a line per node, with its module.

    input   x: f32[1,3,224,224]
    /layer1/layer1.0/conv1/Conv_output_0 = Conv(x, layer1.0.conv1.weight)  pads = [1, 1, 1, 1]
    output  191: f32[1,1000]

The module of a node, here `layer1.0.conv1`, is recorded by PyTorch's exporter; otherwise it is
derived from the node's name. The lines are registered with `linecache` under the name of the
model's file, like those of notebook cells, so that they are shown wherever a user's line is.
"""

import ast
import linecache
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compiler.core.lazy import loading
from compiler.core.modules import Line, called_at, in_module
from compiler.core.origin import state

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, ValueInfoProto

MOST_SHOWN = 64
"""Characters of an attribute that are shown."""
SCOPES, CLASSES = "pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy"
NAMESPACE = "namespace"
"""The metadata key of PyTorch's exporters: all three list the modules around a node, and itself."""


@dataclass(frozen=True)
class Listing:
    """The lines of a model: `file` is their name in `linecache`, `name` that of the model.

    `lines` is keyed by the identity of nodes, the only unique key; protobuf returns the same
    objects as long as `nodes` refers to them.
    """

    file: str
    name: str
    rows: tuple[str, ...]
    lines: dict[int, int] = field(repr=False)
    nodes: "tuple[NodeProto, ...]" = field(repr=False)

    def at(self, node: "NodeProto") -> AbstractContextManager[object]:
        """Context in which tensors are attributed to this node of the model, and to its module.

        The nodes of its expansion, which have no line, are attributed to it.
        """
        contexts = ExitStack()
        if line := self.lines.get(id(node)):
            names, kinds = modules_of(node)
            contexts.enter_context(_model(kinds[0] or self.name))
            if names:
                contexts.enter_context(in_module(*names, kinds=kinds[1:]))
            contexts.enter_context(called_at(node.op_type, [Line(self.file, line)]))
        return contexts


@contextmanager
def _model(name: str) -> Iterator[None]:
    """Context in which tensors are attributed to the model itself: the nodes of an inner graph do
    not belong to the module of the node that runs it."""
    before = state.module
    running = before.chain() if before is not None else ()
    at = next((it for it in reversed(running) if it.name == it.kind == name), None)
    if at is None:
        with in_module(name, kinds=[name]):
            yield
        return
    state.module = at
    try:
        yield
    finally:
        state.module = before


def listed(model: "ModelProto", file: str = "") -> Listing:
    """The listing of a model, under the name of its file, else that of its graph."""
    graph = model.graph
    name = graph.name or "model"
    rows: list[str] = []
    places: list[tuple[NodeProto, int]] = []
    initialized = {each.name for each in graph.initializer}
    rows += [f"input   {_typed(it)}" for it in graph.input if it.name not in initialized]
    _list(graph, "", rows, places)
    rows += [f"output  {_typed(it)}" for it in graph.output]
    lines = {id(node): line for node, line in places}
    nodes = tuple(node for node, _ in places)
    return Listing(_kept(file or f"{name}.onnx", rows), name, tuple(rows), lines, nodes)


def _kept(file: str, rows: Sequence[str]) -> str:
    """The name under which the lines are registered; another name if it is taken by other lines."""
    texts = [f"{row}\n" for row in rows]
    free, count = file, 1
    while free in linecache.cache and linecache.getlines(free) != texts:
        count += 1
        free = f"{file} ({count})"
    linecache.cache[free] = (sum(map(len, texts)), None, texts, free)
    return free


def _list(
    graph: "GraphProto", indent: str, rows: list[str], places: "list[tuple[NodeProto, int]]"
) -> None:
    """A line per node; the lines of inner graphs follow theirs, indented."""
    for node in graph.node:
        inner = [each for each in node.attribute if each.HasField("g")]
        attributes = [_shown(each) for each in node.attribute if not each.HasField("g")]
        outputs = ", ".join(node.output) or "nothing"
        text = f"{outputs} = {node.op_type}({', '.join(node.input)})  {', '.join(attributes)}"
        rows.append(f"{indent}{text}".rstrip())
        places.append((node, len(rows)))
        for each in inner:
            rows.append(f"{indent}  {each.name}:")
            _list(each.g, f"{indent}    ", rows, places)


def _shown(attribute: "AttributeProto") -> str:
    with loading():
        from onnx import helper

    value = "…"
    if attribute.type in (attribute.TENSOR, attribute.SPARSE_TENSOR):
        value = f"a tensor of {list(attribute.t.dims)}"
    elif attribute.type in (attribute.FLOAT, attribute.INT, attribute.STRING, attribute.INTS,
                            attribute.FLOATS, attribute.STRINGS):  # fmt: skip
        content = helper.get_attribute_value(attribute)
        value = content.decode(errors="replace") if isinstance(content, bytes) else str(content)
    shown = value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}…"
    return f"{attribute.name} = {shown}"


def _typed(value: "ValueInfoProto") -> str:
    tensor = value.type.tensor_type
    extents = ",".join(
        str(each.dim_value) if each.HasField("dim_value") else each.dim_param or "?"
        for each in tensor.shape.dim
    )
    with loading():
        from onnx import TensorProto

    is_named = tensor.elem_type in TensorProto.DataType.values()
    kind = TensorProto.DataType.Name(tensor.elem_type).lower() if is_named else "?"
    return f"{value.name}: {kind}[{extents}]"


# -- modules -------------------------------------------------------------------------------------


def modules_of(node: "NodeProto") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The modules around a node, each by its name in its parent, and the classes of the model and
    of these modules, "" if unknown."""
    noted = {each.key: each.value for each in getattr(node, "metadata_props", ())}
    scopes = _strings(noted.get(SCOPES, ""))
    classes = _strings(noted.get(CLASSES, ""))
    if not scopes and NAMESPACE in noted:
        pairs = [part.partition(": ") for part in noted[NAMESPACE].split("/")]
        scopes, classes = [it for it, _, _ in pairs], [it for _, _, it in pairs]
    if len(scopes) > 1:  # the model, modules, the call itself
        kinds = classes if len(classes) == len(scopes) else [""] * len(scopes)
        return _relative(scopes[1:-1]), tuple(it.rpartition(".")[2] for it in kinds[:-1])
    names = _relative(list(_named(node.name)))
    return names, ("",) * (1 + len(names))


def _strings(text: str) -> list[str]:
    """A list of strings in PyTorch's notation; empty for other text."""
    try:
        parsed = ast.literal_eval(text) if text else []
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    is_right = isinstance(parsed, list) and all(isinstance(it, str) for it in parsed)
    return parsed if is_right else []


def _named(name: str) -> Iterator[str]:
    """The modules in the name of a node: `/layers.0/attn/MatMul`, `layers.0.attn.MatMul`."""
    if "/" in name:
        yield from filter(None, name.split("/")[:-1])
        return
    held = ""
    for part in name.split(".")[:-1]:
        if part.isdecimal() and held:
            held = f"{held}.{part}"
            continue
        if held:
            yield held
        held = part
    if held:
        yield held


def _relative(names: Sequence[str]) -> tuple[str, ...]:
    """Names without the prefix they repeat: features, features.0 → features, 0."""
    short: list[str] = []
    for name in filter(None, names):
        around = ".".join(short)
        for prefix in (around, short[-1] if short else ""):
            if prefix and name.startswith(f"{prefix}."):
                name = name[len(prefix) + 1 :]
                break
        short.append(name)
    return tuple(short)
