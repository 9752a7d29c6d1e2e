"""A few numbers and a small picture of an array: what the inspector shows as its value."""

import math
from typing import Any

import numpy as np

ELEMENTS, SIDE = 8, 24
Preview = dict[str, Any]


def preview(array: Any) -> Preview:
    """Shape, dtype, least, greatest and mean finite value, odd values counted, first elements.

    `picture` is the array as rows of two-digit hexadecimal grey levels ("xx" where not finite),
    the last axis across, all others down, thinned out to at most 24 × 24.
    """
    array = np.asarray(array)
    numbers = np.atleast_1d(array).astype(np.float64 if array.dtype.kind != "c" else complex).real
    finite = np.isfinite(numbers)
    facts: Preview = {
        "dtype": str(array.dtype),
        "shape": "×".join(map(str, array.shape)) or "scalar",
        "size": int(array.size),
        "first": [_text(it) for it in array.reshape(-1)[:ELEMENTS]],
    }
    if finite.any():
        # In the array's own type: not every int64 is a float64.
        own = (np.atleast_1d(array) if array.dtype.kind in "biuf" else numbers)[finite]
        facts |= {"min": _text(own.min()), "max": _text(own.max()), "mean": _mean(numbers[finite])}
    facts |= {"nan": int(np.isnan(numbers).sum()), "inf": int(np.isinf(numbers).sum())}
    if array.size > 1:
        facts["picture"] = _picture(numbers)
    return facts


def preview_seen(seen: Any) -> Preview:
    """The same of what a value inside a kernel was, over all the times that it was computed."""
    facts: Preview = {
        "dtype": seen.dtype,
        "shape": "",
        "size": int(seen.size),
        "first": [_text(it) for it in seen.first[:ELEMENTS]],
    }
    if seen.finite:
        scalar = np.dtype(seen.dtype).type
        named = (("min", seen.least), ("max", seen.greatest))
        facts |= {name: _text(scalar(value)) for name, value in named}
        facts["mean"] = _text(seen.mean)
    return facts | {"nan": int(seen.nan), "inf": int(seen.inf)}


def _text(value: Any) -> str:
    if isinstance(value, np.bool_ | bool):
        return str(bool(value)).lower()
    if isinstance(value, np.integer | int):
        return str(int(value))
    return f"{float(np.real(value)):.5g}"


def _mean(numbers: "np.ndarray[Any, Any]") -> str:
    """The mean also where the sum is no float64."""
    scale = float(np.abs(numbers).max()) or 1.0
    return _text(scale * float((numbers / scale).mean()))


def _picture(numbers: "np.ndarray[Any, Any]") -> list[str]:
    rows = numbers.reshape(-1, numbers.shape[-1]) if numbers.shape[-1] else numbers.reshape(1, -1)
    if rows.shape[0] == 1 and rows.size > SIDE:
        rows = rows[:, : rows.size // SIDE * SIDE].reshape(-1, SIDE)
    rows = rows[:: math.ceil(rows.shape[0] / SIDE), :: math.ceil(rows.shape[1] / SIDE)]
    finite = rows[np.isfinite(rows)]
    least, greatest = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    span = (greatest / 2 - least / 2) or 1.0  # half of it: all of it may be no float64
    return ["".join(_level(value, least, span) for value in row) for row in rows]


def _level(value: float, least: float, span: float) -> str:
    return f"{round(255 * ((value / 2 - least / 2) / span)):02x}" if math.isfinite(value) else "xx"
