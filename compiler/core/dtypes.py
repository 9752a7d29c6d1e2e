"""Element types: names, sizes, kinds, and NumPy-2 promotion (done by NumPy itself)."""

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from compiler.core.errors import DTypeError
from compiler.core.lazy import loading
from compiler.core.origin import caller, current

Kind = Literal["bool", "int", "uint", "float"]
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array of any shape and element type."""
Scalar = bool | int | float


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """An element type; `short` is the name in printed programs, `bits` its width in memory.

    Each type is one object. It equals what NumPy's type of the same name equals, so that
    `x.dtype == np.float32` and `x.dtype == "float32"` mean what they say, and has the hash of
    `np.dtype("float32")`: the two are one key in dicts and sets. A scalar type and a name are
    equal to it but have hashes of their own, also compared with `np.dtype`; `np.dtype(key)`
    makes a key of either.
    """

    name: str
    short: str
    kind: Kind
    bits: int
    computed_as: str = ""
    """The type that operations compute in, each result rounded to this one; "": in itself."""
    summed_as: str = ""
    """The type that sums and products of many elements are kept in, rounded once at their end."""
    limits: tuple[Scalar, Scalar] | None = None
    """The least and the greatest value, where they are not those of its kind and width."""
    width: int = 0
    """For a storage type: the bits of an element, which always has a byte of memory; 0 for all
    other types."""
    _hash: int | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        hash_of_numpy = hash(np.dtype(self.name)) if self.name in np.sctypeDict else None
        object.__setattr__(self, "_hash", hash_of_numpy)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        if isinstance(other, str) and other in _BY_NAME:
            return _BY_NAME[other] is self
        return isinstance(other, str | type | np.dtype) and bool(self.numpy == other)

    def __hash__(self) -> int:
        return hash(self.numpy) if self._hash is None else self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return parse, (self.name,)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The same as `numpy`: by this name NumPy finds it, as in `np.zeros(3, x.dtype)`."""
        return self.numpy

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return max(self.bits // 8, 1)

    @property
    def numpy(self) -> "np.dtype[Any]":
        """The NumPy type of the same name; that of a type which is not NumPy's is ml_dtypes'."""
        cached = _NUMPY.get(self.name)
        return _from_ml_dtypes(self.name) if cached is None else cached

    @property
    def arithmetic(self) -> "DType":
        """The type that operations on this one compute in: float32 for bfloat16, int8 for int4."""
        return _BY_NAME[self.computed_as] if self.computed_as else self

    @property
    def accumulator(self) -> "DType":
        """The type that sums are kept in: float32 for floats of 16 bits, else this one."""
        return _BY_NAME[self.summed_as] if self.summed_as else self

    @property
    def is_storage(self) -> bool:
        """True if elements are only kept in this type: it has no common type with others."""
        return self.width > 0

    @property
    def is_float(self) -> bool:
        """True if this is a floating-point type."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """True if this is a signed or unsigned integer type (bool is neither)."""
        return self.kind in ("int", "uint")

    @property
    def minimum(self) -> Scalar:
        """The least value: false, the integer's minimum, or -inf where the type has it."""
        if self.kind == "bool":
            return False
        if self.limits is not None:
            return self.limits[0]
        return float("-inf") if self.is_float else int(np.iinfo(self.numpy).min)

    @property
    def maximum(self) -> Scalar:
        """The greatest value: true, the integer's maximum, or +inf where the type has it."""
        if self.kind == "bool":
            return True
        if self.limits is not None:
            return self.limits[1]
        return float("inf") if self.is_float else int(np.iinfo(self.numpy).max)

    def __repr__(self) -> str:
        return f"dtypes.{self.name}"

    def __str__(self) -> str:
        return self.name


bool_ = DType("bool", "bool", "bool", 8)
int8 = DType("int8", "i8", "int", 8)
int16 = DType("int16", "i16", "int", 16)
int32 = DType("int32", "i32", "int", 32)
int64 = DType("int64", "i64", "int", 64)
uint8 = DType("uint8", "u8", "uint", 8)
uint16 = DType("uint16", "u16", "uint", 16)
uint32 = DType("uint32", "u32", "uint", 32)
uint64 = DType("uint64", "u64", "uint", 64)
float16 = DType("float16", "f16", "float", 16, summed_as="float32")
bfloat16 = DType("bfloat16", "bf16", "float", 16, computed_as="float32", summed_as="float32")
"""The upper half of a float32: its range, with 8 bits of precision."""
float32 = DType("float32", "f32", "float", 32)
float64 = DType("float64", "f64", "float", 64)

ALL: tuple[DType, ...] = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16,
    float32, float64,
)  # fmt: skip
"""The types that programs compute in."""


def _stored(
    name: str, short: str, kind: Kind, limits: tuple[Scalar, Scalar] | None, width: int = 8
) -> DType:
    """A type of storage; floats are computed in float32, integers in 8 bits."""
    wide = "float32" if kind == "float" else f"{kind}8"
    summed = wide if kind == "float" else ""
    return DType(name, short, kind, 8, wide, summed, limits, width)


float8_e4m3fn = _stored("float8_e4m3fn", "f8e4m3fn", "float", (-448.0, 448.0))
"""4 bits of exponent, 3 of mantissa: OCP's, without infinities; what is beyond is NaN."""
float8_e5m2 = _stored("float8_e5m2", "f8e5m2", "float", None)
"""5 bits of exponent, 2 of mantissa: the upper half of a float16."""
float8_e4m3fnuz = _stored("float8_e4m3fnuz", "f8e4m3fnuz", "float", (-240.0, 240.0))
"""As e4m3fn with another bias, and one NaN in the place of -0.0."""
float8_e5m2fnuz = _stored("float8_e5m2fnuz", "f8e5m2fnuz", "float", (-57344.0, 57344.0))
"""As e5m2 with another bias, no infinities, and one NaN in the place of -0.0."""
float8_e8m0fnu = _stored("float8_e8m0fnu", "f8e8m0fnu", "float", (2.0**-127, 2.0**127))
"""Powers of two, for scales of blocks: no sign, no zero; one NaN."""
float4_e2m1fn = _stored("float4_e2m1fn", "f4e2m1fn", "float", (-6.0, 6.0), 4)
"""0, 0.5, 1, 1.5, 2, 3, 4, 6 of both signs; neither infinities nor NaN."""
int4 = _stored("int4", "int4", "int", (-8, 7), 4)
uint4 = _stored("uint4", "uint4", "uint", (0, 15), 4)
int2 = _stored("int2", "int2", "int", (-2, 1), 2)
uint2 = _stored("uint2", "uint2", "uint", (0, 3), 2)
"""Printed in full: NumPy takes i4 for a type of four bytes."""

STORED: tuple[DType, ...] = (
    float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu, float4_e2m1fn,
    int4, uint4, int2, uint2,
)  # fmt: skip
"""The types of storage. An element takes a byte, those of 4 and 2 bits in its lower part, as
ml_dtypes has them; files that pack several into a byte are unpacked where they are read."""
_BY_NAME = {name: t for t in (*ALL, *STORED) for name in (t.name, t.short)}
_NUMPY: "dict[str, np.dtype[Any]]" = {
    t.name: np.dtype(t.name) for t in ALL if t.name in np.sctypeDict
}
_BY_NUMPY = {dtype: _BY_NAME[name] for name, dtype in _NUMPY.items()}


def _from_ml_dtypes(name: str) -> "np.dtype[Any]":
    """The type of a package that is loaded by the first program that needs it: 10 ms."""
    with loading():
        import ml_dtypes
    return _NUMPY.setdefault(name, np.dtype(getattr(ml_dtypes, name)))


def of_numpy(dtype: "np.dtype[Any]") -> DType | None:
    """The type that is this one of NumPy's or of ml_dtypes'; None where there is none.

    Of another byte order there is none.
    """
    if dtype in _BY_NUMPY:
        return _BY_NUMPY[dtype]
    dtype_of = _BY_NAME.get(dtype.name)  # no other package has types of these names
    return dtype_of if dtype_of is not None and dtype == dtype_of.numpy else None


def is_floating(dtype: "np.dtype[Any]") -> bool:
    """True if an element type of an array is one of floats; most of ml_dtypes' are of kind V."""
    return dtype.kind == "f" or (dtype.kind == "V" and dtype.name.startswith(("bfloat", "float")))


def float_limits(dtype: "np.dtype[Any]") -> Any:
    """`np.finfo` of a floating dtype: `eps`, `max`, `tiny`, …; for ml_dtypes' types, too."""
    if dtype.kind == "f" and dtype.itemsize > 1:  # of one byte is ml_dtypes' e5m2
        return np.finfo(dtype)
    with loading():
        import ml_dtypes
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def parse(value: object, operation: str = "dtype") -> DType:
    """The `DType` for a name, a NumPy type, a Python type or a `DType`.

    Raises `DTypeError` for types this compiler does not compute with.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    if isinstance(value, np.dtype) and (ours := of_numpy(value)) is not None:
        return ours
    try:
        name = "" if value is None else np.dtype(value).name  # type: ignore[call-overload]
    except TypeError:
        name = ""
    if name in _BY_NAME:
        return _BY_NAME[name]
    raise DTypeError(
        operation,
        "unknown element type",
        got=repr(value),
        expected="one of " + ", ".join(t.name for t in ALL),
    )


_default: DType | None = None
_inside: "ContextVar[DType | None]" = ContextVar("default dtype", default=None)


def set_default_dtype(dtype: object = None) -> None:
    """The float type of what has none of its own, from now on and on every thread; None: as usual.

    It is that of `zeros`, `ones`, `eye`, `linspace` (float64 as usual, NumPy's), of random floats
    (float32 as usual) and of Python's floats in lists. Arrays keep theirs, and so do results: an
    integer divided by an integer stays float64. `DTypeError` for what is no float type.
    """
    global _default
    _default = None if dtype is None else _float_type("set_default_dtype", dtype)


def get_default_dtype() -> DType | None:
    """The type that `set_default_dtype` or `default_dtype` set; None where all is as usual."""
    return _inside.get() or _default


def default_dtype(dtype: object) -> AbstractContextManager[None]:
    """`with default_dtype("float32"):` as `set_default_dtype` inside the block, on this thread."""
    return _default_inside(_float_type("default_dtype", dtype))


@contextmanager
def _default_inside(dtype: DType) -> Iterator[None]:
    token = _inside.set(dtype)
    try:
        yield
    finally:
        _inside.reset(token)


def _float_type(operation: str, dtype: object) -> DType:
    float_type = parse(dtype, operation)
    if float_type.is_float and not float_type.is_storage:
        return float_type
    raise DTypeError(
        operation, "only a float type can be the default", got=str(float_type),
        expected="float16, bfloat16, float32 or float64", origin=caller(operation),
    )  # fmt: skip


def asked(dtype: object, operation: str, usual: DType = float64) -> DType:
    """The type given to a call that makes floats out of nothing, else the default, else `usual`."""
    return parse(dtype, operation) if dtype is not None else get_default_dtype() or usual


def promote(*types: DType | Scalar) -> DType:
    """The common type by NumPy 2's rules: Python scalars are weak, types are not."""
    return _promoted(tuple(t if isinstance(t, DType) else type(t) for t in types))


@functools.lru_cache(maxsize=1024)
def _promoted(types: "tuple[DType | type[Scalar], ...]") -> DType:
    """The common type of element types and of types of Python scalars, whose values say nothing.

    Of bfloat16 NumPy knows no common type with most others, so it is PyTorch's and JAX's: with
    integers and numbers bfloat16, with float16 float32, with wider floats the wider one. A
    type of storage has none with another type, as in both of them; with numbers it is itself.
    """
    if stored := {t for t in types if isinstance(t, DType) and t.is_storage}:
        return _alone(stored, types)
    if any(t is bfloat16 for t in types):
        others = {t for t in types if isinstance(t, DType) and t.is_float and t is not bfloat16}
        return _promoted((float32, *others)) if others else bfloat16
    arguments = [t.numpy if isinstance(t, DType) else t() for t in types]
    return _BY_NAME[np.result_type(*arguments).name]


def _alone(stored: set[DType], types: "tuple[DType | type[Scalar], ...]") -> DType:
    """The common type where some are types of storage: that one, if there are numbers besides."""
    others = {t for t in types if isinstance(t, DType)}
    dtype = next(iter(stored))
    if len(others) == 1 and (dtype.is_float or float not in types):
        return dtype
    names = sorted(t.name if isinstance(t, DType) else t.__name__ for t in set(types))
    here = current()
    raise DTypeError(
        here.method if here else "promote", "a type of storage has no common type with another",
        got=" and ".join(names), expected="operands of one type",
        hint=f"convert first, e.g. cast({dtype.computed_as})",
    )  # fmt: skip


def to_float(dtype: DType) -> DType:
    """The type NumPy's floating-point functions use for `dtype`: int8 → f16, int32 → f64, …"""
    if dtype.is_float:
        return dtype
    return {8: float16, 16: float32}.get(dtype.bits, float64)
