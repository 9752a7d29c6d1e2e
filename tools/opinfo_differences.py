"""Differences between results of an operator and those of PyTorch."""

from typing import Any

RESULTS = ("equal", "zeros", "absent", "inexact", "refused", "unexported", "skipped", "failed",
           "wrong")  # fmt: skip
SIGNS = "signs of zeros differ"
ABSENT = "a gradient of zeros"
TOLERANCES = {"float64": (1e-7, 1e-7), "float32": (2e-4, 2e-5), "float16": (2e-2, 2e-3),
              "bfloat16": (5e-2, 1e-2)}  # fmt: skip
"""Relative to an element, and relative to the largest magnitude of a result (at least 1)."""


def result_of(why: str) -> str:
    """The result that a difference is."""
    if not why:
        return "equal"
    return "zeros" if why.startswith(SIGNS) else "absent" if why.startswith(ABSENT) else "wrong"


class Positions:
    """Positions of elements picked along an axis: of equal elements, any position is right."""

    def __init__(self, wanted: Any, source: Any, axis: int) -> None:
        self.wanted, self._source, self._axis = wanted, source, axis

    def differs(self, got: Any) -> str:
        """The difference of positions in words; "" if they pick the same elements, each once."""
        import numpy as np

        why = _differs(got, self.wanted, is_loose=True)
        if why or not self.wanted.ndim:
            return why or _differs(got, self.wanted, is_loose=False)
        count = self._source.shape[self._axis]
        if got.size and (got.min() < 0 or got.max() >= count):
            return f"a position is outside an axis of {count}"
        ordered = np.sort(got, self._axis)
        if (np.diff(ordered, axis=self._axis) == 0).any():
            return "a position is picked twice"
        picked = [np.take_along_axis(self._source, each, self._axis) for each in (got, self.wanted)]
        return _differs(picked[0], picked[1], is_loose=False)


def different(got: list[Any], wanted: list[Any], is_loose: bool = False) -> str:
    """The difference of results in words; "" if they are equal. Signs of zeros count only if all
    differ."""
    if len(got) != len(wanted):
        return f"{len(got)} results, PyTorch has {len(wanted)}"
    differences = [_differs(a, b, is_loose) for a, b in zip(got, wanted, strict=True)]
    return max(filter(None, differences), key=lambda why: RESULTS.index(result_of(why)), default="")


def _without_gradient(got: Any, wanted: Any) -> str:
    """The difference of a gradient from one that is None, or the reverse, in words."""
    if got is None and wanted is None:
        return ""
    ours, theirs = ("None", "one") if got is None else ("here", "None")
    if (wanted if got is None else got).any():
        return f"a gradient that is not 0 is {ours}, PyTorch has {theirs}"
    return f"{ABSENT} is {ours}, PyTorch has {theirs}"


def _differs(got: Any, wanted: Any, is_loose: bool) -> str:
    if isinstance(wanted, Positions):
        return wanted.differs(got)
    if got is None or wanted is None:
        return _without_gradient(got, wanted)
    import numpy as np

    if not isinstance(wanted, np.ndarray | np.generic):
        same = np.array_equal(np.asarray(got), np.asarray(wanted), equal_nan=wanted != wanted)
        return "" if same or is_loose else f"{got!r}, PyTorch has {wanted!r}"
    if getattr(got, "dtype", None) != wanted.dtype or got.shape != wanted.shape:
        have = f"{getattr(got, 'dtype', type(got).__name__)}{list(getattr(got, 'shape', ()))}"
        return f"{have}, PyTorch has {wanted.dtype}{list(wanted.shape)}"
    if is_loose or wanted.size == 0:
        return ""
    if wanted.dtype.kind not in "fc":
        count = int((got != wanted).sum())
        return f"{count} of {wanted.size} elements differ" if count else ""
    same = _are_near(got, wanted, wanted.dtype.name)
    if same.all():
        count = _other_signs(got, wanted)
        return f"{SIGNS}: {count} of {wanted.size} elements" if count else ""
    place = tuple(int(n) for n in np.argwhere(~same)[0])
    return (f"{int((~same).sum())} of {wanted.size} elements differ, at {list(place)} "
            f"{got[place]!r}, PyTorch has {wanted[place]!r}")  # fmt: skip


def _other_signs(got: Any, wanted: Any) -> int:
    """The number of zeros with different signs, parts of complex numbers counted separately."""
    import numpy as np

    parts = (
        ((got.real, wanted.real), (got.imag, wanted.imag))
        if wanted.dtype.kind == "c"
        else ((got, wanted),)
    )
    return sum(
        int(((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))).sum()) for a, b in parts
    )


def is_as_near(got: Any, wanted: Any, exact: Any) -> bool:
    """True if each element is as near to what PyTorch computes in float64 as PyTorch's own."""
    import numpy as np

    kinds = {getattr(each, "dtype", np.dtype(object)).kind for each in (got, wanted, exact)}
    if kinds != {"f"} or not got.shape == wanted.shape == exact.shape:
        return not different([got], [wanted])
    with np.errstate(all="ignore"):
        theirs = np.abs(wanted - exact)
    return bool(_are_near(got, exact, wanted.dtype.name, theirs).all())


def _are_near(got: Any, wanted: Any, dtype: str, least: Any = 0.0) -> Any:
    """For each element whether it is as near as the tolerances of a type allow, or `least`; what is
    not finite has to be the same."""
    import numpy as np

    relative, absolute = TOLERANCES.get(dtype, TOLERANCES["float32"])
    finite = np.isfinite(wanted)
    with np.errstate(all="ignore"):
        size = max(1.0, float(np.abs(wanted[finite]).max(initial=0.0)))
        allowed = np.maximum(least, relative * np.abs(wanted) + absolute * size)
        near = np.abs(got - wanted) <= allowed
    return (near & finite) | (got == wanted) | (np.isnan(got) & np.isnan(wanted))
