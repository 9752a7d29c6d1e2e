"""Equations that call inner programs: calls, branches.

Of a branch with a known condition only the chosen side is computed; otherwise all sides are, and
one is selected.
"""


from compiler.imported.call import Results
from compiler.imported.jax.call import Call, primitive
from compiler.imported.jax.elementwise import select
from compiler.imported.jax.jaxprs import opened
from compiler.ops.composed import of_nothing
from compiler.tensor import Tensor

_OF_JAX = "/jax/_src/"
"""A part of the paths of JAX's own functions."""
BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr", "call", "callee")
"""Parameters that hold the called program, in this order of preference."""
IGNORED = ("debug_callback", "debug_print", "dce_sink")
"""Primitives that print at run time have no value: they are omitted."""


@primitive("jit", "pjit", "closed_call", "core_call", "call", "remat", "remat2", "checkpoint",
           "remat_opt", "custom_vmap_call", "composite", "xla_call", "linear_call",
           "custom_lin")  # fmt: skip
def called(call: Call, *operands: Tensor) -> list[Tensor]:
    """The called program, inlined in place of the call."""
    for name in BODIES:
        if call.get(name) is not None:
            return call.inline(call[name], operands)
    raise call.refused("its called function is unknown", ", ".join(call.attributes), "a jaxpr")


@primitive("custom_jvp_call", "custom_jvp_call_jaxpr", "custom_vjp_call", "custom_vjp_call_jaxpr")
def with_derivative(call: Call, *operands: Tensor) -> Results:
    """The called program. A user-defined derivative is Python code in JAX, so asking for it raises
    an error; the derivatives of JAX's own functions are those of their operations."""
    results = called(call, *operands)
    body, _ = opened(next(call.attributes[n] for n in BODIES if call.attributes.get(n) is not None))
    name, _, source = str(body.debug_info.func_src_info).partition(" at ")
    if _OF_JAX in source.replace("\\", "/"):
        bent = {"relu": "relu", "relu6": "relu6"}.get(name)  # our derivatives at kinks are the same
        return [getattr(operands[0], bent)()] if bent else results
    return [y._ruled(of_nothing, y) for y in results]


@primitive("custom_linear_solve")
def linear_solve(call: Call, *operands: Tensor) -> Results:
    """The user's solver, with its own constants."""
    counts, bodies = call["const_lengths"], call["jaxprs"]
    lengths = [counts.matvec, counts.vecmat, counts.solve, counts.transpose_solve]
    begin = lengths[0] + lengths[1]
    constants = operands[begin : begin + lengths[2]]
    return call.inline(bodies.solve, [*constants, *operands[sum(lengths) :]])


@primitive(*IGNORED)
def ignored(_call: Call, *_operands: Tensor) -> Results:
    """No result."""
    return ()


@primitive("cond")
def branches(call: Call, which: Tensor, *operands: Tensor) -> Results:
    """One of several programs."""
    bodies = call["branches"]
    value = call.known(which)
    if value is not None:
        number = min(max(int(value.item()), 0), len(bodies) - 1)
        return call.inline(bodies[number], operands)
    results = [call.inline(body, operands) for body in bodies]
    return [select(call, which, *cases) for cases in zip(*results, strict=True)]


@primitive("platform_index")
def platform(call: Call) -> Tensor:
    """The number of the platform's program: one for the CPU, or one for all."""
    platforms = call["platforms"]
    for number, names in enumerate(platforms):
        if names is None or "cpu" in names:
            return Tensor(number, dtype=call.dtype)
    raise call.refused("there is no program for the CPU", platforms, "one for cpu")
