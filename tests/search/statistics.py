"""Random reductions, and programs of many kernels."""

from collections.abc import Callable

from tests.search.draw import FLOATS, Draw
from tests.search.operands import changed, operand
from tests.search.terms import Term


def reductions(draw: Draw) -> Term:
    """Over any axes of one to five, of what is computed, and what needs the result again."""
    if draw.chance(0.15):
        return _short_rows(draw)
    shape = draw.extents(draw.pick((1, 2, 2, 3, 3, 4, 5)), 20_000 if draw.is_small else None)
    x = operand(draw, shape)
    if draw.chance(0.3):
        x = x * operand(draw, tuple(draw.pick((e, e, 1)) for e in shape), x.dtype.name)
    if draw.chance(0.2):
        x = changed_type(draw, x)
    axes, keep = draw.axes(len(shape)), draw.chance(0.4)
    if x.dtype.name == "bool":
        return getattr(x, draw.pick(("any", "all", "sum")))(axes, keep)
    makers: list[Callable[[], Term]] = [
        lambda: getattr(x, draw.pick(("sum", "sum", "max", "min")))(axes, keep),
        lambda: getattr(x, draw.pick(("sum", "sum", "max", "min")))(axes, keep),
        lambda: x - getattr(x, draw.pick(("sum", "max", "min")))(axes, True).cast(x.dtype.name),
        lambda: x.mean(axes, keep),
        lambda: x.sum(axes[:1], True).max(axes, keep),
    ]
    if x.dtype.is_float:
        makers += [
            lambda: x.softmax(axes[0]), lambda: x.layernorm(axes[-1]), lambda: x.softmax(-1),
            lambda: x.logsumexp(axes), lambda: x.var(axes),
            lambda: x * (x * x).mean(axes[0], True).rsqrt(),
        ]  # fmt: skip
    return draw.pick(makers)()


def _short_rows(draw: Draw) -> Term:
    """Statistics of many rows that are shorter than a vector."""
    draw.dtype = draw.pick(FLOATS)
    columns = draw.random.randint(2, 17)
    rows = draw.pick((16, 17, 31, 32, 40, 64, 65, 100, 300, 350))
    x = operand(draw, (rows if draw.is_small else rows * 64, columns), plain=0.7)
    makers = (
        lambda: x.softmax(-1), lambda: x.logsumexp(-1), lambda: x.exp().sum(-1),
        lambda: x.tanh().sum(-1), lambda: x.layernorm(-1), lambda: (x * x.sigmoid()).max(-1),
    )  # fmt: skip
    return draw.pick(makers)()


def changed_type(draw: Draw, x: Term) -> Term:
    """Folded in another type than it is stored in."""
    return x.cast(draw.pick(("float32", "float64", "int32", "int64", "float16")))


def variables(draw: Draw) -> Term:
    """Of as many rows as a run says: products, statistics of rows and columns, elementwise."""
    rows, columns, others = draw.within([draw.extent() for _ in range(3)], 60_000)
    rows = max(rows, 2)
    x = draw.inputs.of_variable_length((rows, columns), draw.dtype)

    def fixed(shape: tuple[int, ...]) -> Term:
        made = draw.inputs.new(shape, draw.dtype)
        return made.flip(0) if draw.chance(0.3) else made

    makers: list[Callable[[], Term]] = [
        lambda: x @ fixed((columns, others)),
        lambda: x @ fixed((others, columns)).mT,
        lambda: x.mT @ draw.inputs.of_variable_length((rows, others), draw.dtype),
        lambda: x.mT @ x,
        lambda: x @ x.mT,
        lambda: getattr(x, draw.pick(("sum", "max", "min")))(draw.pick((0, 1))),
        lambda: x + fixed((1, columns)),
        lambda: x.mT + fixed((columns, 1)),
    ]
    if x.dtype.is_float:
        makers += [lambda: x.softmax(1), lambda: x.layernorm(1), lambda: x.exp() * 2]
    made = draw.pick(makers)()
    return changed(draw, made) if draw.chance(0.3) else made


def composites(draw: Draw) -> Term:
    """Running sums, sorted and gathered rows, triangles: what is made of many kernels."""
    rows, columns = draw.within([draw.extent(), draw.extent()], 1500 if draw.is_small else 10**6)
    x = operand(draw, (rows, columns), draw.pick(FLOATS) if draw.dtype == "bool" else "")
    match draw.pick(("cumsum", "sort", "rows", "triangle", "argmax", "outer")):
        case "cumsum":
            return x.cumsum(draw.pick((0, 1)))
        case "sort":
            return x[:70, :40].sort(draw.pick((0, 1)))
        case "rows":
            return x[operand(draw, (draw.pick((1, 5, 16, 33)),), "int64", 1.0)]
        case "triangle":
            return x.tril(draw.pick((0, 1, -1))) @ operand(draw, (columns, 5), x.dtype.name)
        case "argmax":
            return x.argmax(draw.pick((0, 1)))
        case _:
            return x.reshape(x.size)[:90].outer(operand(draw, (draw.pick((3, 64)),), x.dtype.name))
