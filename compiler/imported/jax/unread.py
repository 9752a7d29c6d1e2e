"""Parameters of an equation that its function did not read: refused, unless they are in
`UNCHANGED`, are None or empty, or have the value in `USUAL`. JAX's parameters have no defaults."""

from compiler.imported.arguments import Unread, first_refused, refusal
from compiler.imported.jax.call import Call

_OF_A_CALL = "its jaxpr is computed; these only control how JAX compiles it"
_OF_DERIVATIVES = "the derivatives of JAX's own transformations, which are applied before"
UNCHANGED: dict[str, str] = {
    "sharding": "where values are kept",
    "out_sharding": "where values are kept",
    "memory_space": "where values are kept",
    "weak_type": "how JAX has chosen types, which each equation says",
    "accuracy": "how inexact a function may be: it is exact within a few units in the last place",
    "precision": "how inexact a product may be: it is one of whole floats",
    "indices_are_sorted": "a promise that allows JAX a faster way to the same values",
    "unique_indices": "a promise that allows JAX a faster way to the same values",
    "is_stable": "every sort is stable",
    "unroll": "how a loop is compiled",
    "broadcast_in_dim.shape": "the shape of the result, which the equation says",
    "iota.shape": "the shape of the result, which the equation says",
    "iota.dtype": "the type of the result, which the equation says",
    "iota_2x32_shape.shape": "the shape of the result, which the equation says",
    "empty.dtype": "the type of the result, which the equation says",
    "empty2.dtype": "the type of the result, which the equation says",
    "empty.shape": "the shape of the result, which the equation says",
    "empty2.shape": "the shape of the result, which the equation says",
    "reshape.new_sizes": "the shape of the result, which the equation says",
    "squeeze.dimensions": "the shape of the result, which the equation says",
    "expand_dims.dimensions": "the shape of the result, which the equation says",
    "broadcast_to.shape": "the shape of the result, which the equation says",
    "gather.fill_value": "only a mode that fills asks for it",
    "reduce.computation": "the function that its jaxpr was made of",
    "cond.branches_platforms": "the platform chooses the branch, by an equation before",
    "qr.use_magma": "which library computes",
    "triangular_solve.conjugate_a": "tensors are real",
    "approx_top_k.recall_target": "how many of the greatest may be missed: none is",
    "approx_top_k.reduction_input_size_override": "how many of the greatest may be missed",
    "approx_top_k.aggregate_to_topk": "another number of results has another shape",
    **{f"{name}.*": _OF_A_CALL for name in (
        "jit", "pjit", "closed_call", "core_call", "call", "remat", "remat2", "checkpoint",
        "custom_vmap_call", "custom_lin", "shard_map",
    )},
    **{f"{name}.*": _OF_DERIVATIVES for name in (
        "custom_jvp_call", "custom_vjp_call", "custom_jvp_call_jaxpr", "custom_vjp_call_jaxpr",
    )},
    "debug_print.*": "printing returns no value",
    "debug_callback.*": "printing returns no value",
    "name.name": "a name for a policy of saving",
    "device_put.*": "where values are kept",
    "sharding_constraint.*": "where values are kept",
}  # fmt: skip
"""Parameters that cannot change a value, each with the reason: `name`, `primitive.name`, or
`primitive.*` for all of one primitive."""
USUAL: dict[str, str] = {"random_wrap.impl": "fry"}
"""The only accepted value of a parameter."""


def check_unread(call: Call) -> None:
    """Raise `DataError` for the first parameter that was not read and could change the result."""
    unread = (
        Unread(name, value, _default(f"{call.op}.{name}", value))
        for name, value in call.attributes.items() if name not in call.reads.names
    )  # fmt: skip
    if refused := first_refused(unread, call.op, UNCHANGED):
        raise refusal(call, refused)


def _default(key: str, value: object) -> object:
    """The value itself if it is accepted: that in `USUAL`, or an empty one."""
    if key in USUAL:
        return value if str(value) == USUAL[key] else USUAL[key]
    is_empty = value is None or value is False or (isinstance(value, tuple | list) and not value)
    return value if is_empty else None
