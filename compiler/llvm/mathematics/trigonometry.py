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
from compiler.llvm.mathematics.exponential import nearest_integer, polynomial, with_sign

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
    r, n = quarter_turns(x)
    sine, cosine = sine_and_cosine(r)
    odd = is_odd(n)
    code.note("tan is sin / cos, or - cos / sin after an odd number of quarter turns")
    quotient = code.let("quotient", odd.choose(cosine, sine) / odd.choose(sine, cosine))
    flip = n << (x.format.width - 1)
    return (quotient.bits() ^ flip ^ sign_of(x)).as_float()


def sign_of(x: Value) -> Value:
    """The sign bit alone."""
    return x.code.let("sign", x.bits() & x.format.sign)


def is_odd(n: Value) -> Value:
    """Whether the number of quarter turns is odd."""
    return n.code.let("odd", (n & 1).compare("ne", 0))


def turned(value: Value, n: Value, sign: Value | None = None) -> Value:
    """The value, negated in the second half of a turn, and once more by the sign."""
    value.code.note("the second half of a turn has the other sign")
    flip = (n << (value.format.width - 2)) & value.format.sign
    if sign is not None:
        flip = flip ^ sign
    return (value.bits() ^ flip).as_float()


def sine_and_cosine(r: Value) -> tuple[Value, Value]:
    """sin r = r + r**3 s(r**2) and cos r = 1 + r**2 (r**2 c(r**2) - 1/2)."""
    code = r.code
    code.note("sin r = r + r**3 s(r**2)")
    z = code.let("z", r * r)
    sine = code.let("sine", (r * z).times_plus(polynomial("sin", z), r))
    code.note("cos r = 1 + r**2 (r**2 c(r**2) - 1/2)")
    inner = z.times_plus(polynomial("cos", z), -0.5)
    return sine, code.let("cosine", z.times_plus(inner, 1.0))


def quarter_turns(x: Value) -> tuple[Value, Value]:
    """r and the low bits of n: |x| = n pi/2 + r. Infinity and nan give r = nan."""
    code, name = x.code, x.format.name
    magnitude = code.let("magnitude", x.magnitude())
    code.note("n = the nearest number of quarter turns, r = |x| - n pi/2 with pi/2 in three parts")
    whole, n = nearest_integer(magnitude, nearest(2 / PI, x.format))
    r = magnitude
    for part in QUARTER_TURN_PARTS[name]:
        r = whole.times_plus(-part, r)
    code.note("numbers too large for this are rare")
    far = code.let("far", magnitude >= NEAR_END[name])
    reduce = far_float if name == "f32" else far_double
    near = code.let("near", r)
    found = code.rarely(far, (near, n), lambda: reduce(magnitude))
    return found[0], found[1]


def far_float(x: Value) -> tuple[Value, Value]:
    """quarter_turns of a large float32, in float64.

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
    r = (fraction * nearest(2 * PI, F64)).convert("fptrunc", "float")
    return code.let("far_r", r), code.let("far_n", n.convert("trunc", "i32"))


def without_integer(x: Value) -> Value:
    """x minus the nearest integer, exactly."""
    return x - x.rounded()


def far_double(x: Value) -> tuple[Value, Value]:
    """quarter_turns of a large float64.

    x = 2**(32 j) y, and row j of the table holds 2**(32 j) / (2 pi) modulo 1 to 212 bits. The sum of
    the products keeps every rounding error, because the first ones may cancel to 2**-62.
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
    return far_angle(x, turns + tail), n


def far_angle(x: Value, turns: Value) -> Value:
    """2 pi turns; nan for an infinite x."""
    high, low = split(2 * PI, F64, 2)
    angle = turns.times_plus(high, turns * low)
    x.code.note("x - x is nan for infinity and 0 otherwise")
    return x.code.let("far_r", angle + (x - x))


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


def table_of_turns() -> str:
    """The global constant that `far_double` loads from."""
    numbers = ", ".join(f"double 0x{F64.bits(v):016X}" for row in turn_rows() for v in row)
    return f"{TABLE} = private unnamed_addr constant [{4 * ROWS} x double] [{numbers}]"
