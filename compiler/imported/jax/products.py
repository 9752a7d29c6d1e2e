"""Matrix products."""

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.imported.jax.call import Call, primitive
from compiler.imported.jax.element_types import dtype_of
from compiler.tensor import Tensor

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def summed_in(call: Call, x: Tensor, y: Tensor) -> DType:
    """The type to multiply and accumulate in: that of the result if it is wider."""
    preferred = call.get("preferred_element_type")
    common = x.dtype if x.dtype == y.dtype else dtypes.promote(x.dtype, y.dtype)
    if preferred is None:
        return common
    wanted = dtype_of(preferred, call.op)
    return wanted if wanted.bits >= common.bits or wanted.is_float != common.is_float else common


@primitive("dot_general")
def dot(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """Sums of products over contracted axes, for each index of the batch axes."""
    (of_x, of_y), (batch_x, batch_y) = call["dimension_numbers"]
    dtype = summed_in(call, x, y)
    x, y = x.cast(dtype), y.cast(dtype)
    letters = iter(LETTERS)
    names: dict[tuple[str, int], str] = {}
    for pairs in ((batch_x, batch_y), (of_x, of_y)):
        for a, b in zip(*pairs, strict=True):
            names["x", a] = names["y", b] = next(letters)
    if x.ndim + y.ndim - len(names) // 2 > len(LETTERS):
        raise call.refused("too many axes", f"{x.shape} and {y.shape}", f"{len(LETTERS)} axes")
    for side, tensor in (("x", x), ("y", y)):
        for axis in range(tensor.ndim):
            if (side, axis) not in names:
                names[side, axis] = next(letters)
    left, right = ("".join(names[s, a] for a in range(t.ndim)) for s, t in (("x", x), ("y", y)))
    summed = {names["x", a] for a in of_x}
    batch = "".join(names["x", a] for a in batch_x)
    rest = "".join(n for n in left + right if n not in summed and n not in batch)
    if not x.ndim or not y.ndim:
        return x.mul(y).cast(call.dtype)
    return Tensor.einsum(f"{left},{right}->{batch}{rest}", x, y).cast(call.dtype)


@primitive("ragged_dot_general")
def ragged(call: Call, x: Tensor, y: Tensor, sizes: Tensor) -> Tensor:
    """Groups of rows [m, k], each multiplied by its own matrix of [groups, k, n]; rows after the
    last group give 0. Every row is multiplied by every matrix."""
    numbers = call["ragged_dot_dimension_numbers"]
    (of_x, of_y), batch = numbers.dot_dimension_numbers
    axes = (tuple(of_x), tuple(of_y), tuple(map(tuple, batch)),
             tuple(numbers.lhs_ragged_dimensions), tuple(numbers.rhs_group_dimensions))  # fmt: skip
    if axes != ((1,), (1,), ((), ()), (0,), (0,)) or call.get("group_offset") is not None:
        raise call.refused("this place of the axes is not supported", numbers,
                           "rows [m, k] and matrices [groups, k, n]")  # fmt: skip
    dtype = summed_in(call, x, y)
    ends = sizes.cumsum(0).unsqueeze(1)
    rows = Tensor.arange(x.shape[0]).unsqueeze(0)
    is_in = rows.lt(ends).bitwise_and(rows.ge(ends.sub(sizes.unsqueeze(1))))
    parts = is_in.unsqueeze(2).where(x.cast(dtype).unsqueeze(0), 0)
    return Tensor.einsum("gmk,gkn->mn", parts, y.cast(dtype)).cast(call.dtype)
