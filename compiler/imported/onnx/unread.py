"""Attributes and inputs of a node that its function did not read: refused.

Each is refused unless it has the default of the operator's schema, or is in `UNCHANGED`.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from compiler.core.lazy import loading
from compiler.imported.arguments import REQUIRED, Unread, first_refused, refusal
from compiler.imported.onnx.call import Call

if TYPE_CHECKING:
    from onnx import AttributeProto

UNCHANGED: dict[str, str] = {
    "consumed_inputs": "old versions' permission to write in place",
    "If.then_branch": "only the branch of the condition is computed",
    "If.else_branch": "only the branch of the condition is computed",
    "Dropout.ratio": "outside of training nothing is dropped",
    "Dropout.seed": "outside of training nothing is dropped",
    "Dropout.input 1": "outside of training nothing is dropped",
    "BatchNormalization.is_test": "the number of outputs says it",
    "BatchNormalization.momentum": "outside of training the statistics do not move",
    "Cast.saturate": "only types of few bits are held, and their casts ask for it",
    "CastLike.saturate": "only types of few bits are held, and their casts ask for it",
    "Cast.round_mode": "only powers of two are rounded so, and their casts ask for it",
    "CastLike.round_mode": "only powers of two are rounded so, and their casts ask for it",
    "Gemm.broadcast": "a shape that fits needs no permission",
    "RNN.output_sequence": "which results exist, not their values",
    "GRU.output_sequence": "which results exist, not their values",
    "LSTM.output_sequence": "which results exist, not their values",
    "MatMulNBits.accuracy_level": "how inexact a product may be: it is one of floats",
}
"""Attributes and inputs that cannot change a value, each with the reason: `name`, `operator.name`,
`operator.input n`."""


def check_unread(call: Call, function: Callable[..., Any] | None, domain: str) -> None:
    """Raise `DataError` for the first attribute or input that was not read and is not the
    default."""
    names = [name for name in call.attributes if name not in call.reads.names]
    defaults = defaults_of(call.op, call.version, domain) if names else {}
    unread = [Unread(n, call.attributes[n], defaults.get(n, REQUIRED)) for n in names]
    if refused := first_refused((*unread, *_inputs(call, function)), call.op, UNCHANGED):
        raise refusal(call, refused)


def _inputs(call: Call, function: Callable[..., Any] | None) -> Iterator[Unread]:
    declared = declared_by(function) if function is not None else None
    for place, value in enumerate(call.inputs):
        is_read = declared is None or place in call.reads.places or declared(place)
        if value is not None and not is_read:
            tensor = value.tensor
            yield Unread(f"input {place}", f"{tensor.dtype} {tensor.shape}")


@cache
def declared_by(function: Callable[..., Any]) -> Callable[[int], bool]:
    """True for an input that a function computes with as a tensor. Parameters that begin with `_`
    are read as numbers, if at all."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    named = [not p.name.startswith("_") for p in parameters]
    many = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL
    rest = many and named[-1]
    return lambda place: named[place] if place < len(named) else rest


@cache
def defaults_of(op: str, version: int, domain: str) -> dict[str, Any]:
    """The defaults of an operator's attributes in a version; none for another domain."""
    with loading():
        import onnx
    try:
        schema = onnx.defs.get_schema(op, version, domain)
    except onnx.defs.SchemaError:
        return {}
    return {
        name: plain(each.default_value) for name, each in schema.attributes.items()
        if each.default_value.name
    }  # fmt: skip


def plain(attribute: "AttributeProto") -> Any:
    """The value of an attribute; bytes as text."""
    with loading():
        from onnx import helper
    value = helper.get_attribute_value(attribute)
    return value.decode() if isinstance(value, bytes) else value
