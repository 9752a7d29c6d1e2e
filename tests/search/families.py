"""Families of random programs: convolutions, windows, products, heads, reductions, moves.

A family is a function from random draws to a term. `drawn("products", "123.4")` is always the same
program. Each draws its shapes so that a small program has few elements and little work.
"""

import math
import string
from collections.abc import Callable
from dataclasses import dataclass

from tests.search.draw import WORK, Draw, ending, operand, split
from tests.search.terms import Term, called

FLOATS = ("float32", "float32", "float16", "float64")


@dataclass(frozen=True)
class Drawn:
    """A program at random: how to make it again, and what came out."""

    family: str
    seed: str
    term: Term
    text: str
    dtype: str
    is_small: bool
    """Whether its kernels may be run: what they touch and compute is little."""


def drawn(family: str, seed: str) -> Drawn:
    """The program of a family and a seed."""
    draw = Draw(f"{family} {seed}")
    term = ending(draw, FAMILIES[family](draw))
    return Drawn(family, seed, term, draw.inputs.written(term), draw.dtype, draw.is_small)


def convolutions(draw: Draw) -> Term:
    """Of images with weights: steps, distances, groups, borders, 1 to 7 elements either way."""
    high, wide = (draw.pick((1, 1, 2, 3, 3, 3, 4, 5, 7)) for _ in range(2))
    if draw.chance(0.5):
        wide = high
    stride = draw.pick((1, 1, 1, 2, 2, 3, (1, 2), (2, 1)))
    dilation = draw.pick((1, 1, 1, 2, 3, (1, 2)))
    padding = draw.pick((0, 0, 1, 1, 2, (0, 1), (2, 1)))
    reach = [(k - 1) * g + 1 for k, g in zip((high, wide), _pair(dilation), strict=True)]
    groups = draw.pick((1, 1, 1, 2, 3, 4, 8, 16))
    part, out = (draw.pick((1, 1, 2, 3, 4, 5, 8, 16)) for _ in range(2))
    if draw.chance(0.15):
        part = out = 1
        groups = draw.pick((3, 4, 7, 8, 16, 17, 32, 33, 64))
    images = draw.pick((1, 1, 1, 2, 3, 8))
    rows, columns = (max(draw.extent(), least) for least in reach)
    if draw.is_small:
        work = max(WORK // (images * groups * part * out * high * wide), 1)
        while rows * columns > work and (rows > reach[0] or columns > reach[1]):
            rows, columns = max(rows - 1, reach[0]), max(columns - 1, reach[1])
    elif draw.chance(0.3):
        groups, part, out = draw.pick(((1, 64, 64), (1, 256, 512), (32, 4, 4), (1, 3, 64)))
    image = _image(draw, (images, groups * part, rows, columns))
    weight = operand(draw, (groups * out, part, high, wide), plain=0.7)
    bias = operand(draw, (groups * out,), plain=0.9) if draw.chance(0.3) else None
    named = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    plain = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
    used = {k: v for k, v in named.items() if v != plain[k]}
    return image.conv2d(weight, **({} if bias is None else {"bias": bias}), **used)


def _pair(value: int | tuple[int, int]) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else value


def _image(draw: Draw, shape: tuple[int, int, int, int]) -> Term:
    """Images; now and then stored with the channels last."""
    if draw.chance(0.15):
        n, c, h, w = shape
        return operand(draw, (n, h, w, c), plain=0.9).permute(0, 3, 1, 2)
    return operand(draw, shape, plain=0.6)


def sliding(draw: Draw) -> Term:
    """Windows of one axis or two: pooled, or weighed; weights that are what they slide over."""
    if draw.chance(0.4):
        return _pooled(draw)
    if draw.chance(0.2):
        return _with_itself(draw)
    shape = draw.extents(draw.pick((1, 2, 2, 3)), WORK // 8 if draw.is_small else None)
    axis = draw.random.randrange(len(shape))
    size = draw.random.randint(1, min(shape[axis], 9))
    slid = operand(draw, shape, plain=0.7).unfold(axis, size, draw.pick((1, 1, 2, 3)))
    match draw.pick(("fold", "weigh", "channels")):
        case "fold":
            return getattr(slid, draw.pick(("sum", "max", "min")))(-1)
        case "weigh":
            return slid @ operand(draw, (size,), plain=0.8)
        case _:
            count = draw.pick((1, 2, 3, 4, 8, 16, 17))
            return slid @ operand(draw, (size, count), plain=0.7)


def _pooled(draw: Draw) -> Term:
    rows, columns = (max(draw.extent(), 4) for _ in range(2))
    if draw.is_small:
        rows, columns = draw.within([rows, columns], 1200)
    size = draw.pick((1, 2, 2, 3, (1, 3), (2, 1)))
    lead = (draw.pick((1, 2, 3, 8)), draw.pick((1, 2, 3, 16, 17)))
    if min(rows, columns) < 3:
        size = 1
    if draw.is_small:
        lead = draw.within(list(lead), max(12_000 // (rows * columns), 1))
    x = operand(draw, (*lead, rows, columns), plain=0.7)
    padding = draw.pick((0, 0, 1)) if size in (2, 3) else 0
    if draw.chance(0.5) or not draw.is_float:
        return x.max_pool2d(size, stride=draw.pick((None, 1, 2)), padding=padding)
    return x.avg_pool2d(size, stride=draw.pick((None, 1, 2)), padding=padding)


def _with_itself(draw: Draw) -> Term:
    """A convolution whose weights are a part of the images."""
    n, c, extent = draw.pick((1, 2, 4, 16)), draw.pick((1, 2, 3)), draw.random.randint(3, 20)
    x = draw.inputs.new((n, c, extent, extent), draw.dtype)
    size = draw.pick((1, 3, extent))
    return x.conv2d(x[:, :, :size, :size])


def products(draw: Draw) -> Term:
    """`@` of vectors, matrices and stacks, some of which have an extent of 1."""
    m, n, k = _sides(draw)
    stacks = draw.pick(((), (), (), (2,), (3,), (1,), (8,), (2, 3), (3, 1), (2, 2, 2)))
    if draw.is_small:
        m, n, k = _little(draw, m, n, k, WORK // math.prod(stacks))
    if draw.chance(0.15):
        left = operand(draw, (*stacks, m, k), plain=0.7)
        return left @ operand(draw, (k,), plain=0.7)
    if draw.chance(0.1):
        return operand(draw, (k,), plain=0.7) @ operand(draw, (*stacks, k, n), plain=0.7)
    left_stacks, right_stacks = stacks, stacks
    if draw.chance(0.4):
        left_stacks = tuple(draw.pick((e, 1)) for e in stacks)
    if draw.chance(0.4):
        right_stacks = draw.pick(((), stacks[1:], tuple(1 for _ in stacks)))
    if draw.chance(0.1):
        left_stacks, right_stacks = right_stacks, left_stacks
    left, right = (*left_stacks, m, k), (*right_stacks, k, n)
    if draw.chance(0.3):
        return operand(draw, left, plain=0.7) @ operand(draw, (*right[:-2], n, k), plain=0.7).mT
    if draw.chance(0.2):
        return operand(draw, (*left[:-2], k, m), plain=0.7).mT @ operand(draw, right, plain=0.7)
    return operand(draw, left) @ operand(draw, right)


def _sides(draw: Draw) -> tuple[int, int, int]:
    """Rows, columns and terms of a product."""
    if draw.is_small or draw.chance(0.5):
        return draw.extent(), draw.extent(), draw.extent()
    long = (784, 1000, 1023, 1024, 1025, 1499, 1500, 2000, 2048, 3001, 4096, 10_000, 60_000)
    few = (1, 2, 3, 4, 5, 8, 10, 16, 33, 64, 100)
    m, n, k = (draw.pick(draw.pick((few, long, long))) for _ in range(3))
    return m, n, k


def _little(draw: Draw, m: int, n: int, k: int, work: int) -> tuple[int, int, int]:
    sides = draw.within([m, n, k], max(work, 1))
    return sides[0], sides[1], sides[2]


def grams(draw: Draw) -> Term:
    """A matrix, or a stack of matrices, times itself: `x @ x`, `x @ x.T`, `x.T @ x`."""
    m, k, _ = _sides(draw)
    stack = draw.pick(((), (), (), (2,), (3,), (2, 3)))
    if draw.chance(0.4):
        m = k
    if draw.is_small:
        m, k, _ = _little(draw, m, k, max(m, k), WORK // math.prod(stack))
    x = operand(draw, (*stack, m, k), plain=0.8)
    y = draw.pick((x, x, x, x.flip(0), x * 2)) if draw.chance(0.3) else x
    square = [lambda: x @ y, lambda: x.mT @ y.mT] if m == k else []
    return draw.pick([lambda: x @ y.mT, lambda: x.mT @ y, *square])()


def contractions(draw: Draw) -> Term:
    """Sums of products over any axes: none to two of each kind, in any order, merged and split."""
    names = iter(string.ascii_letters)
    some = (0, 1, 1, 2)
    counts = [draw.pick(options) for options in ((0, 0, 1, 2), some, some, some[1:])]
    stacks, rows, columns, folded = ("".join(next(names) for _ in range(n)) for n in counts)
    every = stacks + rows + columns + folded
    limit = WORK if draw.is_small else 10**13
    long = dict(zip(every, draw.extents(len(every), limit), strict=True))
    left, right = (_shuffled(draw, stacks + own + folded) for own in (rows, columns))
    result = _shuffled(draw, stacks + rows + columns)
    if draw.chance(0.12):
        long |= {b: long[a] for a, b in zip(rows, columns, strict=False)}
        if draw.is_small:
            long = {name: min(extent, 9) for name, extent in long.items()}
    x = operand(draw, tuple(long[n] for n in left))
    is_same = draw.chance(0.2) and sorted(long[n] for n in left) == sorted(long[n] for n in right)
    if is_same:
        right = _fitting(draw, x.shape, right, long)
    y = x if is_same else operand(draw, tuple(long[n] for n in right))
    return called("einsum", f"{left},{right}->{result}", x, y)


def _shuffled(draw: Draw, names: str) -> str:
    """As they are, or in any order."""
    return names if draw.chance(0.3) else "".join(draw.random.sample(names, len(names)))


def _fitting(draw: Draw, shape: tuple[int, ...], names: str, long: dict[str, int]) -> str:
    """An order of names in which they have the extents of this shape."""
    left, order = list(_shuffled(draw, names)), []
    for extent in shape:
        order.append(next(n for n in left if long[n] == extent))
        left.remove(order[-1])
    return "".join(order)


def heads(draw: Draw) -> Term:
    """Attention, or a part of it: heads cut off an axis, multiplied, merged again."""
    draw.dtype = draw.pick(FLOATS)
    batch, count = draw.pick((1, 2, 3)), draw.pick((1, 2, 3, 4, 8))
    width, queries = draw.pick((1, 3, 4, 5, 8, 16, 32)), draw.extent()
    keys = queries if draw.chance(0.5) else draw.extent()
    if draw.is_small:
        most = max(WORK // (batch * count * width * 4), 4)
        queries, keys = draw.within([queries, keys], most)
    if draw.chance(0.3):
        return _merged_product(draw, batch, count, queries, keys, width)
    shared = draw.pick([n for n in (1, 1, 2, 4) if count % n == 0])
    q = operand(draw, (batch, queries, count * width), plain=0.7)
    k, v = (operand(draw, (batch, keys, count // shared * width), plain=0.7) for _ in range(2))
    q = q.reshape(batch, queries, count, width).swapaxes(1, 2)
    k, v = (each.reshape(batch, keys, count // shared, width).swapaxes(1, 2) for each in (k, v))
    if shared > 1:
        k, v = (each.repeat_interleave(shared, 1) for each in (k, v))
    scores = (q @ k.mT) * width**-0.5
    if draw.chance(0.5):
        scores = scores.softmax(-1)
    return _merged_heads(draw, scores @ v)


def _merged_product(draw: Draw, batch: int, count: int, m: int, n: int, k: int) -> Term:
    left = operand(draw, (batch, count, m, k), plain=0.7)
    return _merged_heads(draw, left @ operand(draw, (batch, count, k, n), plain=0.7))


def _merged_heads(draw: Draw, x: Term) -> Term:
    """[batch, heads, rows, width] as [batch, rows, heads * width], or with others merged."""
    match draw.pick(("last", "last", "first", "all", "left")):
        case "last":
            return x.swapaxes(1, 2).flatten(2)
        case "first":
            return x.flatten(0, 2)
        case "all":
            return x.swapaxes(1, 2).flatten(1)
        case _:
            return x


def reductions(draw: Draw) -> Term:
    """Over any axes of one to five, of what is computed, and what needs the result again."""
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


def changed_type(draw: Draw, x: Term) -> Term:
    """Folded in another type than it is stored in."""
    return x.cast(draw.pick(("float32", "float64", "int32", "int64", "float16")))


def moves(draw: Draw) -> Term:
    """Transposes, merged and cut axes, borders, joins; with what is computed on the way."""
    shape = draw.extents(draw.pick((1, 2, 2, 3, 3, 4, 5)))
    x = operand(draw, shape, plain=0.4)
    for _ in range(draw.random.randint(1, 3)):
        made = draw.pick(MOVES)(draw, x)
        is_small = made.size <= (12_000 if draw.is_small else 10**9)
        x = made if is_small else x
    return x


MOVES: tuple[Callable[[Draw, Term], Term], ...] = (
    lambda draw, x: x.permute(*draw.order(x.ndim)),
    lambda draw, x: x.permute(*draw.order(x.ndim)) + operand(draw, (), x.dtype.name),
    lambda draw, x: x.reshape(*split(draw, x.size)),
    lambda draw, x: x.permute(*draw.order(x.ndim)).reshape(x.size),
    lambda draw, x: x.flip(*draw.axes(x.ndim)),
    lambda draw, x: x.pad([(draw.pick((0, 1, 2)), draw.pick((0, 0, 3))) for _ in range(x.ndim)]),
    lambda draw, x: x.cat(operand(draw, x.shape, x.dtype.name), dim=draw.random.randrange(x.ndim)),
    lambda draw, x: x.repeat(*(draw.pick((1, 1, 2, 3)) for _ in range(x.ndim))),
    lambda draw, x: x.roll(draw.pick((1, -2)), draw.random.randrange(x.ndim)),
    lambda draw, x: x + operand(draw, tuple(draw.pick((e, e, 1)) for e in x.shape), x.dtype.name),
    lambda draw, x: x.cast(draw.pick(("float32", "int8", "float64", "int32", "float16"))),
)  # fmt: skip


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


Family = Callable[[Draw], Term]
FAMILIES: dict[str, Family] = {
    "convolutions": convolutions, "sliding": sliding, "products": products, "grams": grams,
    "contractions": contractions, "heads": heads, "reductions": reductions, "moves": moves,
    "composites": composites,
}  # fmt: skip
SHARES = (
    *("convolutions",) * 4, *("sliding",) * 2, *("products",) * 3, "grams", *("contractions",) * 3,
    *("heads",) * 2, *("reductions",) * 3, *("moves",) * 2, "composites",
)  # fmt: skip
"""The families in turn, those whose choices are many more often."""
