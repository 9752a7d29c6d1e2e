"""Parameters and buffers of a module: tensors over the module's own memory."""

from typing import Any

from compiler.imported.torch.element_types import array_of
from compiler.imported.torch.graphs import Exported
from compiler.tensor import Tensor


def held(program: Exported) -> dict[str, Tensor]:
    """The parameters, buffers and constants that a graph reads, by the names of its inputs.

    A tensor that the module has under two names is one tensor.
    """
    with_memory: dict[tuple[Any, ...], Tensor] = {}
    tensors: dict[str, Tensor] = {}
    for spec in program.graph_signature.input_specs:
        if spec.kind.name not in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            continue
        value = program.state_dict.get(spec.target)
        if value is None:
            value = program.constants[spec.target]
        place = (value.data_ptr(), tuple(value.shape), tuple(value.stride()), str(value.dtype))
        if place not in with_memory or not value.numel():
            with_memory[place] = Tensor(array_of(value, spec.target), name=spec.target)
        tensors[spec.arg.name] = with_memory[place]
    return tensors


def targets(program: Exported, kind: str) -> dict[str, str]:
    """The module's names for inputs of a kind, by the inputs' names."""
    specs = program.graph_signature.input_specs
    return {spec.arg.name: spec.target for spec in specs if spec.kind.name == kind}
