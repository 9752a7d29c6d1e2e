"""`from_torch`: a PyTorch module as a callable program, with outputs in the module's structure.

The module is exported and all operators are looked up, so that everything unsupported is reported
at once. A call walks the nodes, each attributed to its module and line: values that depend only on
constants are computed, all others become lazy tensors.
"""

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.core.dtypes import DType
from compiler.core.errors import CompileError, DataError, located
from compiler.core.lazy import loading
from compiler.core.modules import called_at, in_module
from compiler.core.origin import user_call
from compiler.imported.arguments import refusal
from compiler.imported.call import unsupported
from compiler.imported.constants import MOST_COMPUTED, computed, constant, has_data, leaves
from compiler.imported.inputs import NamedShape, short, signature
from compiler.imported.torch import (  # noqa: F401 (they fill the table)
    activations,
    elementwise,
    folds,
    making,
    normalisations,
    picking,
    products,
    recurrent,
    resizing,
    shapes,
    windows,
)
from compiler.imported.torch.binding import called, unread_in
from compiler.imported.torch.buffers import held, targets
from compiler.imported.torch.call import OPERATORS, Call, function_of, is_number_function, name_of
from compiler.imported.torch.element_types import dtype_of
from compiler.imported.torch.export import dimension_names, exported
from compiler.imported.torch.graphs import Exported, GraphModule, Node, description_of
from compiler.imported.torch.inputs import Inputs
from compiler.imported.torch.places import Place, model_of, place_of
from compiler.tensor import Tensor
from compiler.tensors.writing import assign_together

_INNER = ("cond", "wrap_with_set_grad_enabled", "wrap_with_autocast")
"""Operators that call inner graphs."""


@dataclass(frozen=True, slots=True)
class _Walk:
    """The state of a walk: values by node, and which of them depend only on constants."""

    values: dict[Node, Any]
    constants: set[Node]


class TorchProgram:
    """An imported module: `program(x)` returns the module's outputs, with lazy tensors in them.

    Parameters and buffers share the module's memory. A call that updates buffers (batch norm in
    training mode, a cache) computes its results at once, and the buffers with them.
    """

    def __init__(self, program: Exported, name: str = "", dynamic_shapes: Any = None) -> None:
        self._program = program
        nodes = list(program.graph.nodes)
        self.name = name or model_of(nodes)
        self._places: dict[Node, Place] = {}
        self.operators = Counter(
            name_of(node.target) for node in _called_nodes(program.graph_module)
            if not is_number_function(node.target)
        )  # fmt: skip
        """The number of occurrences of each operator."""
        self._check()
        self._held = held(program)
        self.parameters = self._named("PARAMETER")
        self.buffers = self._named("BUFFER")
        self._inputs = Inputs(program, dimension_names(program, dynamic_shapes))
        self.refused: CompileError | None = None
        """The reason why dynamic axes are not variables, but compiled for each extent."""

    @property
    def inputs(self) -> dict[str, tuple[DType, NamedShape]]:
        """Name to (element type, extents): a number, or a name for one that may differ."""
        return self._inputs.described

    def __repr__(self) -> str:
        return f"TorchProgram({self.name}: {signature(self.inputs)} -> {self._results()})"

    @user_call
    def __call__(self, *values: Any, **named: Any) -> Any:
        """The module's outputs for these inputs, arrays or tensors of any library."""
        inputs = self._inputs.taken(values, named)
        if self._inputs.may_vary and self.refused is None:
            try:
                return self._called(self._inputs.tensors(inputs, with_variables=True))
            except CompileError as error:  # not all that a model does is possible with variables
                self.refused = error
        return self._called(self._inputs.tensors(inputs, with_variables=False))

    def _called(self, inputs: Mapping[str, Any]) -> Any:
        walk = _Walk({}, set())
        with in_module(self.name, kinds=[self.name]):
            results = self._graph(self._program.graph_module, {**self._held, **inputs}, walk)
        return self._finished(results, inputs)

    def _named(self, kind: str) -> dict[str, Tensor]:
        return {target: self._held[name] for name, target in targets(self._program, kind).items()}

    def _results(self) -> str:
        specs = self._program.graph_signature.output_specs
        names = {spec.arg.name for spec in specs if spec.kind.name == "USER_OUTPUT"}
        by_name = {node.name: node for node in self._program.graph.nodes}
        parts = []
        for name in (s.arg.name for s in specs if getattr(s.arg, "name", None) in names):
            value = description_of(by_name[name])
            if hasattr(value, "shape"):
                extents = list(map(self._inputs.extent, value.shape))
                parts.append(short(dtype_of(value.dtype, name), extents))
        return ", ".join(parts)

    def _check(self) -> None:
        """Raise `DataError` that lists every unsupported operator, with its count and first
        place."""
        missing: dict[str, list[Node]] = {}
        for node in _called_nodes(self._program.graph_module):
            if not _is_known(node.target):
                missing.setdefault(name_of(node.target), []).append(node)
        if missing:
            rows = (
                f"{len(nodes)} × {name} ({nodes[0].name}, {place_of(nodes[0]).described})"
                for name, nodes in sorted(missing.items())
            )
            raise unsupported("from_torch", "operators", "; ".join(rows), len(OPERATORS))
        for node in _called_nodes(self._program.graph_module):
            _check_arguments(node)

    def _graph(self, module: GraphModule, inputs: Mapping[str, Any], walk: _Walk) -> list[Any]:
        """The outputs of a graph for inputs by name."""
        for node in module.graph.nodes:
            match node.op:
                case "placeholder":
                    walk.values[node] = inputs[node.name]
                case "get_attr":
                    walk.values[node] = _attribute(module, node.target)
                case "call_function":
                    walk.values[node] = self._node(node, walk)
                case "output":
                    return list(_resolved(node.args[0], walk.values))
        raise AssertionError("a graph of torch.fx ends with its output")

    def _node(self, node: Node, walk: _Walk) -> Any:
        """The result of a node."""
        args = _resolved(node.args, walk.values)
        named = _resolved(node.kwargs, walk.values)
        operands = [n for n in node.all_input_nodes if isinstance(walk.values[n], Tensor)]
        is_constant = all(n in walk.constants for n in operands)
        if is_number_function(node.target):
            if is_constant and operands:
                walk.constants.add(node)
            return node.target(*args, **named)
        place = self._places.setdefault(node, place_of(node))
        call = Call(node, name_of(node.target), place.described)
        with (
            in_module(*place.names, kinds=place.kinds, run=place.run),
            called_at(call.name.partition(".")[0], place.lines),
        ):
            if call.name in _INNER:
                return self._inner(call, args, walk)
            function = function_of(node.target)
            assert function is not None
            result = _fitting(call, called(call, function, args, named))
        if is_constant and (folded := _folded(result)) is not None:
            walk.constants.add(node)
            return folded
        return result

    def _inner(self, call: Call, args: Sequence[Any], walk: _Walk) -> Any:
        """An operator that calls a graph, or one of two."""
        if call.name != "cond":
            place = next(n for n, each in enumerate(args) if hasattr(each, "graph"))
            return self._graph(args[place], _by_place(args[place], args[place + 1 :]), walk)
        condition, yes, no, operands = args
        if isinstance(condition, bool):
            chosen = yes if condition else no
            return self._graph(chosen, _by_place(chosen, operands), walk)
        both = [self._graph(each, _by_place(each, operands), walk) for each in (yes, no)]
        return [condition.where(a, b) for a, b in zip(*both, strict=True)]

    def _finished(self, outputs: Sequence[Any], inputs: Mapping[str, Any]) -> Any:
        """The outputs in the module's structure; updated buffers get their new values."""
        results, moved = [], []
        for spec, value in zip(self._program.graph_signature.output_specs, outputs, strict=True):
            kind = spec.kind.name
            if kind == "USER_OUTPUT":
                results.append(value)
            elif kind in ("BUFFER_MUTATION", "PARAMETER_MUTATION"):
                moved.append(({**self.parameters, **self.buffers}[spec.target], value))
            elif kind == "USER_INPUT_MUTATION":
                moved.append((inputs[spec.target], value))
            else:
                raise DataError("from_torch", "an output of this kind is not supported", got=kind,
                                expected="a result or a buffer")  # fmt: skip
        assign_together([(t, value.cast(t.dtype)) for t, value in moved])
        tensors = [each for each in results if isinstance(each, Tensor)]
        tensors += [target for target, _ in moved]
        if moved and all(has_data(leaf) for tensor in tensors for leaf in leaves(tensor)):
            tensors[0].realize(*tensors[1:])
        return _built(self._program.call_spec.out_spec, iter(results))


def _built(spec: Any, results: Iterator[Any]) -> Any:
    """The module's output structure, with our tensors as leaves.

    A class that only accepts PyTorch tensors (a cache) becomes a dict of its parts, or a tuple.
    """
    with loading():
        from torch.utils import _pytree as pytree
    if spec.is_leaf():
        return next(results)
    parts = [_built(each, results) for each in spec.children()]
    try:
        return pytree.SUPPORTED_NODES[spec.type].unflatten_fn(parts, spec.context)
    except Exception:  # whatever a constructor of the user's raises
        names = spec.context if isinstance(spec.context, list | tuple) else ()
        is_named = len(names) == len(parts) and all(isinstance(name, str) for name in names)
        return dict(zip(names, parts, strict=True)) if is_named else tuple(parts)


def _called_nodes(module: GraphModule) -> Iterator[Node]:
    """The nodes of a graph that call something, including those of inner graphs."""
    for node in module.graph.nodes:
        if node.op == "call_function":
            yield node
        elif node.op == "get_attr" and hasattr(inner := _attribute(module, node.target), "graph"):
            yield from _called_nodes(inner)


def _is_known(target: Any) -> bool:
    has_function = function_of(target) is not None or is_number_function(target)
    return has_function or name_of(target) in _INNER


def _check_arguments(node: Node) -> None:
    """Raise `DataError` for an argument that changes the result and that no function reads."""
    function = None if is_number_function(node.target) else function_of(node.target)
    name = name_of(node.target)
    if function is not None and (unread := unread_in(node, function, name)):
        raise refusal(Call(node, name, place_of(node).described), unread)


def _attribute(module: GraphModule, path: str) -> Any:
    return functools.reduce(getattr, path.split("."), module)


def _resolved(arguments: Any, values: Mapping[Node, Any]) -> Any:
    """Arguments with values in place of nodes."""
    with loading():
        from torch.fx.node import map_arg
    return map_arg(arguments, values.__getitem__)


def _by_place(module: GraphModule, operands: Sequence[Any]) -> dict[str, Any]:
    names = [node.name for node in module.graph.nodes if node.op == "placeholder"]
    return dict(zip(names, operands, strict=True))


def _fitting(call: Call, results: Any) -> Any:
    """Results in PyTorch's types. Raises `DataError` if a shape differs."""
    if isinstance(results, tuple | list):
        pairs = zip(results, call.values, strict=False)
        return [_fitted(call, each, value) for each, value in pairs]
    return _fitted(call, results, call.values[0])


def _fitted(call: Call, result: Any, value: Any) -> Any:
    if not isinstance(result, Tensor) or not hasattr(value, "shape"):
        return result
    said = tuple(n if isinstance(n, int) else None for n in value.shape)
    fits = len(said) == result.ndim and all(
        a is None or a == b for a, b in zip(said, result.shape, strict=True)
    )
    if not fits:
        raise call.refused("PyTorch says another shape", result.shape, str(tuple(value.shape)))
    dtype = dtype_of(value.dtype, call.name)
    return result if result.dtype == dtype else result.cast(dtype)


def _folded(result: Any) -> Any:
    """The value of a result that depends only on constants; None if it is too large, or not a
    tensor."""
    if not isinstance(result, Tensor) or result.size > MOST_COMPUTED or result.node.extents:
        return None
    return constant(computed([result])[0])


@located
def from_torch(
    module: Any, example_inputs: Any = None, kwargs: Mapping[str, Any] | None = None, *,
    dynamic_shapes: Any = None, trust: bool = False,
) -> TorchProgram:  # fmt: skip
    """A PyTorch module as a program, from a `torch.nn.Module` with example inputs, an
    `ExportedProgram`, or the path of a `.pt2` file.

    `example_inputs` are those of `forward`, a tuple or one tensor, and `kwargs` those by name;
    `dynamic_shapes` defines dynamic axes, all as for `torch.export`. Parameters and buffers share
    the module's memory. PyTorch may run code from a file: one with pickled objects is refused
    unless `trust`. Raises `DataError` for such a file, for objects that are not modules, for
    modules that cannot be exported, and for unsupported operators: all are listed, with their
    places.
    """
    name = _name_of(module)
    program = exported(module, example_inputs, kwargs, dynamic_shapes, trust)
    return TorchProgram(program, name, dynamic_shapes)


def _name_of(module: Any) -> str:
    with loading():
        import torch
    return type(module).__name__ if isinstance(module, torch.nn.Module) else ""
