"""The mathematics library: accuracy against mpmath and NumPy's validation files, special values,
the same bits at every number of lanes, and loops that LLVM vectorises."""

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import llvmlite.binding as llvm
import mpmath
import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core.dtypes import float64
from compiler.llvm import jit, vectors
from compiler.llvm.mathematics import BINARY, OPERATIONS, body, inline
from compiler.llvm.mathematics.builder import FORMATS
from compiler.llvm.mathematics.coefficients import POLYNOMIALS
from compiler.llvm.writer import Writer
from tests.validation import validation_set
from tools.fit_polynomials import fits, fitted

TOLERANCE = 4.0  # ULP
DTYPES = {"f32": np.float32, "f64": np.float64}
BITS = {"f32": np.uint32, "f64": np.uint64}
VALIDATED = sorted(OPERATIONS - {"erf", "pow"})
PERIODIC, INVERSE = ("sin", "cos", "tan"), ("asin", "acos", "atan")

each_operation = pytest.mark.parametrize("op", sorted(OPERATIONS))
each_dtype = pytest.mark.parametrize("dtype", sorted(DTYPES))


# --- compiling --------------------------------------------------------------------------------


def loop_over(op: str, dtype: str, lanes: int, has_avx512: bool | None) -> str:
    """A module whose `apply(x, [y,] out, n)` has the function for every element or vector."""
    element = FORMATS[dtype].element
    kind = element if lanes == 1 else f"<{lanes} x {element}>"
    names = ["x", "y"] if op in BINARY else ["x"]
    parameters = ", ".join(f"ptr noalias %{a}" for a in [*names, "out"])
    writer = Writer(block="loop")
    if has_avx512 is not None:
        writer.has_avx512 = has_avx512
    for a in names:
        writer.value(f"getelementptr {element}, ptr %{a}, i64 %i", f"%at_{a}")
        writer.value(f"load {kind}, ptr %at_{a}, align 4", f"%{a}_i")
    inline(writer, op, dtype, lanes, [f"%{a}_i" for a in names], "%result")
    body = "\n".join(line.text for line in writer.lines)
    return (
        "\n".join(writer.declarations)
        + f"""
define void @apply({parameters}, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %{writer.block} ]
{body}
  %at_out = getelementptr {element}, ptr %out, i64 %i
  store {kind} %result, ptr %at_out, align 4
  %next = add nuw nsw i64 %i, {lanes}
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}
"""
    )


@dataclass(frozen=True)
class Compiled:
    """A function in machine code, its optimised IR, and the engine that keeps it alive."""

    engine: llvm.ExecutionEngine
    address: int
    optimised: str

    def __call__(self, *arrays: np.ndarray) -> np.ndarray:
        """Apply to arrays of equal length, padded with ones to whole vectors."""
        count = len(arrays[0])
        padded = [np.concatenate([a, np.ones(-count % 16, a.dtype)]) for a in arrays]
        out = np.empty_like(padded[0])
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*padded, out)]
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers), ctypes.c_int64)
        prototype(self.address)(*pointers, ctypes.c_int64(len(out)))
        return out[:count]


@cache
def compiled(op: str, dtype: str, lanes: int, has_avx512: bool | None = None) -> Compiled:
    """The loop compiled for this host; explicit vectors go through no pass, as written."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(loop_over(op, dtype, lanes, has_avx512))
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=jit.host_name(), features=jit.host_features(), opt=3
    )
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    if lanes == 1:
        builder.getModulePassManager().run(module, builder)
    optimised = str(module)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return Compiled(engine, engine.get_function_address("apply"), optimised)


# --- exact values -----------------------------------------------------------------------------


EXACT: dict[str, Callable[..., mpmath.mpf]] = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.ln2,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "pow": lambda x, y: x**y,
}


def precision(op: str, x: float) -> int:
    """Bits that mpmath needs: a whole argument below 2**1024 for sin, a tiny one for tanh."""
    return 1300 if op in PERIODIC or (op == "tanh" and abs(x) < 2.0**-60) else 130


def ulp_error(got: float, exact: mpmath.mpf, dtype: str) -> float:
    """|got - exact| in units of the last place of the exact result."""
    info = np.finfo(DTYPES[dtype])
    exponent = max(int(mpmath.frexp(exact)[1]) - 1, int(info.minexp))
    unit = mpmath.ldexp(1, exponent - info.nmant)
    if math.isnan(got):
        return math.inf
    if math.isinf(got):
        overflows = abs(exact) >= mpmath.mpf(float(info.max)) + unit / 2
        return 0.0 if overflows and (exact > 0) == (got > 0) else math.inf
    return float(abs(mpmath.mpf(got) - exact) / unit)


def worst_error(op: str, dtype: str, *arguments: np.ndarray) -> tuple[float, list[float]]:
    """The largest error in ULP and where it is."""
    results = compiled(op, dtype, 16)(*arguments)
    worst, place = 0.0, []
    for got, *point in zip(results, *arguments, strict=True):
        floats = [float(v) for v in point]
        with mpmath.workprec(precision(op, floats[0])):
            error = ulp_error(float(got), EXACT[op](*map(mpmath.mpf, floats)), dtype)
        if not error <= worst:
            worst, place = error, floats
    return worst, place


# --- arguments --------------------------------------------------------------------------------


def all_exponents(dtype: str, count: int, random: np.random.Generator) -> np.ndarray:
    """Finite numbers with uniformly random bits, subnormal ones among them."""
    high = 1 << FORMATS[dtype].width
    values = random.integers(0, high, count, np.uint64).astype(BITS[dtype]).view(DTYPES[dtype])
    subnormal = random.integers(1, 1 << FORMATS[dtype].mantissa, 30, np.uint64)
    both = np.concatenate([values, subnormal.astype(BITS[dtype]).view(DTYPES[dtype])])
    return both[np.isfinite(both)]


def ordinary(op: str, dtype: str) -> tuple[float, float]:
    """The interval on which the function is neither constant nor overflows."""
    info = np.finfo(DTYPES[dtype])
    lowest, highest = info.minexp - info.nmant - 2.0, info.maxexp + 1.0
    return {
        "exp": (lowest * math.log(2), highest * math.log(2)),
        "exp2": (lowest, highest),
        "log": (0.01, 4.0),
        "log2": (0.01, 4.0),
        "asin": (-1.0, 1.0),
        "acos": (-1.0, 1.0),
        "atan": (-5.0, 5.0),
        "tanh": (-5.0, 5.0),
        "erf": (-6.0, 6.0),
    }.get(op, (-100.0, 100.0))


def one_argument(op: str, dtype: str) -> np.ndarray:
    """All exponents, the ordinary interval densely, around 0 and 1, and near quarter turns."""
    random = np.random.default_rng(sorted(OPERATIONS).index(op))
    kind = DTYPES[dtype]
    near = np.ldexp(random.uniform(-1, 1, 200), random.integers(-20, 1, 200))
    parts = [all_exponents(dtype, 300, random), random.uniform(*ordinary(op, dtype), 900)]
    parts += [near, 1 + near * 2.0**-4]
    if op in PERIODIC:
        parts += [random.integers(1, 1 << 30, 300) * (np.pi / 4)]
        parts += [np.exp2(random.uniform(10, np.finfo(kind).maxexp - 1, 300))]
    x = np.concatenate([p.astype(kind) for p in parts])
    if op in ("log", "log2"):
        x = np.abs(x[x != 0])
    low, high = ordinary(op, dtype)
    return x if op not in ("exp", "exp2", "asin", "acos") else x[(x >= low) & (x <= high)]


def two_arguments(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Bases of all exponents and around 1, with exponents that keep the result in range."""
    random = np.random.default_rng(7)
    kind, info = DTYPES[dtype], np.finfo(DTYPES[dtype])
    near_one = 1 + np.ldexp(random.uniform(-1, 1, 500), random.integers(-20, -1, 500))
    bases = [np.abs(all_exponents(dtype, 800, random)), near_one.astype(kind)]
    x = np.concatenate(bases)
    x = x[(x > 0) & (x != 1)]
    wanted = random.uniform(info.minexp - info.nmant - 2, info.maxexp + 1, len(x))
    y = wanted / np.log2(x.astype(np.float64))
    y[::4] = random.uniform(-3, 3, len(y[::4]))
    return x, np.clip(y, -float(info.max), float(info.max)).astype(kind)


# --- accuracy ---------------------------------------------------------------------------------


@each_dtype
@each_operation
def test_accuracy_against_mpmath(op: str, dtype: str) -> None:
    arguments = two_arguments(dtype) if op == "pow" else (one_argument(op, dtype),)
    worst, place = worst_error(op, dtype, *arguments)
    assert worst <= TOLERANCE, f"{op} {dtype} has {worst} ULP at {place}"


@pytest.mark.parametrize(
    ("dtype", "x"),
    [
        ("f64", 6381956970095103 * 2.0**797),  # the float64 closest to a multiple of pi/2
        ("f64", float(np.finfo(np.float64).max)),
        ("f64", 2.0**1023),
        ("f32", float(np.finfo(np.float32).max)),
        ("f32", 16367173 * 2.0**72),  # the float32 closest to a multiple of pi/2
    ],
)
@pytest.mark.parametrize("op", PERIODIC)
def test_hardest_arguments_of_the_trigonometric_functions(op: str, dtype: str, x: float) -> None:
    worst, place = worst_error(op, dtype, np.array([x, -x], DTYPES[dtype]))
    assert worst <= TOLERANCE, f"{op} {dtype} has {worst} ULP at {place}"


@pytest.mark.parametrize("lanes", (1, 8, 16))
@each_dtype
@pytest.mark.parametrize("op", VALIDATED)
def test_against_validation_set_of_numpy(op: str, dtype: str, lanes: int) -> None:
    numpys = op.replace("a", "arc", 1) if op in INVERSE else op
    x, expected = validation_set(numpys, DTYPES[dtype])
    results = compiled(op, dtype, lanes)(x)
    np.testing.assert_array_max_ulp(results, expected, maxulp=TOLERANCE, dtype=DTYPES[dtype])


# --- special values ---------------------------------------------------------------------------


INF, NAN = math.inf, math.nan
SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0), (1e4, INF), (-1e4, 0.0)],
    "exp2": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0), (1e5, INF), (-1e5, 0.0)],
    "log": [(0.0, -INF), (-0.0, -INF), (1, 0.0), (INF, INF), (-INF, NAN), (-1e-30, NAN)],
    "log2": [(0.0, -INF), (-0.0, -INF), (1, 0.0), (INF, INF), (-INF, NAN), (-1e-30, NAN)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (50, 1), (-50, -1)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (1.5, NAN), (-1.5, NAN)],
    "acos": [(1, 0.0), (INF, NAN), (-INF, NAN), (1.5, NAN), (-1.5, NAN)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (INF, math.pi / 2), (-INF, -math.pi / 2)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (7, 1), (-7, -1)],
}


def assert_identical(results: np.ndarray, expected: np.ndarray) -> None:
    """Equal values, signs of zeros included; nan equals nan."""
    np.testing.assert_array_equal(results, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(results)[numbers], np.signbit(expected)[numbers])


@each_dtype
@pytest.mark.parametrize("op", sorted(SPECIAL))
def test_special_values(op: str, dtype: str) -> None:
    x, expected = np.array([*SPECIAL[op], (NAN, NAN)], DTYPES[dtype]).T.copy()
    assert_identical(compiled(op, dtype, 1)(x), expected)


@each_dtype
def test_pow_special_cases(dtype: str) -> None:
    """The C library follows C99; results other than 0, 1, infinity and nan may differ a little."""
    info = np.finfo(DTYPES[dtype])
    sizes = [0.0, 0.5, 1, 1.5, 2, 3, 1e10, 2.0**24 - 1, 2.0**53, INF]
    sizes += [float(info.tiny), float(info.smallest_subnormal), float(info.max)]
    numbers = np.array([*sizes, *(-s for s in sizes), NAN], DTYPES[dtype])
    x, y = (np.ascontiguousarray(a.ravel()) for a in np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y.astype(np.float64)).astype(DTYPES[dtype])
        results = compiled("pow", dtype, 1)(x, y)
        close = np.abs(results - expected) <= TOLERANCE * np.spacing(np.abs(expected))
        inside = np.isfinite(expected) & (expected != 0) & (np.abs(expected) != 1)
    assert close[inside].all()
    assert_identical(results[~inside], expected[~inside])


@each_dtype
def test_powers_of_two_are_exact(dtype: str) -> None:
    info = np.finfo(DTYPES[dtype])
    exponents = np.arange(info.minexp - info.nmant, info.maxexp).astype(DTYPES[dtype])
    powers = np.ldexp(DTYPES[dtype](1), exponents.astype(int))
    assert_identical(compiled("exp2", dtype, 1)(exponents), powers)
    assert_identical(compiled("log2", dtype, 1)(powers), exponents)


@each_dtype
@pytest.mark.parametrize("op", ["sin", "tan", "tanh", "asin", "atan"])
def test_subnormal_numbers_map_to_themselves(op: str, dtype: str) -> None:
    smallest = np.finfo(DTYPES[dtype]).smallest_subnormal
    x = smallest * np.arange(1, 100, dtype=DTYPES[dtype])
    assert_identical(compiled(op, dtype, 1)(x), x)


# --- lanes and vectorisation ------------------------------------------------------------------


@each_dtype
@each_operation
def test_every_number_of_lanes_gives_the_same_bits(op: str, dtype: str) -> None:
    random = np.random.default_rng(3)
    size = 3000 if op == "pow" else 1500
    random_bits = all_exponents(dtype, size, random)
    small = random.uniform(-10, 10, size).astype(DTYPES[dtype])
    arguments = (np.concatenate([random_bits, small]), np.concatenate([small, random_bits]))
    arguments = arguments if op == "pow" else arguments[:1]
    scalar = compiled(op, dtype, 1)(*arguments)
    for lanes in (2, 8, 16):
        assert_identical(compiled(op, dtype, lanes)(*arguments), scalar)
        assert_identical(compiled(op, dtype, lanes, has_avx512=False)(*arguments), scalar)


@each_operation
def test_llvm_vectorises_a_scalar_loop(op: str) -> None:
    if not jit.host().has("avx2"):
        pytest.skip("this host has no AVX2")
    optimised = compiled(op, "f32", 1).optimised
    assert "<8 x float>" in optimised or "<16 x float>" in optimised, f"{op} stayed scalar"
    code = [line for line in optimised.splitlines() if not line.startswith("declare")]
    calls = [line for line in code if " call " in line and "@llvm." not in line]
    assert not calls, "a call of a function"


# --- text -------------------------------------------------------------------------------------


@each_operation
def test_text_has_no_fast_math_and_no_stray_declaration(op: str) -> None:
    found = body(op, "f32", 8, has_avx512=True)
    code = "\n".join(line.split(";")[0] for line in found.text.splitlines())
    flags = {"fast", "nnan", "ninf", "nsz", "arcp", "afn", "reassoc", "contract"}
    assert not flags & set(code.split())
    lines = tuple(found.declarations)
    names = [line.split("(")[0].split()[-1] for line in lines]
    assert all(name in code for name in names)
    assert all(used in names for used in {w.split("(")[0] for w in code.split() if "@llvm" in w})


def test_coefficients_are_those_that_the_tool_prints() -> None:
    names = ("exp", "sin", "erf_small")
    chosen = [fit for fit in fits() if fit.dtype == "f32" and fit.name in names]
    assert len(chosen) == len(names)
    for fit in chosen:
        coefficients, error = fitted(fit)
        assert tuple(coefficients) == POLYNOMIALS[fit.name, fit.dtype]
        assert error < 2.0**-25


def test_no_two_names_are_one_where_an_operation_ends_in_a_digit() -> None:
    """exp's 28th name was exp2's 8th: LLVM refused gelu and sigmoid of 5 by 23."""
    writer = Writer()
    names = [writer.fresh(op) for _ in range(40) for op in ("exp", "exp2", "log", "log2", "log1p")]
    assert len(set(names)) == len(names)
    x = np.linspace(-3, 3, 5 * 23, dtype=np.float32).reshape(5, 23)
    found = compiler.compile(Tensor(x).gelu().sigmoid(), Options(cache=False)).run()[0]
    inner = x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-inner)), rtol=1e-3, atol=1e-3)


def test_a_table_and_elements_gathered_are_read_by_one_function() -> None:
    writer = Writer()
    t = "<4 x double>"
    found = vectors.gather(writer, float64, 4, "%addresses", None, "%gathered")
    inline(writer, "sin", "f64", 4, [found], "%result")
    lines = [line.text for line in writer.lines]
    text = "\n".join([
        f"define {t} @apply(<4 x ptr> %addresses) {{", "entry:", *lines, f"  ret {t} %result", "}",
        *writer.declarations,
    ])  # fmt: skip
    assert len([each for each in writer.declarations if "masked.gather.v4f64" in each]) == 1
    llvm.parse_assembly(text).verify()
