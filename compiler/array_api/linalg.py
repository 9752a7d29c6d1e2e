"""The extension `linalg`: products are ours, decompositions NumPy's, which call LAPACK.

A decomposition is a host call between two kernels (`custom.host`), lazy like all operations. Its
results are packed into one row, so that one call serves all of them:

    x [3, 2]  ── svd ──▶  row [9 + 2 + 4]  ──▶  U [3, 3], S [2], Vh [2, 2]
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from compiler import custom
from compiler.array_api.arguments import tensor
from compiler.array_api.linear import matmul, matrix_transpose, tensordot, vecdot
from compiler.core import dtypes
from compiler.core.dtypes import Array, DType
from compiler.core.errors import DataError, DTypeError, ShapeError
from compiler.core.keywords import public
from compiler.tensor import Tensor
from compiler.tensors.shapes import axes_of, broadcast, written

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve",
    "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip

Shape: TypeAlias = tuple[int, ...]
Type: TypeAlias = DType | None
Order: TypeAlias = float | Literal["fro", "nuc"] | None


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """An orthogonal matrix Q and an upper triangular matrix R."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """Matrices U and Vh of singular vectors, and the singular values S."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _floats(operation: str, value: object, is_square: bool = False) -> Tensor:
    """A stack of float matrices, square if `is_square`."""
    x = tensor(operation, value)
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise DTypeError(operation, "only floats can be decomposed", got=str(x.dtype),
                         expected="float32 or float64", hint="xp.astype converts")  # fmt: skip
    if x.ndim < 2 or (is_square and x.shape[-1] != x.shape[-2]):
        expected = "(…, n, n)" if is_square else "(…, rows, columns)"
        raise ShapeError(operation, "no matrix" if x.ndim < 2 else "the matrix is not square",
                         got=written(x.shape), expected=expected)  # fmt: skip
    return x


def _row(*parts: Array) -> Array:
    return np.concatenate([part.reshape(-1) for part in parts])


def _unpacked(row: Tensor, *shapes: Shape) -> list[Tensor]:
    """The parts of a packed row, reshaped to `shapes`."""
    ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
    return [
        row[end - math.prod(shape) : end].reshape(shape)
        for shape, end in zip(shapes, ends, strict=True)
    ]


# Host calls.


@custom.host(name="cholesky")
def _cholesky(x: Array, upper: bool) -> Array:
    lower = np.linalg.cholesky(x)
    return np.ascontiguousarray(np.swapaxes(lower, -1, -2)) if upper else lower


@custom.host(name="inverse")
def _inv(x: Array) -> Array:
    return np.linalg.inv(x)


@custom.host(name="determinant", shape=lambda shape: shape[:-2])
def _det(x: Array) -> Array:
    return np.asarray(np.linalg.det(x))


@custom.host(name="sign_and_log_determinant", shape=lambda shape: 2 * math.prod(shape[:-2]))
def _slogdet(x: Array) -> Array:
    return _row(*map(np.asarray, np.linalg.slogdet(x)))


@custom.host(name="eigenvalues", shape=lambda shape: shape[:-1])
def _eigvalsh(x: Array) -> Array:
    return np.linalg.eigvalsh(x)


@custom.host(name="eigenvectors", shape=lambda s: math.prod(s) + math.prod(s[:-1]))
def _eigh(x: Array) -> Array:
    return _row(*np.linalg.eigh(x))


@custom.host(
    name="orthogonal_and_triangle",
    shape=lambda s, mode: sum(map(math.prod, _shapes_of_qr(s, mode))),
)
def _qr(x: Array, mode: Literal["reduced", "complete"]) -> Array:
    return _row(*np.linalg.qr(x, mode=mode))


@custom.host(name="solve", shape=lambda a, b, is_row: b)
def _solve(a: Array, b: Array, is_row: bool) -> Array:
    return np.linalg.solve(a, b[..., None])[..., 0] if is_row else np.linalg.solve(a, b)


@custom.host(
    name="singular_vectors", shape=lambda s, full: sum(map(math.prod, _shapes_of_svd(s, full)))
)
def _svd(x: Array, full: bool) -> Array:
    return _row(*np.linalg.svd(x, full_matrices=full))


@custom.host(name="singular_values", shape=lambda shape: (*shape[:-2], min(shape[-2:])))
def _svdvals(x: Array) -> Array:
    return np.linalg.svd(x, compute_uv=False)


def _shapes_of_qr(shape: Shape, mode: str) -> tuple[Shape, Shape]:
    *stack, rows, columns = shape
    inner = rows if mode == "complete" else min(rows, columns)
    return (*stack, rows, inner), (*stack, inner, columns)


def _shapes_of_svd(shape: Shape, full: bool) -> tuple[Shape, Shape, Shape]:
    *stack, rows, columns = shape
    inner = min(rows, columns)
    left, right = (rows, columns) if full else (inner, inner)
    return (*stack, rows, left), (*stack, inner), (*stack, right, columns)


# The functions of the standard.


@public
def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The Cholesky factor: the lower triangular matrix L with L @ Lᵀ = x, or the upper one."""
    return _cholesky(_floats("cholesky", x, is_square=True), upper=bool(upper))


@public
def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The cross product along an axis of extent 3, counted from the last."""
    return tensor("cross", x1).cross(tensor("cross", x2), axis)


@public
def det(x: Tensor, /) -> Tensor:
    """The determinants of a stack of matrices."""
    return _det(_floats("det", x, is_square=True))


@public
def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """The diagonals of the last two axes."""
    return tensor("diagonal", x).diagonal(offset, -2, -1)


@public
def eigh(x: Tensor, /) -> EighResult:
    """Eigenvalues in ascending order, and eigenvectors, of symmetric matrices."""
    x = _floats("eigh", x, is_square=True)
    return EighResult(*_unpacked(_eigh(x), x.shape[:-1], x.shape))


@public
def eigvalsh(x: Tensor, /) -> Tensor:
    """Eigenvalues of symmetric matrices in ascending order."""
    return _eigvalsh(_floats("eigvalsh", x, is_square=True))


@public
def inv(x: Tensor, /) -> Tensor:
    """The inverse matrices."""
    return _inv(_floats("inv", x, is_square=True))


@public
def matrix_norm(
    x: Tensor, /, *, keepdims: bool = False, ord: Order = "fro"
) -> Tensor:  # fmt: skip
    """Matrix norms: "fro", "nuc", 1, 2, inf, and their negative forms."""
    x = _floats("matrix_norm", x)
    rank = x.ndim
    if ord == "fro":
        found = x.square().sum((rank - 2, rank - 1)).sqrt()
    elif ord == "nuc":
        found = _svdvals(x).sum(-1)
    elif isinstance(ord, int | float) and abs(ord) in (1, 2, math.inf):
        sizes = _svdvals(x) if abs(ord) == 2 else x.abs().sum(-2 if abs(ord) == 1 else -1)
        found = sizes.max(-1) if ord > 0 else sizes.min(-1)
    else:
        raise DataError("matrix_norm", "no such norm", got=repr(ord),
                        expected="'fro', 'nuc', 1, 2, inf or their negatives")  # fmt: skip
    return found.reshape(*x.shape[:-2], 1, 1) if keepdims else found


@public
def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """The matrix power: the product of `n` factors `x`, or of its inverse for negative `n`."""
    x = tensor("matrix_power", x) if n >= 0 else inv(x)
    result, factor, left = None, x, abs(n)
    while left:
        if left % 2:
            result = factor if result is None else result @ factor
        factor, left = factor @ factor, left // 2
    return result if result is not None else Tensor.eye(x.shape[-1], dtype=x.dtype).expand(x.shape)


@public
def matrix_rank(x: Tensor, /, *, rtol: "float | Tensor | None" = None) -> Tensor:
    """The number of singular values greater than `rtol` times the largest one, int64."""
    x = _floats("matrix_rank", x)
    return _above(_svdvals(x), rtol, x).cast(dtypes.int64).sum(-1)


def _above(values: Tensor, rtol: "float | Tensor | None", x: Tensor) -> Tensor:
    """A mask of the singular values of `x` greater than `rtol` times the largest one."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(np.finfo(x.dtype.numpy).eps)
    share = rtol.unsqueeze(-1) if isinstance(rtol, Tensor) and rtol.ndim else rtol
    if not values.shape[-1]:
        return values.gt(0)
    return values.gt(values.max(-1, keepdim=True).mul(share))


@public
def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The outer product of two vectors."""
    return tensor("outer", x1).outer(tensor("outer", x2))


@public
def pinv(x: Tensor, /, *, rtol: "float | Tensor | None" = None) -> Tensor:
    """The pseudo-inverse; singular values up to `rtol` times the largest one count as 0."""
    x = _floats("pinv", x)
    left, values, right = svd(x, full_matrices=False)
    inverse = _above(values, rtol, x).where(values.reciprocal(), 0)
    return right.mT.mul(inverse.unsqueeze(-2)) @ left.mT


@public
def qr(x: Tensor, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """The QR decomposition: an orthogonal and an upper triangular matrix with product `x`."""
    if mode not in ("reduced", "complete"):
        expected = "'reduced' or 'complete'"
        raise DataError("qr", "no such mode", got=repr(mode), expected=expected)
    x = _floats("qr", x)
    return QRResult(*_unpacked(_qr(x, mode=mode), *_shapes_of_qr(x.shape, mode)))


@public
def slogdet(x: Tensor, /) -> SlogdetResult:
    """The signs of determinants, and the logarithms of their absolute values."""
    x = _floats("slogdet", x, is_square=True)
    return SlogdetResult(*_unpacked(_slogdet(x), x.shape[:-2], x.shape[:-2]))


@public
def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solution of `x1 @ solution = x2`, where `x2` is a vector or a stack of matrices."""
    a, b = _floats("solve", x1, is_square=True), tensor("solve", x2)
    dtype = dtypes.promote(a.dtype, b.dtype)
    is_row = b.ndim == 1
    own = b.shape[-1:] if is_row else b.shape[-2:]
    if not own or own[0] != a.shape[-1]:
        raise ShapeError("solve", "the right-hand side has another number of rows",
                         got=f"{written(a.shape)} and {written(b.shape)}",
                         expected=f"{a.shape[-1]} rows")  # fmt: skip
    lead = _stack_of(a.shape[:-2], () if is_row else b.shape[:-2])
    a, b = a.cast(dtype), b.cast(dtype).broadcast_to(*lead, *own)
    return _solve(a, b, is_row=is_row)


def _stack_of(*shapes: Shape) -> Shape:
    """The shape that stacks of matrices broadcast to."""
    return broadcast("solve", *(Tensor.zeros(shape).node for shape in shapes))


@public
def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular value decomposition; singular values in descending order."""
    x, full = _floats("svd", x), bool(full_matrices)
    return SVDResult(*_unpacked(_svd(x, full=full), *_shapes_of_svd(x.shape, full)))


@public
def svdvals(x: Tensor, /) -> Tensor:
    """Singular values in descending order."""
    return _svdvals(_floats("svdvals", x))


@public
def trace(x: Tensor, /, *, offset: int = 0, dtype: Type = None) -> Tensor:
    """The sums of the diagonals of the last two axes."""
    return diagonal(x, offset=offset).sum(-1, dtype=dtype)


@public
def vector_norm(
    x: Tensor, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False,
    ord: float = 2,
) -> Tensor:  # fmt: skip
    """Vector norms along `axis`, one, several or all: 2, 1, inf, -inf, 0 or any other power."""
    x = tensor("vector_norm", x)
    axes = axes_of("vector_norm", axis, x.ndim)
    size = x.abs()
    if ord == 0:
        return x.count_nonzero(axes, keepdims).cast(x.dtype)
    if ord == 1:
        return size.sum(axes, keepdims)
    if ord == 2:
        return x.square().sum(axes, keepdims).sqrt()
    if abs(ord) == math.inf:
        return size.max(axes, keepdims) if ord > 0 else size.min(axes, keepdims)
    return size.pow(float(ord)).sum(axes, keepdims).pow(1 / float(ord))
