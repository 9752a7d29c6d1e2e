"""Operations that follow a result: bias, residual, other axes, other types, another reduction."""

from collections.abc import Callable

from tests.search.draw import ELEMENTS, Draw
from tests.search.operands import changed, operand, split
from tests.search.terms import Term


def ending(draw: Draw, x: Term) -> Term:
    """None to three steps that follow a result."""
    for _ in range(draw.pick((0, 0, 1, 1, 1, 2, 2, 3))):
        made = draw.pick(STEPS)(draw, x)
        is_small = made is not None and made.size <= (2 * ELEMENTS if draw.is_small else 10**9)
        x = made if made is not None and is_small else x
    return x


def _with_bias(draw: Draw, x: Term) -> Term | None:
    if not x.ndim:
        return None
    at = draw.random.randrange(x.ndim)
    shape = tuple(e if n == at else 1 for n, e in enumerate(x.shape))
    return x + operand(draw, shape, x.dtype.name, 0.8)


def _with_residual(draw: Draw, x: Term) -> Term | None:
    return x + operand(draw, x.shape, x.dtype.name, 0.8)


def _flattened(draw: Draw, x: Term) -> Term | None:
    return x.flatten(draw.random.randrange(x.ndim - 1)) if x.ndim > 1 else None


def _swapped(draw: Draw, x: Term) -> Term | None:
    return x.swapaxes(*draw.random.sample(range(x.ndim), 2)) if x.ndim > 1 else None


def _reordered(draw: Draw, x: Term) -> Term | None:
    return x.permute(*draw.order(x.ndim)) if x.ndim > 1 else None


def _merged(draw: Draw, x: Term) -> Term | None:
    """Two axes as one, in the order in which they are or in another."""
    if x.ndim < 2:
        return None
    x = x.permute(*draw.order(x.ndim)) if draw.chance(0.5) else x
    at = draw.random.randrange(x.ndim - 1)
    shape = x.shape
    return x.reshape(*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :])


def _cut_in_two(draw: Draw, x: Term) -> Term | None:
    if not x.ndim:
        return None
    at = draw.random.randrange(x.ndim)
    made = x.reshape(*x.shape[:at], *split(draw, x.shape[at]), *x.shape[at + 1 :])
    return made.swapaxes(at, draw.random.randrange(made.ndim)) if draw.chance(0.5) else made


def _folded(draw: Draw, x: Term) -> Term | None:
    if not x.ndim or x.dtype.name == "bool":
        return None
    return getattr(x, draw.pick(("sum", "max", "min")))(draw.axes(x.ndim))


def _shortened(draw: Draw, x: Term) -> Term | None:
    if not x.ndim:
        return None
    at = draw.random.randrange(x.ndim)
    key = slice(draw.pick((0, 1)), None, draw.pick((1, 2))) if x.shape[at] > 1 else slice(None)
    return x[(*(slice(None),) * at, key)]


def _bordered(draw: Draw, x: Term) -> Term | None:
    if not x.ndim:
        return None
    at = draw.random.randrange(x.ndim)
    return x.pad([(1, draw.pick((0, 1))) if n == at else (0, 0) for n in range(x.ndim)])


def _of_another_type(draw: Draw, x: Term) -> Term | None:
    return x.cast(draw.pick(("float32", "int32", "float64", "int8", "int64", "bool")))


def _softmax(draw: Draw, x: Term) -> Term | None:
    if not x.ndim or not x.dtype.is_float:
        return None
    return x.softmax(draw.random.randrange(x.ndim))


def _joined_with_itself(draw: Draw, x: Term) -> Term | None:
    return x.cat(x, dim=draw.random.randrange(x.ndim)) if x.ndim else None


def _turned_round(draw: Draw, x: Term) -> Term | None:
    return x.flip(draw.random.randrange(x.ndim)) if x.ndim else None


Step = Callable[[Draw, Term], Term | None]
STEPS: tuple[Step, ...] = (
    changed, changed, changed, _with_bias, _with_bias, _with_residual, _flattened, _flattened,
    _swapped, _reordered, _merged, _merged, _cut_in_two, _folded, _shortened, _bordered,
    _of_another_type, _softmax, _joined_with_itself, _turned_round,
)  # fmt: skip
