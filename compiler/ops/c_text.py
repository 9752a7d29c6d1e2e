"""C code of operations, as entries of their rows: templates with these placeholders

    {a} {b} {c}     operands: names or literals, so that they need no brackets
    {t}             the type of an element: `float`, `int32_t`
    {u}             an unsigned type without integer promotion, for arithmetic that wraps
    {f}             the suffix of functions on floats: `f`, or nothing for doubles
    {bits} {last}   the width of the type, and one less
    {helper}        the function of the row's helper, whose name is made of row and type

Floats of 16 bits are computed as `float`, and converted.
"""


def infix(sign: str) -> str:
    """`a + b`"""
    return f"{{a}} {sign} {{b}}"


def wrapped(sign: str) -> str:
    """`a + b` that wraps; C leaves the overflow of signed integers undefined."""
    return f"({{t}})(({{u}}){{a}} {sign} ({{u}}){{b}})"


def bitwise(sign: str) -> str:
    """`a | b` in the type of the operands, not in the `int` that C promotes short types to."""
    return f"({{t}})({{a}} {sign} {{b}})"


def function(name: str, arity: int = 1) -> str:
    """`powf(a, b)`"""
    operands = ", ".join(("{a}", "{b}", "{c}")[:arity])
    return f"{name}{{f}}({operands})"


NEGATED = "({t})(({u})0 - ({u}){a})"
MAGNITUDE = f"{{a}} < 0 ? {NEGATED} : {{a}}"
GREATER = "{a} > {b} || {a} != {a} || ({a} == {b} && !signbit({a})) ? {a} : {b}"
LESSER = "{a} < {b} || {a} != {a} || ({a} == {b} && signbit({a})) ? {a} : {b}"
QUOTIENT = f"{{b}} == 0 ? 0 : {{b}} == -1 ? {NEGATED} : {{a}} / {{b}}"
REMAINDER = "{b} == 0 ? 0 : {a} % {b}"
REMAINDER_SIGNED = "{b} == 0 || {b} == -1 ? 0 : {a} % {b}"
QUOTIENT_UNSIGNED = "{b} == 0 ? 0 : {a} / {b}"
LEFT = "({u}){b} < {bits} ? ({t})(({u}){a} << {b}) : 0"
RIGHT = "({u}){b} < {bits} ? {a} >> {b} : 0"
RIGHT_SIGNED = "{a} >> (({u}){b} < {bits} ? {b} : {last})"

_BEGIN = "static inline {t} {helper}({t} a, {t} b)\n{{\n"
_TO_A_NEGATIVE = "    if (b < 0) return a == 1 || a == -1 ? (b % 2 ? a : 1) : 0;\n"
_SQUARING = """\
    {u} result = 1, square = ({u})a;
    for ({u} rest = ({u})b; rest; rest >>= 1) {{
        if (rest & 1) result *= square;
        square *= square;
    }}
    return ({t})result;
}}"""
POWER = _BEGIN + _SQUARING
POWER_SIGNED = _BEGIN + _TO_A_NEGATIVE + _SQUARING
"""By repeated squaring, wrapping; a negative power gives 1, ±1 or 0."""
