"""`from_onnx`: a model as a callable program, with inputs and outputs by name.

The model is read, its functions are inlined, and all operators are looked up, so that everything
unsupported is reported at once. A call walks the nodes: values that follow from shapes and
constants are computed by the interpreter of the graph, all others become lazy tensors.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compiler.core.dtypes import is_floating
from compiler.core.errors import DataError, located
from compiler.core.lazy import loading
from compiler.core.origin import user_call
from compiler.graph.words import short
from compiler.imported.arguments import Reads
from compiler.imported.call import unsupported
from compiler.imported.constants import MOST_COMPUTED, computed
from compiler.imported.inputs import Described, by_name, check_fits, signature
from compiler.imported.onnx import (  # noqa: F401 (they fill the table)
    activations,
    blocks,
    conversions,
    counting,
    elementwise,
    folds,
    fused,
    images,
    picking,
    products,
    quantised,
    recurrent,
    regions,
    resizing,
    runtime,
    sampling,
    shapes,
    spectra,
    windows,
)
from compiler.imported.onnx.call import OPERATORS, Call, Value
from compiler.imported.onnx.element_types import NUMBERS, array_of, dtype_of
from compiler.imported.onnx.listing import listed
from compiler.imported.onnx.symbols import of_numbers, rule_of, shape_numbers, tensor_of
from compiler.imported.onnx.unread import check_unread, plain
from compiler.tensor import Tensor
from compiler.tensors.variables import Variable, binds_in, bounds_of

if TYPE_CHECKING:
    from onnx import (
        AttributeProto,
        GraphProto,
        ModelProto,
        NodeProto,
        OperatorSetIdProto,
        ValueInfoProto,
    )

MOST_ITERATIONS = 10_000
"""The maximal number of iterations of a `Loop` that is unrolled."""
CONTROL = ("If", "Loop", "Scan")
OWN = ("", "ai.onnx")
"""Names of ONNX's own domain."""


class OnnxProgram:
    """An imported model: `program(x=array)` returns its outputs by name, as lazy tensors."""

    def __init__(
        self, model: "ModelProto", folder: str = "",
        bounds: Mapping[str, tuple[int, int]] | None = None, file: str = "",
    ) -> None:  # fmt: skip
        self._graph = model.graph
        self.variables = {name: Variable(name, *pair) for name, pair in (bounds or {}).items()}
        """The variables, by the model's names of extents."""
        self._versions: dict[str, int] = {
            _domain(each): each.version for each in model.opset_import
        }
        self._bound: dict[str, Variable] = {}
        self._folder = folder
        self._check(model.graph)
        self._constants = {
            each.name: Value(array_of(each, f"initializer {each.name}", folder), name=each.name)
            for each in model.graph.initializer
        }
        self._parameters: dict[str, Tensor] = {}
        """The parameters that were requested."""
        self.inputs = {
            each.name: _described(each) for each in model.graph.input
            if each.name not in self._constants
        }  # fmt: skip
        """Name to (element type, extents): a number, or a name for one that may differ."""
        self.outputs = tuple(each.name for each in model.graph.output)
        self.listing = listed(model, file)
        """The model as lines of text: the source of its nodes."""

    def __repr__(self) -> str:
        return f"OnnxProgram({signature(self.inputs)} -> {', '.join(self.outputs)})"

    @user_call
    def __call__(self, *values: Any, **named: Any) -> dict[str, Tensor]:
        """The outputs by name, for inputs by place or by name. Nothing is computed yet."""
        inputs = by_name("OnnxProgram", self.inputs, values, named)
        data = {**self._constants}
        for name, tensor in self._parameters.items():
            data[name] = Value(lazy=tensor, name=name)
        for name, described in self.inputs.items():
            data[name] = Value(lazy=_input(name, inputs[name], described, self.variables))
        self._bound = _bound_values(data[name].tensor for name in self.inputs)
        results = self._walk(self._graph, data)
        return dict(zip(self.outputs, [value.tensor for value in results], strict=True))

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The constants of the model that are floats, by name, with their own memory.

        After this, calls read them from that memory, so they can be trained; before, values that
        depend only on constants are computed when a call is built.
        """
        for name, value in self._constants.items():
            array = value.array
            if name not in self._parameters and array is not None and is_floating(array.dtype):
                self._parameters[name] = Tensor(array.copy(), name=name)
        return dict(self._parameters)

    def _version(self, domain: str) -> int:
        return self._versions.get("" if domain in OWN else domain, 1)

    def _check(self, graph: "GraphProto") -> None:
        """Raise `DataError` that lists every unsupported operator, with its count."""
        missing = Counter(
            f"{node.domain + '.' if node.domain not in OWN else ''}{node.op_type} "
            f"(version {self._version(node.domain)})"
            for node in _nodes(graph) if not self._is_known(node)
        )  # fmt: skip
        if missing:
            got = ", ".join(f"{count} × {name}" for name, count in sorted(missing.items()))
            raise unsupported("from_onnx", "operators", got, len(OPERATORS) + len(CONTROL))

    def _is_known(self, node: "NodeProto") -> bool:
        domain = _domain(node)
        if (domain, node.op_type) in OPERATORS or node.op_type in CONTROL:
            return True
        return _function_of(node, self._version(domain), []) is not None

    def _walk(self, graph: "GraphProto", outer: Mapping[str, Value]) -> list[Value]:
        """The outputs of a graph; its nodes can read the values of the outer graphs."""
        values = dict(outer)
        for each in graph.initializer:
            values.setdefault(each.name, Value(array_of(each, each.name, self._folder)))
        self._run(graph.node, values)
        return [values[each.name] for each in graph.output]

    def _run(self, nodes: Iterable["NodeProto"], values: dict[str, Value]) -> None:
        for node in nodes:
            inputs = [values[name] if name else None for name in node.input]
            with self.listing.at(node):
                results = self._called(node, inputs, values)
            for name, value in zip(node.output, results, strict=False):
                if name and value is not None:
                    values[name] = value

    def _called(
        self, node: "NodeProto", inputs: Sequence[Value | None], values: dict[str, Value]
    ) -> Sequence[Value | None]:
        if node.op_type in CONTROL and node.domain in OWN:
            control = {"If": self._if, "Loop": self._loop, "Scan": self._scan}[node.op_type]
            call = _call(node, self._version(""), inputs)
            ends = control(call, values)
            check_unread(call, None, "")
            return ends
        function = OPERATORS.get((_domain(node), node.op_type))
        if function is None:
            return self._expanded(node, inputs)
        call = replace(_call(node, self._version(node.domain), inputs), bound=self._bound)
        of_shapes = replace(call, reads=Reads())
        if (numbers := _numbers(of_shapes, inputs)) is not None:
            check_unread(of_shapes, rule_of(call.op), _domain(node))
            return [Value(lazy=tensor_of(numbers), numbers=numbers)
                    if numbers.dtype == object else Value(numbers)]  # fmt: skip
        result = _tensors_of(function, call, [None if v is None else v.tensor for v in inputs])
        check_unread(call, function, _domain(node))
        results = result if isinstance(result, tuple) else (result,)
        is_known = all(v is None or v.array is not None for v in inputs)
        if is_known and all(t.size <= MOST_COMPUTED for t in results):
            return [Value(array) for array in computed(results)]
        return [Value(lazy=tensor) for tensor in results]

    def _expanded(self, node: "NodeProto", inputs: Sequence[Value | None]) -> list[Value | None]:
        """An operator that ONNX defines as a function of others."""
        tensors = [None if v is None else v.tensor for v in inputs]
        function = _function_of(node, self._version(node.domain), tensors)
        if function is None:
            types = ", ".join("none" if t is None else f"{t.dtype} {t.shape}" for t in tensors)
            raise DataError("from_onnx", f"{node.op_type} {node.name}: it is not supported",
                            got=types, expected="other types or shapes")  # fmt: skip
        values = {name: v for name, v in zip(function.input, inputs, strict=False) if v is not None}
        stated = {each.name: each for each in node.attribute}
        usual = {each.name: each for each in function.attribute_proto}
        bound = {**_defaults(node, self._version(node.domain)), **usual, **stated}
        body = [_bound(each, bound) for each in function.node]
        for each in body:
            for place, name in enumerate(each.input):
                if name and name in function.input and name not in values:
                    each.input[place] = ""
        versions = self._versions
        inside = {_domain(each): each.version for each in function.opset_import}
        self._versions = {**versions, **inside}
        try:
            self._run(body, values)
        finally:
            self._versions = versions
        return [values.get(name) for name in function.output[: len(node.output)]]

    def _if(self, call: Call, values: dict[str, Value]) -> list[Value]:
        """The branch that a known condition selects."""
        is_true = bool(call.known(0, "the condition").item())
        return self._walk(call["then_branch" if is_true else "else_branch"], values)

    def _loop(self, call: Call, outer: dict[str, Value]) -> list[Value]:
        """The unrolled iterations, whose number must be known."""
        body, states = call["body"], list(call.inputs[2:])
        trips = int(call.known(0, "the trip count").item()) if call.has(0) else MOST_ITERATIONS
        goes_on = bool(call.known(1, "the condition").item()) if call.has(1) else True
        names = [each.name for each in body.input]
        kept: list[list[Value]] = [[] for _ in range(len(body.output) - 1 - len(states))]
        trip = 0
        while goes_on and trip < trips:
            if trip == MOST_ITERATIONS:
                raise call.refused("it has too many iterations", trips, f"{MOST_ITERATIONS:,}")
            values = [Value(np.array(trip, np.int64)), Value(np.array(True)), *states]
            inside = {n: v for n, v in zip(names, values, strict=True) if v is not None}
            again, *results = self._walk(body, {**outer, **inside})
            asked = Call("Loop", {}, call.name, call.version, (again,), 1)
            goes_on = bool(asked.known(0, "whether it goes on").item())
            states = list(results[: len(states)])
            for rows, value in zip(kept, results[len(states) :], strict=True):
                rows.append(value)
            trip += 1
        scanned = [_stacked(rows, 0, body.output[1 + len(states) + n])
                   for n, rows in enumerate(kept)]  # fmt: skip
        return [*(s for s in states if s is not None), *scanned]

    def _scan(self, call: Call, outer: dict[str, Value]) -> list[Value]:
        """The body for each slice of the scanned inputs."""
        if call.version < 9:
            return self._scan_of_batches(call, outer)
        body, count = call["body"], call["num_scan_inputs"]
        split = len(call.inputs) - count
        states = [v for v in call.inputs[:split] if v is not None]
        scanned = [v.tensor for v in call.inputs[split:] if v is not None]
        axes = call.get("scan_input_axes", [0] * count)
        turned = call.get("scan_input_directions", [0] * count)
        names, trips = [each.name for each in body.input], scanned[0].shape[axes[0]]
        kept: list[list[Value]] = [[] for _ in range(len(body.output) - split)]
        for trip in range(trips):
            slices = []
            for tensor, axis, back in zip(scanned, axes, turned, strict=True):
                place = trips - 1 - trip if back else trip
                slices.append(Value(lazy=tensor._part(axis % tensor.ndim, place, place + 1)
                                    .squeeze(axis)))  # fmt: skip
            inside = dict(zip(names, [*states, *slices], strict=True))
            ends = self._walk(body, {**outer, **inside})
            states = list(ends[:split])
            for rows, value in zip(kept, ends[split:], strict=True):
                rows.append(value)
        axes = call.get("scan_output_axes", [0] * len(kept))
        turned = call.get("scan_output_directions", [0] * len(kept))
        results = [
            _stacked(rows[::-1] if back else rows, axis, body.output[split + n])
            for n, (rows, axis, back) in enumerate(zip(kept, axes, turned, strict=True))
        ]
        return [*states, *results]

    def _scan_of_batches(self, call: Call, outer: dict[str, Value]) -> list[Value]:
        """Scan before version 9: axis 0 is a batch of sequences, each scanned along the next
        axis."""
        if call.has(0):
            raise call.refused("lengths of sequences are not supported before version 9",
                               "sequence_lens", "sequences of one length")  # fmt: skip
        tensors = [v.tensor for v in call.inputs[1:] if v is not None]
        count = call["num_scan_inputs"]
        attributes = {
            "body": call["body"], "num_scan_inputs": count,
            "scan_input_directions": call.get("directions", [0] * count),
        }  # fmt: skip
        rows = []
        for place in range(tensors[0].shape[0]):
            inside = [Value(lazy=tensor[place]) for tensor in tensors]
            scan = call.as_other("Scan", attributes, version=9, inputs=inside)
            rows.append(self._scan(scan, outer))
        outputs = call["body"].output
        return [_stacked(list(each), 0, outputs[n])
                for n, each in enumerate(zip(*rows, strict=True))]  # fmt: skip


def _bound_values(tensors: Iterable[Tensor]) -> dict[str, Variable]:
    """The variables that inputs bind, by name."""
    binds = {name: bind for tensor in tensors for name, bind in binds_in(tensor.node).items()}
    return {
        name: Variable(name, *bounds_of(bind), value=bind.value) for name, bind in binds.items()
    }


def _numbers(call: Call, inputs: Sequence[Value | None]) -> Any:
    """The result of a node as numbers, if it depends on variables; else None."""
    first = inputs[0] if inputs else None
    if call.op in ("Shape", "Size") and first is not None:
        return shape_numbers(call, first.tensor) if first.tensor.node.extents else None
    present = [v for v in inputs if v is not None]
    if all(v.numbers is None for v in present):
        return None
    if any(v.numbers is None and v.array is None for v in present):
        return None
    arrays = (None if v is None else v.array if v.numbers is None else v.numbers for v in inputs)
    return of_numbers(call, list(arrays))


def _tensors_of(function: Any, call: Call, tensors: Sequence[Tensor | None]) -> Any:
    """The tensors of a node. Code that processes elements one by one needs fixed extents."""
    try:
        return function(call, *tensors)
    except TypeError as error:
        variable = next((t for t in tensors if t is not None and t.node.extents), None)
        if variable is None:
            raise
        raise call.refused("it needs axes of fixed extent", short(variable.node),
                           f"no variable among its extents ({error})") from error  # fmt: skip


def _domain(of: "NodeProto | OperatorSetIdProto") -> str:
    """The domain of a node or of an operator set; ONNX's own has two names."""
    return "" if of.domain in OWN else str(of.domain)


def _graphs(attribute: "AttributeProto") -> "list[GraphProto]":
    """The graphs inside an attribute."""
    return [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]


def _stacked(rows: list[Value], axis: int, like: "ValueInfoProto") -> Value:
    """The values of all iterations stacked along a new axis; for none an empty value."""
    if not rows:
        dtype, shape = _described(like)
        return Value(np.zeros((0, *(n if isinstance(n, int) else 0 for n in shape)), dtype.numpy))
    first, *others = (row.tensor for row in rows)
    whole = first.stack(*others, dim=axis) if others else first.unsqueeze(axis)
    if all(row.array is not None for row in rows) and whole.size <= MOST_COMPUTED:
        return Value(computed([whole])[0])
    return Value(lazy=whole)


def _call(node: "NodeProto", version: int, inputs: Sequence[Value | None]) -> Call:
    attributes = {each.name: plain(each) for each in node.attribute}
    return Call(node.op_type, attributes, node.name, version, inputs, len(node.output))


def _bound(node: "NodeProto", attributes: "Mapping[str, AttributeProto]"
) -> "NodeProto":
    """A node of a function, with references to the function's attributes resolved."""
    bound = type(node)()
    bound.CopyFrom(node)
    del bound.attribute[:]
    for each in node.attribute:
        if not each.ref_attr_name:
            bound.attribute.add().CopyFrom(each)
            _bind_graphs(bound.attribute[-1], attributes)
        elif each.ref_attr_name in attributes:
            new = bound.attribute.add()
            new.CopyFrom(attributes[each.ref_attr_name])
            new.name = each.name
    return bound


def _bind_graphs(attribute: "AttributeProto", attributes: "Mapping[str, AttributeProto]"
) -> None:
    for graph in _graphs(attribute):
        nodes = [_bound(node, attributes) for node in graph.node]
        del graph.node[:]
        graph.node.extend(nodes)


def _function_of(node: "NodeProto", version: int, inputs: Sequence[Tensor | None]) -> Any:
    """The function by which ONNX defines an operator, if any."""
    with loading():
        import onnx

    schema: Any  # whose stubs lack what is asked for here
    try:
        schema = onnx.defs.get_schema(node.op_type, version, _domain(node))
    except onnx.defs.SchemaError:
        return None
    function = None
    if schema.has_function:
        function = schema.function_body
        chosen = max((v for v in schema.function_opset_versions if v <= version), default=None)
        if chosen is not None:
            function = onnx.FunctionProto.FromString(
                schema.get_function_with_opset_version(chosen))  # fmt: skip
    elif schema.has_context_dependent_function:
        if not inputs:
            return schema
        numbers = {dtype: number for number, dtype in NUMBERS.items()}
        described = [
            b"" if t is None else onnx.helper.make_tensor_type_proto(numbers[t.dtype], t.shape)
            .SerializeToString() for t in inputs
        ]  # fmt: skip
        chosen = max((v for v in schema.context_dependent_function_opset_versions if v <= version),
                     default=version)  # fmt: skip
        function = onnx.FunctionProto.FromString(
            schema.get_context_dependent_function_with_opset_version(
                chosen, node.SerializeToString(), described))  # fmt: skip
    return function if function is not None and function.node else None


def _defaults(node: "NodeProto", version: int) -> "dict[str, AttributeProto]":
    """The default attributes of an operator."""
    with loading():
        import onnx
    schema = onnx.defs.get_schema(node.op_type, version, _domain(node))
    return {
        name: each.default_value for name, each in schema.attributes.items()
        if each.default_value.name
    }  # fmt: skip


def _nodes(graph: "GraphProto") -> Iterable["NodeProto"]:
    """Every node, including those of inner graphs."""
    stack = [graph]
    while stack:
        for node in stack.pop().node:
            yield node
            for each in node.attribute:
                stack += _graphs(each)


def _described(value: "ValueInfoProto") -> Described:
    """The element type and the extents of an input or output."""
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        raise DataError("from_onnx", f"{value.name} is not a tensor", got=str(kind),
                        expected="a tensor: sequences and maps are not supported")  # fmt: skip
    tensor = value.type.tensor_type
    shape = tuple(
        each.dim_value if each.HasField("dim_value") else each.dim_param or "?"
        for each in tensor.shape.dim
    )
    return dtype_of(tensor.elem_type, value.name), shape


def _input(
    name: str, value: Any, described: Described, variables: Mapping[str, Variable]
) -> Tensor:
    """The argument for an input, checked against the model's type and extents."""
    axes = {axis: variables[n] for axis, n in enumerate(described[1])
            if isinstance(n, str) and n in variables}  # fmt: skip
    if not isinstance(value, Tensor) and axes:
        value = Tensor(value, name=name, symbolic=axes)
    tensor = value if isinstance(value, Tensor) else Tensor(value, name=name)
    check_fits("OnnxProgram", name, tensor, described)
    return tensor


@located
def from_onnx(
    model: Any, variables: Mapping[str, tuple[int, int]] | None = None
) -> OnnxProgram:
    """An ONNX model as a program, from a path, the bytes of a file, or a ModelProto.

    `variables` has ranges for named extents of the model, such as {"batch": (1, 64)}: one
    compilation then serves all values in the range, without padding. A named extent without a range
    is taken from the data, and each value is compiled separately.

    External data files are memory-mapped, not copied, and only read from the model's folder. Raises
    `FileNotFoundError`, and `DataError` for an invalid model or one with unsupported operators: all
    of them are listed.
    """
    folder = file = ""
    with loading():
        import onnx
        import onnx.inliner
    if isinstance(model, str | Path):
        folder, file = str(Path(model).parent), str(model)
        model = Path(model).read_bytes()
    if isinstance(model, bytes | bytearray):
        parsed = onnx.ModelProto()
        try:
            parsed.ParseFromString(bytes(model))
        except Exception as error:  # whatever protobuf raises: it has several
            raise DataError("from_onnx", "this is not an ONNX model", got=str(error),
                            expected="the bytes of a ModelProto") from error  # fmt: skip
        model = parsed
    if not isinstance(model, onnx.ModelProto) or (not model.graph.node and not model.graph.output):
        raise DataError("from_onnx", "this is not an ONNX model", got=type(model).__name__,
                        expected="a path, bytes or a ModelProto with a graph")  # fmt: skip
    _check_order(model.graph, set())
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
    return OnnxProgram(model, folder, variables, file)


def _check_order(graph: "GraphProto", outer: set[str]) -> None:
    """Raise `DataError` unless every value is defined before it is used."""
    defined = outer | {each.name for each in (*graph.input, *graph.initializer)}
    for node in graph.node:
        if missing := [name for name in node.input if name and name not in defined]:
            raise DataError(
                "from_onnx", f"{node.op_type} {node.name} reads a value not defined before it",
                got=missing[0], expected="nodes in order, without a cycle",
            )  # fmt: skip
        for each in node.attribute:
            for inner in _graphs(each):
                _check_order(inner, defined)
        defined |= set(node.output)
    if missing := [each.name for each in graph.output if each.name not in defined]:
        raise DataError("from_onnx", "an output is not defined", got=missing[0],
                        expected="a node, an input or a constant of that name")  # fmt: skip
