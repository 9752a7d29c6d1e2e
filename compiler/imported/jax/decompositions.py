"""Matrix decompositions, column by column: for matrices of hundreds of rows, not thousands.

Each step reads the whole matrix: n steps of n² elements, in the order of LAPACK's unblocked
routines. Leading axes are merged into one.
"""

import math
from collections.abc import Callable, Sequence

from compiler.imported.axes import indices_along
from compiler.imported.call import Results
from compiler.imported.jax.call import Call, primitive
from compiler.imported.jax.loops import MOST_WRITTEN_OUT
from compiler.imported.jax.picking import read_at
from compiler.tensor import Tensor
from compiler.tensors.repeat import repeat

_IN_A_STEP = 10
"""The approximate number of operations of a step, to decide whether steps are unrolled."""


def _steps(count: int, step: Callable[..., Sequence[Tensor]], *first: Tensor) -> Sequence[Tensor]:
    """The states after `count` steps."""
    states: Sequence[Tensor] = first
    if count * _IN_A_STEP > MOST_WRITTEN_OUT:
        last = repeat(count, lambda k, *before: tuple(step(k, *before)), *first)
        return last if isinstance(last, tuple) else (last,)
    for number in range(count):
        states = step(Tensor(number), *states)
    return states


def _stack(x: Tensor) -> Tensor:
    """[…, m, n] as [matrices, m, n]."""
    return x.reshape(math.prod(x.shape[:-2]), *x.shape[-2:])


def _column(x: Tensor, k: Tensor) -> Tensor:
    """[matrices, m, 1]: column k."""
    shape = (*x.shape[:2], 1)
    return read_at(x, [indices_along(x.shape, 0), indices_along(x.shape, 1), k], shape)


def _row(x: Tensor, k: Tensor) -> Tensor:
    """[matrices, 1, n]: row k."""
    shape = (x.shape[0], 1, x.shape[2])
    return read_at(x, [indices_along(x.shape, 0), k, indices_along(x.shape, 2)], shape)


@primitive("cholesky")
def cholesky(call: Call, x: Tensor) -> Tensor:
    """The Cholesky factor, a lower triangular matrix; NaN if there is none."""
    a = _stack(x)
    rows, columns = indices_along(a.shape, 1), indices_along(a.shape, 2)

    def step(k: Tensor, lower: Tensor) -> Sequence[Tensor]:
        rest = _column(a, k).sub(lower.matmul(_row(lower, k).mT))
        root = _row(rest, k).sqrt()
        new = rows.lt(k).where(0, rows.eq(k).where(root, rest.div(root)))
        return (columns.eq(k).where(new, lower),)

    (lower,) = _steps(a.shape[1], step, a.zeros_like())
    is_real = lower.isfinite().all((1, 2), keepdim=True)
    factor = is_real.where(lower, rows.ge(columns).where(math.nan, 0.0)).cast(x.dtype)
    return factor.reshape(*call.shape)


@primitive("triangular_solve")
def triangular_solve(call: Call, a: Tensor, b: Tensor) -> Tensor:
    """The solution of a x = b, or of x a = b, for triangular a."""
    lower = bool(call["lower"])
    a, x = _stack(a), _stack(b)
    if not call["left_side"]:
        a, x, lower = a.mT, x.mT, not lower
    if call["transpose_a"]:
        a, lower = a.mT, not lower
    if not lower:  # from below: the last unknown first
        a, x = a.flip(1, 2), x.flip(1)
    right, rows = x, indices_along(x.shape, 1)
    is_unit = bool(call["unit_diagonal"])

    def step(k: Tensor, solved: Tensor) -> Sequence[Tensor]:
        row = _row(a, k)
        earlier = indices_along(row.shape, 2).lt(k).where(row, 0)
        rest = _row(right, k).sub(earlier.matmul(solved))
        new = rest if is_unit else rest.div(_column(row, k))
        return (rows.eq(k).where(new, solved),)

    (solution,) = _steps(x.shape[1], step, x.zeros_like())
    solution = solution if lower else solution.flip(1)
    return (solution if call["left_side"] else solution.mT).reshape(*call.shape)


@primitive("lu")
def lu(call: Call, x: Tensor) -> Results:
    """The LU decomposition with pivoting: both triangular matrices in one, the pivots, and the
    permutation."""
    a = _stack(x)
    count, m, n = a.shape
    size = min(m, n)
    rows, columns = indices_along(a.shape, 1), indices_along(a.shape, 2)

    def step(k: Tensor, a: Tensor, pivots: Tensor, order: Tensor) -> Sequence[Tensor]:
        best = rows.lt(k).where(-1, _column(a, k).abs()).reshape(count, m).argmax(1)
        best = best.reshape(count, 1, 1)
        source = rows.eq(k).where(best, rows.eq(best).where(k, rows))
        a = read_at(a, [indices_along(a.shape, 0), source, columns], a.shape)
        order = read_at(order, [indices_along(order.shape, 0), source, Tensor(0)], order.shape)
        pivots = indices_along(pivots.shape, 1).eq(k).where(best.cast(pivots.dtype), pivots)
        top = _row(a, k)
        pivot = _column(top, k)
        factor = pivot.eq(0).where(_column(a, k), _column(a, k).div(pivot))
        new = columns.eq(k).where(factor, columns.gt(k).where(a.sub(factor.mul(top)), a))
        return rows.gt(k).where(new, a), pivots, order

    begin = Tensor.full((count, size, 1), 0, "int32")
    first = Tensor.arange(m).cast("int32").reshape(1, m, 1).expand(count, m, 1)
    both, pivots, order = _steps(size, step, a, begin, first)
    shapes = [tuple(each.shape) for each in call.results]
    return [t.reshape(*s) for t, s in zip((both, pivots, order), shapes, strict=True)]


@primitive("lu_pivots_to_permutation")
def order_of_pivots(call: Call, pivots: Tensor) -> Tensor:
    """The permutation of the rows after a sequence of exchanges."""
    size = int(call["permutation_size"])
    flat = pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1], 1)
    first = Tensor.arange(size).cast(pivots.dtype).reshape(1, size, 1)
    first = first.expand(flat.shape[0], size, 1)
    rows = indices_along(first.shape, 1)

    def step(k: Tensor, order: Tensor) -> Sequence[Tensor]:
        other = _row(flat, k)
        source = rows.eq(k).where(other, rows.eq(other).where(k, rows))
        return (read_at(order, [indices_along(order.shape, 0), source, Tensor(0)], order.shape),)

    (last,) = _steps(flat.shape[1], step, first)
    return last.reshape(*call.shape).cast(call.dtype)


@primitive("qr")
def qr(call: Call, x: Tensor) -> Results:
    """The QR decomposition by Householder reflections (1958)."""
    if call.get("pivoting"):
        raise call.refused("pivoting is not supported", True, "pivoting=False")
    a = _stack(x)
    count, m, n = a.shape
    size = min(m, n)
    eye = Tensor.eye(m).cast(x.dtype).expand(count, m, m)
    rows, columns = indices_along(a.shape, 1), indices_along(a.shape, 2)

    def step(k: Tensor, q: Tensor, r: Tensor) -> Sequence[Tensor]:
        whole = _column(r, k)
        below = rows.gt(k).where(whole, 0)
        rest, diagonal = below.square().sum(1, keepdim=True), _row(whole, k)
        new = diagonal.square().add(rest).sqrt().copysign(diagonal).neg()
        v = rows.eq(k).where(diagonal.sub(new), below)
        length = diagonal.sub(new).square().add(rest)
        is_done = rest.eq(0)
        twice = is_done.where(0, length.reciprocal().mul(2))
        q = q.sub(q.matmul(v).mul(twice).mul(v.mT))
        return q, r.sub(v.mul(twice).mul(v.mT.matmul(r)))

    q, r = _steps(size, step, eye, a)
    whole = bool(call["full_matrices"])
    q = q if whole else q.shrink([None, None, (0, size)])
    r = columns.ge(rows).where(r, 0)
    r = r if whole else r.shrink([None, (0, size), None])
    return [t.reshape(*d.shape) for t, d in zip((q, r), call.results, strict=True)]
