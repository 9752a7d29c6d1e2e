"""Mathematical constants to 1400 bits, from integer series, and their splits into floats."""

from fractions import Fraction

from compiler.llvm.mathematics.builder import F32, F64, Format

BITS = 1400
ROW_STEP = 32  # binary exponents per row of the table of 2/pi
ROWS = 31  # covers float64 significands times 2**0 … 2**971


def inverse_series(divisor: int, sign: int) -> int:
    """atan(1 / divisor) for sign -1, atanh(1 / divisor) for sign 1, in units of 2**-BITS."""
    power, total, odd = (1 << BITS) // divisor, 0, 1
    now = 1
    while power:
        total += now * (power // odd)
        power //= divisor * divisor
        odd, now = odd + 2, now * sign
    return total


def computed_pi() -> Fraction:
    """Machin's formula: pi = 16 atan(1/5) - 4 atan(1/239)."""
    return Fraction(16 * inverse_series(5, -1) - 4 * inverse_series(239, -1), 1 << BITS)


def computed_ln2() -> Fraction:
    """ln 2 = 2 atanh(1/3)."""
    return Fraction(2 * inverse_series(3, 1), 1 << BITS)


PI = computed_pi()
LN2 = computed_ln2()


def nearest(value: Fraction, to: Format) -> float:
    """The nearest number of the format."""
    return to.rounded(float(value))


def split(value: Fraction, to: Format, count: int) -> tuple[float, ...]:
    """Floats whose exact sum is the value to about `count` times the format's precision."""
    parts: list[float] = []
    for _ in range(count):
        parts.append(nearest(value, to))
        value -= Fraction(parts[-1])
    return tuple(parts)


def modulo_one(value: Fraction) -> Fraction:
    """The value minus the nearest integer."""
    return value - round(value)


def turn_rows() -> tuple[tuple[float, ...], ...]:
    """Row j: 2**(32 j) / (2 pi) modulo 1 as four float64, for x = 2**(32 j) * integer."""
    turn = 1 / (2 * PI)
    return tuple(split(modulo_one(turn * 2 ** (ROW_STEP * j)), F64, 4) for j in range(ROWS))


def turn_chunks() -> tuple[float, ...]:
    """1 / (2 pi) in pieces of 27 bits: a float32 times a piece is exact in float64."""
    remaining, pieces = 1 / (2 * PI), []
    for i in range(1, 8):
        unit = Fraction(1, 2 ** (27 * i))
        piece = remaining // unit * unit
        pieces.append(float(piece))
        remaining -= piece
    return tuple(pieces)


LN2_PARTS = {"f32": split(LN2, F32, 2), "f64": split(LN2, F64, 2)}
QUARTER_TURN_PARTS = {"f32": split(PI / 2, F32, 3), "f64": split(PI / 2, F64, 3)}
