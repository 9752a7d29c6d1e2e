"""Convolutions and other windows at random."""

from tests.search.draw import WORK, Draw
from tests.search.operands import operand
from tests.search.terms import Term


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
