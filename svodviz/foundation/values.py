"""The preview of a value in the inspector: a few numbers and a small picture of an array."""

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from compiler.core.dtypes import Array, parse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from compiler.ask.seen import Seen
    from svodviz.data.records import Head, Statistics, Value

ELEMENTS, SIDE = 8, 24
BARS = 24
"""Parts of a histogram: as wide as the picture."""
SMALLEST = float(np.finfo(np.float64).tiny)
"""Half the distance of ends below which parts of it are no numbers any more."""


def preview(data: "ArrayLike") -> "Value":
    """Shape, dtype, least, greatest and mean finite value, odd values counted, first elements.

    `picture` is the array as rows of two-digit hexadecimal grey levels ("xx" where not finite),
    the last axis across, all others down, thinned out to at most 24 × 24.
    """
    array = np.asarray(data)
    numbers = array.real
    head: Head = {
        "dtype": str(array.dtype),
        "shape": "×".join(map(str, array.shape)) or "scalar",
        "size": array.size,
        "first": [_text(it) for it in array.reshape(-1)[:ELEMENTS]],
    }
    facts = cast("Value", {**head, **_statistics(numbers)})
    if array.size > 1:
        facts["picture"] = _picture(numbers)
    return facts


def _statistics(numbers: Array) -> "Statistics":
    """Minimum, maximum and mean of the finite elements, and the number of others."""
    if numbers.size == 0:
        return {"nan": 0, "inf": 0}
    least, greatest, nan, inf = numbers.min(), numbers.max(), 0, 0
    # A NaN would be both of them.
    if not (np.isfinite(least) and np.isfinite(greatest)):
        nan = int(np.isnan(numbers).sum())
        finite = np.isfinite(numbers)
        inf = numbers.size - nan - int(finite.sum())
        numbers = numbers[finite]
        if numbers.size == 0:
            return {"nan": nan, "inf": inf}
        least, greatest = numbers.min(), numbers.max()
    return {
        "min": _text(least), "max": _text(greatest), "mean": _mean(numbers),
        "nan": nan, "inf": inf, "zeros": int(np.count_nonzero(numbers == 0)),
        **_bars(numbers, least, greatest),
    }  # fmt: skip


def _bars(numbers: Array, least: Any, greatest: Any) -> "Statistics":
    """The histogram between the ends; empty for a single value."""
    half = float(greatest) / 2 - float(least) / 2  # all of it may be no float64
    if numbers.dtype.kind == "b" or half < SMALLEST:
        return {}  # type: ignore[typeddict-item]
    wide = numbers.reshape(-1).astype(np.float64)
    places = (wide / 2 - float(least) / 2) / half * BARS
    counts = np.bincount(np.clip(places.astype(np.int64), 0, BARS - 1), minlength=BARS)
    return {"bars": counts.tolist()}  # type: ignore[typeddict-item]


def preview_seen(seen: "Seen") -> "Value":
    """The preview of a value inside a kernel, over all iterations that computed it."""
    head: Head = {
        "dtype": seen.dtype,
        "shape": "",
        "size": seen.size,
        "first": [_text(it) for it in seen.first[:ELEMENTS]],
    }
    return cast("Value", {**head, **_seen_statistics(seen)})


def _seen_statistics(seen: "Seen") -> "Statistics":
    if not seen.finite:
        return {"nan": seen.nan, "inf": seen.inf}
    scalar = parse(seen.dtype).numpy.type
    return {
        "min": _text(scalar(seen.least)), "max": _text(scalar(seen.greatest)),
        "mean": _text(seen.mean), "nan": seen.nan, "inf": seen.inf,
    }  # fmt: skip


def _text(value: complex | np.generic) -> str:
    if isinstance(value, np.bool_ | bool):
        return str(bool(value)).lower()
    if isinstance(value, np.integer | int):
        return str(int(value))
    return f"{float(np.real(value)):.5g}"


def _mean(numbers: Array) -> str:
    """The mean also where the sum is no float64."""
    with np.errstate(over="ignore"):
        mean = float(numbers.mean(dtype=np.float64))
    if math.isfinite(mean):
        return _text(mean)
    scale = float(np.abs(numbers).max())
    return _text(scale * float((numbers / scale).mean()))


def _picture(numbers: Array) -> list[str]:
    rows = numbers.reshape(-1, numbers.shape[-1] if numbers.ndim and numbers.shape[-1] else 1)
    if rows.shape[0] == 1 and rows.size > SIDE:
        rows = rows[:, : rows.size // SIDE * SIDE].reshape(-1, SIDE)
    rows = rows[:: math.ceil(rows.shape[0] / SIDE), :: math.ceil(rows.shape[1] / SIDE)]
    rows = rows.astype(np.float64)
    finite_at = np.isfinite(rows)
    finite = rows[finite_at]
    least, greatest = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    span = (greatest / 2 - least / 2) or 1.0  # half of it: all of it may be no float64
    shares = (np.where(finite_at, rows, least) / 2 - least / 2) / span
    levels = np.rint(255 * shares).astype(np.uint8)
    return [
        "".join(f"{level:02x}" if is_known else "xx" for level, is_known in zip(*row, strict=True))
        for row in zip(levels.tolist(), finite_at.tolist(), strict=True)
    ]
