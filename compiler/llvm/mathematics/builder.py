"""A small writer of LLVM IR text, generic over the float format and the number of lanes.

A `Value` is the name or the constant of an IR operand; its operators write one instruction each
into the `Code` it belongs to. With `lanes` > 1 every value is a vector and constants are splatted,
so one Python function describes the scalar function and all explicit vector ones, and all of them
give the same bits: no instruction has a fast-math flag, and an fma is where it is written.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

Number = float | int

OPCODES = {"+": "add", "-": "sub", "*": "mul", "/": "div"}


@dataclass(frozen=True)
class Format:
    """An IEEE binary format: LLVM's names for it and the layout of its bits."""

    name: str
    element: str
    integer: str
    width: int
    mantissa: int
    bias: int

    @property
    def one(self) -> int:
        """The bits of 1.0."""
        return self.bias << self.mantissa

    @property
    def sign(self) -> int:
        """The bits of -0.0."""
        return 1 << (self.width - 1)

    @property
    def magic(self) -> float:
        """Adding it rounds |x| < 2**(mantissa - 1) to an integer, left in the sum's low bits."""
        return 1.5 * 2.0**self.mantissa

    @property
    def smallest_normal(self) -> float:
        """Below it numbers are subnormal."""
        return 2.0 ** (1 - self.bias)

    def rounded(self, number: float) -> float:
        """The nearest number of this format."""
        if self.name == "f64":
            return number
        return float(struct.unpack("<f", struct.pack("<f", number))[0])

    def bits(self, number: float) -> int:
        """The bit pattern of the number, which must be exact in this format."""
        float_code, integer_code = ("<f", "<I") if self.name == "f32" else ("<d", "<Q")
        return int(struct.unpack(integer_code, struct.pack(float_code, number))[0])


F32 = Format("f32", "float", "i32", 32, 23, 127)
F64 = Format("f64", "double", "i64", 64, 52, 1023)
FORMATS = {"f32": F32, "f64": F64}
FLOATS = {"float": F32, "double": F64}
LAYOUTS = {**FLOATS, "i32": F32, "i64": F64}


@dataclass(frozen=True)
class Value:
    """An operand: its text, its element type, and the code its operators write to."""

    code: "Code" = field(repr=False)
    text: str
    element: str

    @property
    def format(self) -> Format:
        """The float format of this value or of the bits it holds."""
        return LAYOUTS[self.element]

    def arithmetic(self, operator: str, other: "Value | Number", swap: bool = False) -> "Value":
        """self operator other, or other operator self."""
        prefix = "f" if self.element in FLOATS else ""
        operands = (other, self) if swap else (self, other)
        return self.code.binary(prefix + OPCODES[operator], *operands)

    def __add__(self, other: "Value | Number") -> "Value":
        return self.arithmetic("+", other)

    def __sub__(self, other: "Value | Number") -> "Value":
        return self.arithmetic("-", other)

    def __rsub__(self, other: Number) -> "Value":
        return self.arithmetic("-", other, swap=True)

    def __mul__(self, other: "Value | Number") -> "Value":
        return self.arithmetic("*", other)

    def __truediv__(self, other: "Value | Number") -> "Value":
        return self.arithmetic("/", other)

    def __rtruediv__(self, other: Number) -> "Value":
        return self.arithmetic("/", other, swap=True)

    def __neg__(self) -> "Value":
        return self.code.emit(f"fneg {self.typed}", self.element)

    def __and__(self, other: "Value | Number") -> "Value":
        return self.code.binary("and", self, other)

    def __or__(self, other: "Value | Number") -> "Value":
        return self.code.binary("or", self, other)

    def __xor__(self, other: "Value | Number") -> "Value":
        return self.code.binary("xor", self, other)

    def __lshift__(self, other: int) -> "Value":
        return self.code.binary("shl", self, other)

    def __rshift__(self, other: int) -> "Value":
        return self.code.binary("lshr", self, other)

    def compare(self, predicate: str, other: "Value | Number") -> "Value":
        """One bit per lane; predicates are LLVM's: olt, oeq, une, slt …"""
        opcode = "fcmp" if self.element in FLOATS else "icmp"
        return self.code.binary(f"{opcode} {predicate}", self, other, "i1")

    def __lt__(self, other: "Value | Number") -> "Value":
        return self.compare("olt", other)

    def __gt__(self, other: "Value | Number") -> "Value":
        return self.compare("ogt", other)

    def __ge__(self, other: "Value | Number") -> "Value":
        return self.compare("oge", other)

    @property
    def typed(self) -> str:
        """The operand with its type in front."""
        return f"{self.code.type(self.element)} {self.text}"

    def convert(self, opcode: str, element: str) -> "Value":
        """fpext, fptrunc, trunc, zext … to the given element type."""
        return self.code.emit(f"{opcode} {self.typed} to {self.code.type(element)}", element)

    def bits(self) -> "Value":
        """The bit pattern of a float."""
        return self.convert("bitcast", self.format.integer)

    def as_float(self) -> "Value":
        """The float with this bit pattern."""
        return self.convert("bitcast", self.format.element)

    def choose(
        self, then: "Value | Number", otherwise: "Value | Number", element: str = ""
    ) -> "Value":
        """then where this condition holds, otherwise elsewhere; both are computed."""
        for side in (then, otherwise):
            element = side.element if isinstance(side, Value) else element
        return self.code.select(self, then, otherwise, element)

    def at_most(self, limit: float) -> "Value":
        """min(self, limit); NaN stays NaN."""
        return (self > limit).choose(limit, self)

    def at_least(self, limit: float) -> "Value":
        """max(self, limit); NaN stays NaN."""
        return (self < limit).choose(limit, self)

    def magnitude(self) -> "Value":
        """|self|."""
        return self.code.intrinsic("fabs", self)

    def rounded(self) -> "Value":
        """The nearest integer, ties to even."""
        return self.code.intrinsic("rint", self)

    def floor(self) -> "Value":
        """The largest integer not above."""
        return self.code.intrinsic("floor", self)

    def times_plus(self, factor: "Value | Number", addend: "Value | Number") -> "Value":
        """self * factor + addend, rounded once."""
        return self.code.intrinsic("fma", self, factor, addend)


class Code:
    """The body of one function while it is written."""

    def __init__(self, lanes: int, block: str = "entry", has_avx512: bool = False) -> None:
        self.has_avx512 = has_avx512
        self.lanes = lanes
        self.lines: list[str] = []
        self.declared: dict[str, None] = {}
        self.names: set[str] = set()
        self.block = block
        self.count = 0

    def type(self, element: str) -> str:
        """`float` or `<8 x float>`."""
        return element if self.lanes == 1 else f"<{self.lanes} x {element}>"

    def constant(self, number: Number, element: str) -> Value:
        """The number as an operand; floats in hexadecimal, which is exact."""
        text = str(number)
        if element in FLOATS:
            exact = FLOATS[element].rounded(float(number))
            text = f"0x{F64.bits(exact):016X}"
        elif element == "i1":
            text = "true" if number else "false"
        return Value(self, text if self.lanes == 1 else f"splat ({element} {text})", element)

    def operand(self, operand: Value | Number, element: str) -> Value:
        """The operand itself, or the number as a constant."""
        return operand if isinstance(operand, Value) else self.constant(operand, element)

    def emit(self, instruction: str, element: str) -> Value:
        """Write one instruction; returns its result under a fresh name."""
        self.count += 1
        value = Value(self, f"%v{self.count}", element)
        self.lines.append(f"  {value.text} = {instruction}")
        return value

    def emit_with(self, instruction: str, operands: list[Value | Number], element: str) -> Value:
        """emit, with the decimal value of constant floats as a remark."""
        result = self.emit(instruction, element)
        remarks = [f"{o:.9g}" for o in operands if isinstance(o, float)]
        if remarks:
            self.lines[-1] += f"  ; {', '.join(remarks)}"
        return result

    def binary(
        self, opcode: str, left: Value | Number, right: Value | Number, result: str = ""
    ) -> Value:
        """One instruction of two operands, one of which may be a number."""
        operand = left if isinstance(left, Value) else right
        assert isinstance(operand, Value), "one side gives the type"
        element = operand.element
        first, second = self.operand(left, element), self.operand(right, element)
        text = f"{opcode} {first.typed}, {second.text}"
        return self.emit_with(text, [left, right], result or element)

    def select(
        self, condition: Value, then: Value | Number, otherwise: Value | Number, element: str
    ) -> Value:
        """A select; both alternatives may be numbers of the given element type."""
        typed = [self.operand(side, element).typed for side in (then, otherwise)]
        text = f"select {condition.typed}, {typed[0]}, {typed[1]}"
        return self.emit_with(text, [then, otherwise], element)

    def intrinsic(self, name: str, first: Value, *others: Value | Number) -> Value:
        """A call of an LLVM float intrinsic all of whose operands have one type."""
        element = first.element
        values = [self.operand(o, element) for o in (first, *others)]
        suffix = first.format.name if self.lanes == 1 else f"v{self.lanes}{first.format.name}"
        callee, kind = f"@llvm.{name}.{suffix}", self.type(element)
        self.declared[f"declare {kind} {callee}({', '.join([kind] * len(values))})"] = None
        text = f"call {kind} {callee}({', '.join(v.typed for v in values)})"
        return self.emit_with(text, [first, *others], element)

    def scale(self, value: Value, power: Value) -> Value | None:
        """value * 2**power, rounded once, by one instruction where the target has it."""
        layout = value.format
        width = self.lanes * layout.width
        if self.lanes == 1 or width not in (128, 256, 512) or not self.has_avx512:
            return None
        kind, mask = self.type(value.element), f"i{max(self.lanes, 8)}"
        callee = f"@llvm.x86.avx512.mask.scalef.p{'s' if layout.name == 'f32' else 'd'}.{width}"
        rounding = ", i32" if width == 512 else ""
        self.declared[f"declare {kind} {callee}({kind}, {kind}, {kind}, {mask}{rounding})"] = None
        everywhere = f"{kind} poison, {mask} -1{rounding and ', i32 4'}"
        text = f"call {kind} {callee}({value.typed}, {power.typed}, {everywhere})"
        return self.emit(text, value.element)

    def load(self, table: str, index: Value, element: str) -> Value:
        """The element of a global array at an index (i64) that is inside it."""
        pointers = self.emit(f"getelementptr inbounds {element}, ptr {table}, {index.typed}", "ptr")
        if self.lanes == 1:
            return self.emit(f"load {element}, {pointers.typed}", element)
        kind = self.type(element)
        callee = f"@llvm.masked.gather.v{self.lanes}{FLOATS[element].name}.v{self.lanes}p0"
        mask = self.constant(1, "i1")
        types = f"{self.type('ptr')}, i32, {self.type('i1')}, {kind}"  # as `vectors.gather` has it
        self.declared[f"declare {kind} {callee}({types})"] = None
        width = FLOATS[element].width // 8
        operands = f"{pointers.typed}, i32 {width}, {mask.typed}, {kind} poison"
        return self.emit(f"call {kind} {callee}({operands})", element)

    def note(self, comment: str) -> None:
        """Write one comment line: a step of the method."""
        self.lines.append(f"  ; {comment}")

    def let(self, name: str, value: Value) -> Value:
        """Give the instruction just written a readable name."""
        if not self.lines[-1].startswith(f"  {value.text} = "):
            return value
        fresh = name if name not in self.names else f"{name}.{self.count}"
        self.names.add(fresh)
        self.lines[-1] = self.lines[-1].replace(f"  {value.text} =", f"  %{fresh} =", 1)
        return Value(self, f"%{fresh}", value.element)

    def any(self, condition: Value) -> Value:
        """True if the condition holds in some lane, as one scalar bit."""
        if self.lanes == 1:
            return condition
        scalar = f"i{self.lanes}"
        mask = self.emit(f"bitcast {condition.typed} to {scalar}", scalar)
        return self.emit(f"icmp ne {scalar} {mask.text}, 0", "i1")

    def rarely(
        self, condition: Value, usual: tuple[Value, ...], rare: Callable[[], tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        """`rare()` in the lanes where the condition holds, `usual` elsewhere.

        The rare instructions stand in a block that is skipped if no lane needs them.
        """
        skip, before = self.any(condition), self.block
        self.lines.append(f"  br i1 {skip.text}, label %rare, label %joined")
        self.open_block("rare")
        value = rare()
        if self.lanes > 1:
            pairs = zip(value, usual, strict=True)
            value = tuple(condition.choose(new, old) for new, old in pairs)
        self.lines.append("  br label %joined")
        self.open_block("joined")
        return tuple(
            self.emit(
                f"phi {self.type(old.element)} [ {old.text}, %{before} ], [ {new.text}, %rare ]",
                old.element,
            )
            for old, new in zip(usual, value, strict=True)
        )

    def open_block(self, label: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{label}:")
        self.block = label
