"""NumPy's and PyTorch's names that tensors and packages do not have, and what to write instead.

A name that a tensor does not have raises an `AttributeError`, with the spelling from `INSTEAD`, the
reason from `ABSENT`, or the most similar name. Names that mean one of our methods are aliases, and
stand after that method in its class.
"""

from collections.abc import Sequence
from functools import cache
from inspect import getattr_static
from typing import Any

from compiler.core.errors import NameMistake
from compiler.core.keywords import nearest
from compiler.core.origin import caller

INSTEAD = {
    "addcmul": "a.mulacc(b, c)", "addmm": "x + a @ b", "argwhere": "x.nonzero()",
    "array": "Tensor(data)", "as_tensor": "Tensor(data)", "asarray": "Tensor(data)",
    "byte": 'x.cast("uint8")',
    "char": 'x.cast("int8")', "choose": "mask.where(yes, no), or x.gather(axis, index)",
    "compress": "x.masked_select(mask)", "copy": "x.clone()", "copy_": "x.assign(value)",
    "data": "x.detach(), or x.assign(value) to write it",
    "det": "np.linalg.det(x.numpy())", "dim": "x.ndim",
    "dstack": "a.stack(b, dim=2)", "dump": 'x.save("x.npy")', "eig": "np.linalg.eig(x.numpy())",
    "element_size": "x.dtype.itemsize", "empty": "Tensor.zeros(shape)",
    "empty_like": "x.zeros_like()", "expand_as": "x.expand(other.shape)",
    "fill": "x.assign(x.full_like(value))", "fill_": "x.assign(x.full_like(value))",
    "flat": "x.ravel()", "from_numpy": "Tensor(array)", "ger": "x.outer(other)",
    "H": "x.mT",
    "hsplit": "x.split(sizes, 1)", "hstack": "a.cat(b, dim=1)",
    "inv": "np.linalg.inv(x.numpy())", "inverse": "np.linalg.inv(x.numpy())",
    "is_cuda": "x.device", "itemsize": "x.dtype.itemsize", "layer_norm": "x.layernorm(axis)",
    "nbytes": "x.size * x.dtype.itemsize", "ndimension": "x.ndim", "nelement": "x.numel()",
    "new_full": "Tensor.full(shape, value, x.dtype)", "new_tensor": "Tensor(data, x.dtype)",
    "new_ones": "Tensor.ones(shape, dtype=x.dtype)", "partition": "x.sort()",
    "new_zeros": "Tensor.zeros(shape, dtype=x.dtype)", "ptp": "x.max(axis) - x.min(axis)",
    "put": "x.index_put(index, value)", "random": "Tensor.rand(shape)", "rank": "x.ndim",
    "reshape_as": "x.reshape(other.shape)", "resize": "x.pad(widths), or x.shrink(bounds)",
    "short": 'x.cast("int16")', "solve": "np.linalg.solve(a.numpy(), b.numpy())",
    "std_mean": "x.std(axis), x.mean(axis)", "svd": "np.linalg.svd(x.numpy())", "t": "x.T",
    "tensor": "Tensor(data)", "to_numpy": "x.numpy()", "tobytes": "x.numpy().tobytes()",
    "type": "x.cast(dtype), or x.dtype", "type_as": "x.cast(other.dtype)",
    "values": "x.max(axis), which gives values alone, or x.numpy()",
    "indices": "x.argmax(axis), x.argsort(axis)", "var_mean": "x.var(axis), x.mean(axis)",
    "view_as": "x.reshape(other.shape)", "vsplit": "x.split(sizes, 0)", "vstack": "a.cat(b)",
    "zero_": "x.assign(x.zeros_like())",
}  # fmt: skip
"""Names in other libraries without a method here, and what to write instead."""

_NO_COMPLEX = "there are no complex numbers here"
_NO_STRIDES = "every tensor is row-major: views are operations of the graph"
ABSENT = {
    "grad_fn": "the backward pass is in the program of x.grad: svodviz.explore(x.grad)",
    **dict.fromkeys(("conj", "imag", "real"), _NO_COMPLEX),
    **dict.fromkeys(("is_contiguous", "stride", "strides", "storage"), _NO_STRIDES),
    "cuda": 'there are no GPUs here; x.to("CPU:1") is another device',
}  # fmt: skip
"""Names with no equivalent, and the reason."""


_MODULES = {
    "compiler": {
        "default_type": "compiler.set_default_dtype(dtype)",
        "explore": "svodviz.explore(x)",
        "autograd": "x.backward(), x.gradient(w) or compiler.grad(f)",
    },
    "compiler.nn": {
        "functional": "nn.relu(x), nn.cross_entropy(x, y), …, or x.relu()",
        "init": "nn.Parameter(Tensor.uniform(…)), or Tensor.randn(…)",
        "utils": "compiler.optim.clip_grad_norm(parameters, max_norm)",
    },
    "compiler.optim": {
        "lr_scheduler": "optim.Schedule(optimizer, optim.cosine(1000))",
        "StepLR": "optim.Schedule(optimizer, optim.steps(30))",
        "ExponentialLR": "optim.Schedule(optimizer, optim.exponential(0.9))",
        "CosineAnnealingLR": "optim.Schedule(optimizer, optim.cosine(1000))",
        "OneCycleLR": "optim.Schedule(optimizer, optim.one_cycle(1000))",
        "clip_grad_norm_": "optim.clip_grad_norm(parameters, max_norm)",
    },
    "svodviz": {
        **dict.fromkeys(("Tensor", "compile", "prepare", "Options"), "from compiler import {}"),
        "show": "svodviz.explore(x)",
        "visualize": "svodviz.explore(x)",
    },
}
"""Names that a package does not have, and what to write instead."""


def missing_name(module: str, name: str, known: Sequence[str], tensor: type) -> AttributeError:
    """The error for a name that a package does not have."""
    instead = _MODULES[module].get(name, "").format(name) or INSTEAD.get(name, "")
    hint = f"write {instead}" if instead else nearest(name, known)
    if not hint and hasattr(tensor, name):
        is_of_class = isinstance(getattr_static(tensor, name, None), classmethod | staticmethod)
        hint = f"write {'Tensor' if is_of_class else 'x'}.{name}(...): it is a method of tensors"
    return _mistake(module, name, f"a name of {module}: dir({module}) has them all", hint)


def _mistake(owner: str, name: str, expected: str, hint: str) -> NameMistake:
    what = f"there is no attribute {name}"
    return NameMistake(owner, what, got=name, expected=expected, hint=hint, origin=caller(name, 3))


class Named(type):
    """The metaclass of tensors: `Tensor.name` raises the same error as `x.name`."""

    def __getattr__(cls, name: str) -> Any:
        raise missing(cls, name)


def missing(cls: type, name: str) -> AttributeError:
    """The error for an attribute that `cls` does not have. For private names, which Python, IPython
    and `copy` probe, it is short and cheap to make."""
    kind = cls.__name__
    if name.startswith("_"):
        return AttributeError(f"{kind!r} object has no attribute {name!r}")
    expected = f"an attribute of {kind}: dir({kind}) has them all"
    return _mistake(kind, name, expected, _hint(cls, name))


@cache
def _hint(cls: type, name: str) -> str:
    """A hint with the name that `name` was probably meant to be."""
    known = [each for each in dir(cls) if not each.startswith("_")]
    if name in INSTEAD:
        return f"write {INSTEAD[name]}"
    if name.endswith("_") and name[:-1] in known:
        return f"operations give a new tensor: x = x.{name[:-1]}(...), or x.assign(...)"
    return ABSENT.get(name, "") or nearest(name, known)
