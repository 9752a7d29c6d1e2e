"""Arguments of a node, bound by the schema of its operator to the parameters of a function.

    aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None)
    def clamp(call, x, /, min=None, max=None)

Parameters before `/` take arguments by place, all others by their names in the schema, with the
schema's defaults. An argument that no parameter takes is refused unless it is the default.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from compiler.imported.arguments import REQUIRED, Unread, first_refused, refusal
from compiler.imported.call import Extent, Results
from compiler.imported.torch.call import Call, Function, base_of
from compiler.imported.torch.graphs import Node

UNCHANGED: dict[str, str] = {
    "dtype": "the type of the result is that of PyTorch's description, `call.dtype`",
    "half_to_float": "the type of the result is that of PyTorch's description",
    "layout": "the values do not depend on the order in memory",
    "memory_format": "the values do not depend on the order in memory",
    "device": "the values do not depend on the device",
    "pin_memory": "the values do not depend on the kind of memory",
    "non_blocking": "the values do not depend on when they are copied",
    "copy": "an exported graph writes nothing in place",
    "sparse": "how the gradient is stored, not its values",
    "sparse_grad": "how the gradient is stored, not its values",
    "cudnn_enable": "which library computes",
    "cudnn_enabled": "which library computes",
    "stable": "every sort is stable",
    "assume_unique": "a promise that allows PyTorch a faster way to the same values",
    "expand.implicit": "marks a broadcast that PyTorch inserts",
    "expand_copy.implicit": "marks a broadcast that PyTorch inserts",
    "einsum.path": "the order of the products",
    "_trilinear.unroll_dim": "the order of the sums",
    "to.other": "the type of the result is that of PyTorch's description",
    "_autocast_to_reduced_precision.*": "they choose the type that PyTorch describes",
    "_autocast_to_full_precision.*": "they choose the type that PyTorch describes",
    "_reshape_alias.stride": "the values do not depend on the order in memory",
    "empty_permuted.physical_layout": "the values do not depend on the order in memory",
    "empty_strided.stride": "the values do not depend on the order in memory",
    "new_empty_strided.stride": "the values do not depend on the order in memory",
    "_scaled_dot_product_efficient_attention.compute_log_sumexp": "a result that only PyTorch's "
                                                                  "own gradient reads",
    "_native_batch_norm_legit_no_training.momentum": "the statistics do not move",
    "_native_batch_norm_legit.momentum": "there are no statistics that move",
    "_native_batch_norm_legit.training": "without statistics a batch has only its own",
    "_assert_tensor_metadata.*": "PyTorch checked it when it wrote the graph",
    "sym_constrain_range.*": "PyTorch checked it when it wrote the graph",
    "sym_constrain_range_for_size.*": "PyTorch checked it when it wrote the graph",
}  # fmt: skip
"""Arguments that cannot change a value, each with the reason: `argument`, `operator.argument`, or
`operator.*` for all of one operator."""


class Parameter(NamedTuple):
    """An argument of a schema."""

    name: str
    default: Any = REQUIRED


class Declared(NamedTuple):
    """The parameters of a function besides the call: the number of positional ones, and names."""

    operands: int
    names: frozenset[str]


def called(
    call: Call, function: Function, args: Sequence[Any], named: Mapping[str, Any]
) -> Results | Extent:
    """The result of a function for the arguments of a node. Raises `DataError` for an argument that
    it does not take."""
    operands: list[Any] = []
    by_name: dict[str, Any] = {}
    unread: list[Unread] = []
    declared = declared_by(function)
    for place, (parameter, value) in enumerate(_paired(call.node.target, args, named)):
        if place < declared.operands:
            operands.append(value)
        elif parameter.name in declared.names:
            by_name[parameter.name] = value
        else:
            unread.append(Unread(parameter.name, value, parameter.default))
    if refused := first_refused(unread, base_of(call.name), UNCHANGED):
        raise refusal(call, refused)
    return function(call, *operands, **by_name)


def unread_in(node: Node, function: Function, name: str) -> Unread | None:
    """The first argument of a node that the function does not take and that is not the default."""
    declared = declared_by(function)
    pairs = enumerate(_paired(node.target, node.args, node.kwargs))
    unread = (
        Unread(parameter.name, value, parameter.default) for place, (parameter, value) in pairs
        if place >= declared.operands and parameter.name not in declared.names
    )  # fmt: skip
    return first_refused(unread, base_of(name), UNCHANGED)


@cache
def declared_by(function: Function) -> Declared:
    """The parameters of a function besides the call."""
    kinds = [(p.name, p.kind) for p in inspect.signature(function).parameters.values()]
    by_place = [name for name, kind in kinds if kind is inspect.Parameter.POSITIONAL_ONLY]
    return Declared(len(by_place) - 1, frozenset(name for name, _ in kinds) - set(by_place))


@cache
def schema_of(target: Any) -> tuple[Parameter, ...]:
    """The arguments of an operator in order, with their defaults."""
    return tuple(
        Parameter(a.name, a.default_value if a.has_default_value() else REQUIRED)
        for a in target._schema.arguments
    )


def _paired(
    target: Any, args: Sequence[Any], named: Mapping[str, Any]
) -> Iterator[tuple[Parameter, Any]]:
    """Each argument of the schema with its value or default."""
    for place, parameter in enumerate(schema_of(target)):
        value = args[place] if place < len(args) else named.get(parameter.name, parameter.default)
        yield parameter, value
