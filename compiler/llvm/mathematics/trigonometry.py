"""sin, cos and tan: |x| = n quarter turns + r with |r| <= pi/4, then sin r and cos r."""

import math

from compiler.llvm.mathematics.builder import F64, Value
from compiler.llvm.mathematics.constants import (
    PI,
    QUARTER_TURN_PARTS,
    ROW_STEP,
    ROWS,
    nearest,
    split,
    turn_chunks,
    turn_rows,
)
from compiler.llvm.mathematics.exponential import nearest_integer, polynomial

# Up to here pi/2 in three parts leaves an accurate r, and n * part is exact where it has to be.
NEAR_END = {"f32": 65536.0, "f64": 2.0**30}
TABLE = "@sv.turns.f64"


def sin(x: Value) -> Value:
    """± sin r or ± cos r by the quarter turn that x is in."""
    r, n = quarter_turns(x)
    sine, cosine = sine_and_cosine(r)
    odd = is_odd(n)
    return turned(odd.choose(cosine, sine), n, sign_of(x))


def cos(x: Value) -> Value:
    """sin of one quarter turn further; cos is even, so the sign of x does not matter."""
    r, n = quarter_turns(x)
    sine, cosine = sine_and_cosine(r)
    odd = is_odd(n)
    return turned(odd.choose(sine, cosine), n + 1)


def tan(x: Value) -> Value:
    """sin r / cos r in even quarter turns, - cos r / sin r in odd ones."""
    code = x.code
    r, r_low, n = quarter_turns_pair(x)
    sine, cosine = sine_and_cosine(r, r_low)
    odd = is_odd(n)
    code.note("tan is sin / cos, or - cos / sin after an odd number of quarter turns")
    quotient = code.let("quotient", odd.choose(cosine, sine) / odd.choose(sine, cosine))
    flip = n << (x.format.width - 1)
    return (quotient.bits() ^ flip ^ sign_of(x)).as_float()


def sign_of(x: Value) -> Value:
    """The sign bit alone."""
    return x.code.let("sign", x.bits() & x.format.sign)


def is_odd(n: Value) -> Value:
    """True if the number of quarter turns is odd."""
    return n.code.let("odd", (n & 1).compare("ne", 0))


def turned(value: Value, n: Value, sign: Value | None = None) -> Value:
    """The value, negated in the second half of a turn, and once more by the sign."""
    value.code.note("the second half of a turn has the other sign")
    flip = (n << (value.format.width - 2)) & value.format.sign
    if sign is not None:
        flip = flip ^ sign
    return (value.bits() ^ flip).as_float()


def sine_and_cosine(r: Value, r_low: Value | None = None) -> tuple[Value, Value]:
    """Both of r + r_low. sin r = r + r**3 s(r**2), cos r = 1 + r**2 (r**2 c(r**2) - 1/2)."""
    code = r.code
    code.note("sin r = r + r**3 s(r**2)")
    z = code.let("z", r * r)
    cube, sine_series = r * z, polynomial("sin", z)
    if r_low is None:
        sine = code.let("sine", cube.times_plus(sine_series, r))
    else:
        sine = code.let("sine", cube.times_plus(sine_series, r_low) + r)
    code.note("cos r = 1 + r**2 (r**2 c(r**2) - 1/2)")
    inner = z.times_plus(polynomial("cos", z), -0.5)
    if r_low is None:
        return sine, code.let("cosine", z.times_plus(inner, 1.0))
    return sine, code.let("cosine", z.times_plus(inner, -(r * r_low)) + 1.0)


def quarter_turns(x: Value) -> tuple[Value, Value]:
    """r and the low bits of n: |x| = n pi/2 + r. Infinity and nan give r = nan."""
    magnitude, whole, n = nearest_quarter(x)
    r = magnitude
    for part in QUARTER_TURN_PARTS[x.format.name]:
        r = whole.times_plus(-part, r)

    def far() -> tuple[Value, ...]:
        far_r, far_low, far_n = FAR[x.format.name](magnitude)
        return far_r + far_low, far_n

    r, n = x.code.rarely(is_far(magnitude), (r, n), far)
    return r, n


def quarter_turns_pair(x: Value) -> tuple[Value, Value, Value]:
    """quarter_turns with r as a sum of two."""
    magnitude, whole, n = nearest_quarter(x)
    high, middle, low = QUARTER_TURN_PARTS[x.format.name]
    product = whole * middle
    product_error = whole.times_plus(middle, -product)
    r, errors = exact_sum([whole.times_plus(-high, magnitude), -product])
    r_low = whole.times_plus(-low, errors[0] - product_error)
    usual = (r, r_low, n)
    r, r_low, n = x.code.rarely(is_far(magnitude), usual, lambda: FAR[x.format.name](magnitude))
    return r, r_low, n


def nearest_quarter(x: Value) -> tuple[Value, Value, Value]:
    """|x| and the nearest number n of quarter turns, as a float and as low bits."""
    code = x.code
    magnitude = code.let("magnitude", x.magnitude())
    code.note("n = the nearest number of quarter turns, r = |x| - n pi/2 with pi/2 in three parts")
    whole, n = nearest_integer(magnitude, nearest(2 / PI, x.format))
    return magnitude, whole, n


def is_far(magnitude: Value) -> Value:
    """True if pi/2 in three parts is not enough."""
    magnitude.code.note("numbers too large for this are rare")
    return magnitude.code.let("far", magnitude >= NEAR_END[magnitude.format.name])


def far_float(x: Value) -> tuple[Value, Value, Value]:
    """quarter_turns_pair of a large float32, in float64.

    x times 27 bits of 1 / (2 pi) is exact, and so is its distance from an integer: the whole turns
    vanish piece by piece.
    """
    code = x.code
    wide = code.let("wide", x.convert("fpext", "double"))
    code.note("turns = x / (2 pi) modulo 1: each product with 27 bits of 1 / (2 pi) is exact")
    first, *others = turn_chunks()
    turns = without_integer(wide * first)
    for chunk in others:
        turns = turns + without_integer(wide * chunk)
    code.note("n = the nearest integer to 4 turns; what remains is r")
    whole, n = nearest_integer(turns, 4.0)
    fraction = whole.times_plus(-0.25, turns)
    angle = code.let("angle", fraction * nearest(2 * PI, F64))
    r = code.let("far_r", angle.convert("fptrunc", "float"))
    low = (angle - r.convert("fpext", "double")).convert("fptrunc", "float")
    return r, low, n.convert("trunc", "i32")


def without_integer(x: Value) -> Value:
    """x minus the nearest integer, exactly."""
    return x - x.rounded()


def far_double(x: Value) -> tuple[Value, Value, Value]:
    """quarter_turns_pair of a large float64.

    x = 2**(32 j) y, and row j of the table holds 2**(32 j) / (2 pi) modulo 1 to 212 bits. The sum
    of the products keeps every rounding error, because the first ones may cancel to 2**-62.
    """
    code = x.code
    code.note("x = 2**(32 j) y with y < 2**85, an integer for j > 0")
    exponent = (x.bits() >> 52) - (F64.bias + 52)
    row = exponent.compare("sgt", 0).choose(exponent, 0) >> int(math.log2(ROW_STEP))
    row = code.let("row", row)
    y = code.let("y", (x.bits() - (row << (52 + int(math.log2(ROW_STEP))))).as_float())
    code.note("products with row j of the table: 2**(32 j) / (2 pi) modulo 1, in four parts")
    code.declared[table_of_turns()] = None
    first = code.let("first", row << 2)
    parts = [code.load(TABLE, first + i if i else first, "double") for i in range(4)]
    products = [y * part for part in parts]
    errors = [y.times_plus(part, -p) for part, p in zip(parts[:3], products[:3], strict=True)]
    code.note("whole turns vanish; the errors of the sums are kept")
    large = [without_integer(p) for p in (products[0], errors[0], products[1])]
    turns, lost = exact_sum(large)
    whole, n = nearest_integer(turns, 4.0)
    turns = whole.times_plus(-0.25, turns)
    code.note("add the rest from large to small")
    turns, more = exact_sum([turns, errors[1], products[2], *lost])
    tail = errors[2] + products[3]
    for error in more:
        tail = tail + error
    turns, lost = exact_sum([turns, tail])
    code.note("r = 2 pi turns, with its rounding error")
    high, low = split(2 * PI, F64, 2)
    r = code.let("far_r", turns * high)
    error = turns.times_plus(high, -r) + turns.times_plus(low, lost[0] * high)
    code.note("x - x is nan for infinity and 0 otherwise")
    return r, error + (x - x), n


def exact_sum(terms: list[Value]) -> tuple[Value, list[Value]]:
    """The rounded running sum and the rounding error of each step; together they are exact."""
    total, *others = terms
    errors: list[Value] = []
    for term in others:
        next_total = total + term
        part = next_total - total
        errors.append((total - (next_total - part)) + (term - part))
        total = next_total
    return total, errors


FAR = {"f32": far_float, "f64": far_double}


def table_of_turns() -> str:
    """The global constant that `far_double` loads from."""
    numbers = ", ".join(f"double 0x{F64.bits(v):016X}" for row in turn_rows() for v in row)
    return f"{TABLE} = private unnamed_addr constant [{4 * ROWS} x double] [{numbers}]"
