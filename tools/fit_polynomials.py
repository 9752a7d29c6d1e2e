"""Prints the polynomial coefficients of compiler/llvm/mathematics/coefficients.py.

Each fit is a weighted minimax polynomial found by Remez exchange on a Chebyshev grid in 60-digit
arithmetic. Coefficients are rounded to the target format one at a time, lowest power first, and the
others are fitted again after each rounding, so that they make up for it. Run it with no arguments
(all fits, about two minutes) or with the names of fits.
"""

import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp

mp.mp.dps = 60
GRID_POINTS = 601  # odd: symmetric intervals leave out 0, where quotients are 0 / 0
LN2 = mp.log(2)
Real = Any  # mpmath has no types
Function = Callable[[Real], Real]


@dataclass(frozen=True)
class Fit:
    """Minimise max |weight(t) (p(t) - target(t))| over [low, high] for p of the given degree."""

    name: str
    dtype: str
    degree: int
    target: Function
    weight: Function
    low: Real
    high: Real


def rounded(value: Real, dtype: str) -> float:
    """The nearest float64, or the nearest float32 as a float."""
    if dtype == "f64":
        return float(value)
    return float(struct.unpack("<f", struct.pack("<f", float(value)))[0])


def grid(fit: Fit) -> list[Real]:
    """Chebyshev points of the interval, both ends included, in ascending order."""
    middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
    angles = (mp.pi * i / GRID_POINTS for i in range(GRID_POINTS, -1, -1))
    return [middle + half * mp.cos(angle) for angle in angles]


def alternation(errors: list[Real], count: int) -> list[int]:
    """Indices of `count` alternating extrema, the largest of each run of one sign.

    Of too many the smallest go: one end, or an inner one with its smaller neighbour.
    """
    extrema: list[int] = []
    for i, error in enumerate(errors):
        if extrema and (error > 0) == (errors[extrema[-1]] > 0):
            if abs(error) > abs(errors[extrema[-1]]):
                extrema[-1] = i
        else:
            extrema.append(i)
    size = [abs(errors[i]) for i in extrema]
    while len(extrema) > count:
        least = size.index(min(size))
        if len(extrema) == count + 1 or least in (0, len(extrema) - 1):
            doomed = [0 if size[0] < size[-1] else -1]
        else:
            first = least if size[least + 1] < size[least - 1] else least - 1
            doomed = [first, first]
        for i in doomed:
            del extrema[i], size[i]
    return extrema


def horner(coefficients: list[Real], t: Real) -> Real:
    """c0 + t (c1 + t (c2 + …))."""
    value = mp.mpf(0)
    for coefficient in reversed(coefficients):
        value = value * t + coefficient
    return value


def remez(points: list[Real], target: list[Real], weight: list[Real], degree: int) -> list[Real]:
    """Coefficients of the minimax polynomial, lowest power first."""
    count = degree + 2
    chosen = [round(i * (len(points) - 1) / (count - 1)) for i in range(count)]
    for _ in range(40):
        rows = [
            [*(weight[j] * points[j] ** k for k in range(degree + 1)), (-1) ** i]
            for i, j in enumerate(chosen)
        ]
        right = [weight[j] * target[j] for j in chosen]
        solution = list(mp.lu_solve(mp.matrix(rows), mp.matrix(right)))
        values = [horner(solution[:-1], t) for t in points]
        errors = [w * (v - g) for w, v, g in zip(weight, values, target, strict=True)]
        worst = max(abs(e) for e in errors)
        extrema = alternation(errors, count)
        if len(extrema) < count or worst <= abs(solution[-1]) * mp.mpf("1.001"):
            break
        chosen = extrema
    return solution[:-1]


def fitted(fit: Fit) -> tuple[list[float], Real]:
    """Coefficients, lowest power first, exact in the format, and their largest weighted error."""
    points = grid(fit)
    weight = [abs(fit.weight(t)) for t in points]
    rest = [fit.target(t) for t in points]
    coefficients: list[float] = []
    for degree in range(fit.degree, -1, -1):
        coefficients.append(rounded(remez(points, rest, weight, degree)[0], fit.dtype))
        # Divide by t: what is left is a fit of one degree less with the weight times |t|.
        rest = [(g - coefficients[-1]) / t for g, t in zip(rest, points, strict=True)]
        weight = [w * abs(t) for w, t in zip(weight, points, strict=True)]
    return coefficients, max(w * abs(g) for w, g in zip(weight, rest, strict=True))


def atanh_ratio(z: Real) -> Real:
    """atanh(s) / s for s**2 = z."""
    return mp.atanh(mp.sqrt(z)) / mp.sqrt(z)


def erf_ratio(z: Real) -> Real:
    """erf(x) / x for x**2 = z."""
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z)


def sine_tail(z: Real) -> Real:
    """(sin r - r) / r**3 for r**2 = z."""
    return (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


def cosine_tail(z: Real) -> Real:
    """(cos r - 1 + r**2 / 2) / r**4 for r**2 = z."""
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def atan_tail(z: Real) -> Real:
    """(atan t - t) / t**3 for t**2 = z."""
    return (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


def asin_tail(z: Real) -> Real:
    """(asin t - t) / t**3 for t**2 = z."""
    return (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


TINY = mp.mpf(10) ** -12  # stands for 0 at the end of an interval
HALF_LN2, HALF_BIT = LN2 / 2 * mp.mpf("1.001"), mp.mpf("0.5005")
ROOT = mp.sqrt(2)
ATANH_END = ((ROOT - 1) / (ROOT + 1)) ** 2
ANGLE_END = mp.mpf("0.795") ** 2
ERF_SPLIT = mp.mpf(1)


def fits() -> list[Fit]:
    """Every fit, in the order of the table."""
    rows: list[Fit] = []

    def add(
        name: str, target: Function, weight: Function, low: Real, high: Real, **degrees: int
    ) -> None:
        rows.extend(Fit(name, d, n, target, weight, low, high) for d, n in degrees.items())

    add(
        "exp",
        lambda r: (mp.expm1(r) - r) / r**2,
        lambda r: r**2 / mp.exp(r),
        -HALF_LN2,
        HALF_LN2,
        f32=4,
        f64=9,
    )
    add(
        "expm1",
        lambda r: (mp.expm1(r) - r) / r**2,
        lambda r: r**2 / mp.expm1(r),
        -HALF_LN2,
        HALF_LN2,
        f32=5,
        f64=10,
    )
    add(
        "exp2",
        lambda r: mp.expm1(r * LN2) / r,
        lambda r: r / 2**r,
        -HALF_BIT,
        HALF_BIT,
        f32=5,
        f64=10,
    )
    add(
        "exp2_short",
        lambda r: mp.expm1(r * LN2) / r,
        lambda r: r / 2**r,
        -HALF_BIT,
        HALF_BIT,
        f64=6,
    )
    add(
        "log",
        lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3,
        lambda f: f**3 / mp.log1p(f),
        1 / ROOT - 1,
        ROOT - 1,
        f32=8,
    )
    add("log", lambda z: (2 * atanh_ratio(z) - 2) / z, lambda z: z, TINY, ATANH_END, f64=6)
    add("log2_short", lambda z: 2 * atanh_ratio(z) / LN2, lambda z: 1, TINY, ATANH_END, f64=5)
    add(
        "log_tail",
        lambda z: (atanh_ratio(z) - 1 - z / 3) / z**2,
        lambda z: z**2,
        TINY,
        ATANH_END,
        f64=6,
    )
    add("sin", sine_tail, lambda z: z, TINY, ANGLE_END, f32=2, f64=5)
    add("cos", cosine_tail, lambda z: z**2, TINY, ANGLE_END, f32=2, f64=5)
    add(
        "erf_small",
        lambda z: erf_ratio(z) - 1,
        lambda z: 1 / erf_ratio(z),
        TINY,
        ERF_SPLIT,
        f32=6,
        f64=12,
    )
    add(
        "erf_large",
        lambda a: mp.log(mp.erfc(a + 1)) / LN2,
        lambda a: LN2 * mp.erfc(a + 1),
        TINY,
        mp.mpf(3),
        f32=6,
    )
    add(
        "erf_large",
        lambda a: mp.log(mp.erfc(a + 1)) / LN2,
        lambda a: LN2 * mp.erfc(a + 1),
        TINY,
        mp.mpf(5),
        f64=17,
    )
    add("atan", atan_tail, lambda z: z, TINY, (ROOT - 1) ** 2, f32=4, f64=10)
    add("asin", asin_tail, lambda z: z, TINY, mp.mpf("0.25"), f32=4, f64=12)
    return rows


def main(names: list[str]) -> None:
    """Print the chosen fits as Python source."""
    for fit in fits():
        if names and fit.name not in names:
            continue
        coefficients, error = fitted(fit)
        low, high = mp.nstr(fit.low, 4), mp.nstr(fit.high, 4)
        print(f"    # [{low}, {high}], error 2**{mp.nstr(mp.log(error, 2), 4)}")
        print(f'    ("{fit.name}", "{fit.dtype}"): (')
        print("".join(f"        {value!r},\n" for value in coefficients), end="")
        print("    ),", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
