"""Products at random: of matrices, of one with itself, over any axes, of heads."""

import math
import string

from tests.search.draw import FLOATS, WORK, Draw
from tests.search.operands import operand
from tests.search.terms import Term, called

MOST_WORK = 10**13
"""Products of all loops of a program that is not run: a value has fewer than 2^48 elements."""


def products(draw: Draw) -> Term:
    """`@` of vectors, matrices and stacks, some of which have an extent of 1."""
    if draw.chance(0.12):
        return _dots(draw)
    m, n, k = _sides(draw)
    stacks = draw.pick(((), (), (), (2,), (3,), (1,), (8,), (2, 3), (3, 1), (2, 2, 2)))
    work = WORK if draw.is_small else MOST_WORK
    m, n, k = _little(draw, m, n, k, work // math.prod(stacks))
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


def _dots(draw: Draw) -> Term:
    """A few rows by columns, or many by a few: both operands in order along the sum."""
    few, many = draw.random.randint(1, 5), draw.extent()
    long = draw.pick((16, 31, 32, 33, 64, 65, 100, 200, 257, 400, 784))
    if not draw.is_small:
        long *= draw.pick((1, 4, 16))
    m, n, k = draw.pick(((few, many, long), (many, few, long)))
    m, n, k = _little(draw, m, n, k, WORK) if draw.is_small else (m, n, k)
    stack = draw.pick(((), (), (2,))) if m * n * k < WORK // 2 or not draw.is_small else ()
    return operand(draw, (*stack, m, k), plain=0.8) @ operand(draw, (*stack, n, k), plain=0.8).mT


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
    work = WORK if draw.is_small else MOST_WORK
    m, k, _ = _little(draw, m, k, max(m, k), work // math.prod(stack))
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
    limit = WORK if draw.is_small else MOST_WORK
    long = dict(zip(every, draw.extents(len(every), limit), strict=True))
    left, right = (_shuffled(draw, stacks + own + folded) for own in (rows, columns))
    result = _shuffled(draw, stacks + rows + columns)
    if draw.chance(0.12):
        long |= {b: long[a] for a, b in zip(rows, columns, strict=False)}
        most = 9 if draw.is_small else 70
        long = {name: min(extent, most) for name, extent in long.items()}
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
    batch, count = draw.pick((1, 2, 3)), draw.pick((1, 2, 3, 4, 8))
    width, queries = draw.pick((1, 3, 4, 5, 8, 16, 32)), draw.extent()
    keys = queries if draw.chance(0.5) else draw.extent()
    if draw.is_small:
        most = max(WORK // (batch * count * width * 4), 4)
        queries, keys = draw.within([queries, keys], most)
    if draw.chance(0.3):
        return _merged_product(draw, batch, count, queries, keys, width)
    draw.dtype = draw.pick(FLOATS)
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
