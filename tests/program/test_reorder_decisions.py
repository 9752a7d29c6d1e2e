"""The order of loops: what was compared for it, recomputed from shapes and from all tiles."""

import math
import re

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.core.reason import Decision
from compiler.loops.choices import KINDS, word_of
from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.choose_windows import _windows
from compiler.loops.choosing.window_tiles import shapes
from compiler.loops.nodes import Body
from compiler.machines.model import DEFAULT
from compiler.program.compilation import Compilation
from tests.program.test_decisions import number, of, values

TRACED = Options(threads=4, trace=True)
CHOSEN = set(map(word_of, KINDS))


@pytest.mark.parametrize(("rows", "columns", "dtype"), [
    (300, 200, np.float32), (2048, 1536, np.float32), (96, 130, np.float64), (128, 256, np.int16),
])  # fmt: skip
def test_a_transpose_says_how_far_its_loops_move(rows: int, columns: int, dtype: type) -> None:
    size = np.dtype(dtype).itemsize
    made = compile(Tensor(np.ones((rows, columns), dtype)).mT.contiguous(), TRACED)
    (found,) = of(made, "reorder")
    written, read = number(found, "i1 moves in out"), number(found, "i0 moves in in1")
    assert (written.value, written.limit) == (size, rows * size)
    assert (read.value, read.limit) == (size, columns * size)
    lanes = int(re.findall(r"(\d+) by \d+", of(made, "unroll")[0].reason)[0])
    row = number(found, "a row of a tile")
    assert (row.value, row.limit) == (lanes * size, 64)
    assert ("apart" in found.reason) == (columns * size % 4096 == 0)


def convolved(shape: tuple[int, ...], weights: tuple[int, ...], **given: int) -> Decision:
    made = compile(values(*shape).conv2d(values(*weights), **given), TRACED)
    return of(made, "reorder")[-1]


@pytest.mark.parametrize(("channels", "side"), [(5, 34), (64, 120)])
def test_channels_stand_inside_where_the_image_is_large(channels: int, side: int) -> None:
    found = convolved((1, channels, side, side), (3, channels, 3, 3))
    image = number(found, "what all channels read of an image")
    assert image.value == 4 * channels * side * side
    assert image.limit == DEFAULT.cache_bytes[1] // 2
    assert ("a few pixels" in found.reason) == (image.sign == ">") == (channels == 64)
    order = re.findall(r"i\d\.0 ", found.reason)
    assert (order[0] > order[1]) == (channels == 64)


def test_windows_have_their_lanes_on_the_cheaper_side() -> None:
    found = convolved((2, 16, 20, 20), (16, 16, 3, 3), padding=1)
    tiles = number(found, "a line of tiles along channels")
    made = compile(values(2, 16, 20, 20).conv2d(values(16, 16, 3, 3), padding=1), TRACED)
    seen = accesses(before_choices(made, made._kernels[-1].name))
    assert seen is not None
    parts = _windows(seen)
    assert parts is not None
    cycles: dict[bool, float] = {}
    for shape in shapes(seen, parts, DEFAULT.vector_bytes // 4, DEFAULT):
        side = shape.is_along_pixels
        cycles[side] = min(cycles.get(side, math.inf), shape.cycles)
    assert (tiles.value, tiles.limit) == (cycles[False], cycles[True])


def before_choices(made: Compilation, kernel: str) -> Body:
    """The loops of a kernel as they were when its choices were made."""
    rows = [r for r in made.passes if (r.stage, r.kernel) == ("loops", kernel)]
    body = next(r.before for r in rows if r.name in CHOSEN)
    assert isinstance(body, Body)
    return body


def test_windows_that_begin_at_every_third_element_have_no_pixels_as_lanes() -> None:
    found = convolved((2, 16, 20, 20), (16, 16, 3, 3), padding=1, stride=3)
    step = next(n for n in found.numbers if n.name.startswith("step of "))
    assert (step.value, step.limit) == (3, 1)


def test_weights_serve_all_lines_where_no_channels_share_an_image() -> None:
    found = convolved((2, 6, 30, 33), (6, 1, 3, 3), groups=6)
    none = number(found, "loops over channels that share an image")
    assert (none.value, none.limit) == (0, 1) and "weights serve all lines" in found.reason


def test_a_panel_across_the_columns_says_so() -> None:
    made = compile(values(300, 200) @ values(170, 200).mT, TRACED)
    (found,) = of(made, "reorder")
    step = number(found, "step of i1 in the panel")
    assert (step.value, step.limit) == (200, 1)
