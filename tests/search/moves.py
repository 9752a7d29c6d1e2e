"""Random movement operations: axes permuted, merged, sliced, reversed, concatenated."""

from collections.abc import Callable

from tests.search.draw import Draw
from tests.search.operands import changed, operand, split
from tests.search.terms import Term


def moves(draw: Draw) -> Term:
    """Transposes, merged and cut axes, borders, joins; with what is computed on the way."""
    shape = draw.extents(draw.pick((1, 2, 2, 3, 3, 4, 5)))
    x = operand(draw, shape, plain=0.4)
    for _ in range(draw.random.randint(1, 3)):
        made = draw.pick(MOVES)(draw, x)
        is_small = made.size <= (12_000 if draw.is_small else 10**9)
        x = made if is_small else x
    return x


def transposes(draw: Draw) -> Term:
    """Copies whose input and output run along different axes, of one operand or of two."""
    count = draw.pick((2, 2, 2, 3, 3, 4))
    shape = draw.extents(count, 20_000 if draw.is_small else None)
    if draw.chance(0.3):  # rows that are a multiple of a page apart
        rows = draw.pick((16, 17) if draw.is_small else (16, 33, 64, 1000))
        shape = (*(1 for _ in shape[:-2]), rows, draw.pick((512, 1024, 2048)))
    order = draw.order(count)
    x = draw.inputs.new(shape, draw.dtype).permute(*order)
    match draw.pick(("alone", "alone", "with one as it is", "with another", "computed")):
        case "with one as it is":
            return x + operand(draw, x.shape, plain=0.8)
        case "with another":
            y = draw.inputs.new(tuple(x.shape[order.index(a)] for a in range(count)), draw.dtype)
            return x + y.permute(*order)
        case "computed":
            return changed(draw, x)
        case _:
            return x if order != tuple(range(count)) else x.mT


def _repeated(draw: Draw, x: Term) -> Term:
    return x.repeat(*(draw.pick((1, 1, 2)) for _ in range(x.ndim)))


MOVES: tuple[Callable[[Draw, Term], Term], ...] = (
    lambda draw, x: x.permute(*draw.order(x.ndim)),
    lambda draw, x: x.permute(*draw.order(x.ndim)) + operand(draw, (), x.dtype.name),
    lambda draw, x: x.reshape(*split(draw, x.size)),
    lambda draw, x: x.permute(*draw.order(x.ndim)).reshape(x.size),
    lambda draw, x: x.flip(*draw.axes(x.ndim)),
    lambda draw, x: x.pad([(draw.pick((0, 1, 2)), draw.pick((0, 0, 3))) for _ in range(x.ndim)]),
    lambda draw, x: x.cat(operand(draw, x.shape, x.dtype.name), dim=draw.random.randrange(x.ndim)),
    lambda draw, x: _repeated(draw, x.reshape(1, *x.shape)),
    lambda draw, x: x.roll(draw.pick((1, -2)), draw.random.randrange(x.ndim)),
    lambda draw, x: x + operand(draw, tuple(draw.pick((e, e, 1)) for e in x.shape), x.dtype.name),
    lambda draw, x: x.cast(draw.pick(("float32", "int8", "float64", "int32", "float16"))),
)  # fmt: skip
