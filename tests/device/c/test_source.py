"""The C renderer: what it writes, and that it computes what the operation table says."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.dtypes import DType, float32, int64
from compiler.device.buffers import new_buffer
from compiler.device.c.source import CRenderer, CSource, module
from compiler.device.launch_sizes import ProgramError
from compiler.graph.kinds.effects import Scatter
from compiler.graph.nodes import Cast, Elementwise, Reduce, TensorNode
from compiler.lowered import by_hand, machine
from compiler.lowered import instructions as lowered
from compiler.lowered.instructions import Instruction
from compiler.ops import references
from compiler.ops.table import OPS, REDUCTIONS
from compiler.ops.updates import UPDATES, scattered
from compiler.pipeline.kernels import compile_kernel
from compiler.program.compilation import Compilation
from compiler.settings.options import Options
from compiler.tensor import Tensor
from tests.evaluate import NUMPYS, reference, samples
from tests.loops.programs import kernels
from tests.loops.transformed import PROGRAMS as WORDS
from tests.loops.transformed import arguments_of, assert_close, result
from tests.lowered.test_linearize import rows_of, runs
from tests.lowered.tiled_bodies import CASES

Array = np.ndarray[Any, Any]
COMPILER = shutil.which("cc")
FLAGS = ("-std=gnu11", "-O1", "-Wall", "-Werror", "-Wno-unused", "-ffp-contract=off")
needs_cc = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


def rendered(instructions: Sequence[Instruction], name: str) -> CSource:
    source = CRenderer().render(instructions, name).source
    assert isinstance(source, CSource)
    return source


def built(sources: Sequence[CSource], folder: Path) -> ctypes.CDLL:
    """The kernels, compiled and loaded."""
    file, library = folder / "kernels.c", folder / "kernels.so"
    file.write_text(module(sources))
    command = [str(COMPILER), *FLAGS, "-shared", "-fPIC", str(file), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(library))


class Kernels:
    """Single-kernel programs, gathered first and then compiled together."""

    def __init__(self) -> None:
        self.sources: list[CSource] = []
        self.cases: list[tuple[str, list[Array], Array, float]] = []

    def add(self, what: str, node: TensorNode, expected: Array, ulps: float) -> None:
        made = Compilation([node], Options(), "test")
        (kernel,) = made._kernels
        name = f"k{len(self.sources)}"
        self.sources.append(rendered(kernel.linear.instructions, name))
        used = {i.slot for i in kernel.linear.instructions if isinstance(i, lowered.DefineGlobal)}
        arguments = made._scheduled.items[0].operation.arguments
        held = made.inputs()
        arrays = [held[a] for n, a in enumerate(arguments) if n in used and a in held]
        self.cases.append((what, arrays, expected, ulps))

    def check(self, folder: Path) -> None:
        library = built(self.sources, folder)
        wrong = []
        for number, (what, arrays, expected, ulps) in enumerate(self.cases):
            got = np.zeros(expected.shape, expected.dtype)
            each = [ctypes.c_void_p(a.ctypes.data) for a in (got, *arrays)]
            getattr(library, f"k{number}")(*each)
            if not is_close(got, expected, ulps):
                wrong.append(f"{what}: {got[:4]}, expected {expected[:4]}")
        assert not wrong, "\n".join(wrong)


def is_close(got: Array, expected: Array, ulps: float) -> bool:
    """Equal, both NaN, or within `ulps` of the expected."""
    if not dtypes.is_floating(got.dtype):
        return bool((got == expected).all())
    with np.errstate(all="ignore"):
        gap = np.abs(got.astype("f8") - expected.astype("f8"))
        unit = np.spacing(np.abs(expected)).astype("f8")
        is_near = gap <= ulps * unit
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    return bool((same | (is_near & np.isfinite(unit))).all())


def operands(arity: int, dtype: DType, is_where: bool) -> list[Array]:
    """Every pair of telling values."""
    telling = samples(dtype)
    if arity == 1:
        return [telling]
    left, right = (a.reshape(-1) for a in np.meshgrid(telling, telling))
    if is_where:
        return [np.arange(left.size) % 3 == 0, left, right]
    return [left, right, np.roll(left, 5)][:arity]


MACHINE_OPERATIONS = [op for op in OPS.values() if op.expansion is None]
ACCURACY: dict[str, float] = {"float16": 2.0, "bfloat16": 1.0, "float32": 4.0, "float64": 4.0}


@needs_cc
@pytest.mark.parametrize("op", UPDATES)
def test_every_update_in_c(op: str, tmp_path: Path) -> None:
    kernels = Kernels()
    for dtype in NUMPYS:  # others are converted by kernels of their own
        if dtype == dtypes.float16 and op in ("add", "mul"):
            continue  # so is what is summed in float32
        base, updates = samples(dtype), samples(dtype, 20)[::-1].copy()
        positions = np.arange(20) % 15 - 1
        node = Scatter(tuple(map(new_buffer, (base, updates, positions))), op)
        with np.errstate(all="ignore"):
            expected = scattered(op, base, updates, [positions])
        kernels.add(f"{op} {dtype}", node, expected, 0)
    kernels.check(tmp_path)


@needs_cc
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_every_operation_in_c_equals_its_reference(dtype: DType, tmp_path: Path) -> None:
    kernels = Kernels()
    for op in MACHINE_OPERATIONS:
        if dtype.kind not in op.accepts:
            continue
        arrays = operands(op.arity, dtype, op.has_condition)
        node = Elementwise(tuple(map(new_buffer, arrays)), op.name)
        expected = reference(op.reference, node.dtype, arrays)
        kernels.add(f"{op.name} {dtype}", node, expected, ACCURACY.get(dtype.name, 0.0))
    kernels.check(tmp_path)


@needs_cc
@pytest.mark.parametrize("source", dtypes.ALL, ids=str)
def test_every_cast_in_c_equals_its_reference(source: DType, tmp_path: Path) -> None:
    kernels = Kernels()
    values = samples(source)
    if source.is_float:
        with np.errstate(over="ignore"):
            extra = np.array([0.3, 65519.0, 65520.0, 1e-8, 3e9, -3e9, 1e20, 255.9])
            values = np.concatenate([values, extra.astype(source.numpy)])
    for target in dtypes.ALL:
        if target != source:
            expected = references.cast(values, target)
            node = Cast((new_buffer(values),), target)
            kernels.add(f"{source} to {target}", node, expected, 0.0)
    kernels.check(tmp_path)


@needs_cc
def test_reductions_in_c(tmp_path: Path) -> None:
    kernels = Kernels()
    for dtype in dtypes.ALL[1:]:
        values = (np.arange(24).reshape(4, 6) % 5 + 1).astype(dtype.numpy)
        wide = values.astype(dtype.arithmetic.numpy)
        for name, row in REDUCTIONS.items():
            with np.errstate(all="ignore"):
                expected = np.asarray(row.reference(wide, axis=1, keepdims=True))
                expected = expected.astype(dtype.numpy).reshape(-1)
            node = Reduce((new_buffer(values),), name, (1,))
            kernels.add(f"{name} {dtype}", node, expected, 4.0)
    kernels.check(tmp_path)


PROGRAMS: dict[str, Callable[[Tensor], Tensor]] = {
    "predicated loads": lambda x: x.pad(((1, 2), (0, 3))),
    "flipped": lambda x: x.flip(1) * 2.0,
    "softmax": lambda x: x.softmax(1),
    "product": lambda x: x @ x.T,
    "constants": lambda x: (x * float("inf")).maximum(x) + float("nan") * 0 + 1e-40,
}


@needs_cc
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_in_c(name: str, tmp_path: Path) -> None:
    tensor = PROGRAMS[name](Tensor(np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)))
    kernels = Kernels()
    expected = Compilation([tensor.node], Options(), "test").run()[0].reshape(-1)
    kernels.add(name, tensor.node, expected, 64.0)
    kernels.check(tmp_path)


@needs_cc
def test_variables_conditions_and_scratch_memory_in_c(tmp_path: Path) -> None:
    rows: list[Instruction] = [
        lowered.DefineGlobal(0, 0, int64, 4, True),
        machine.DefineVar(1, "n", 0, 3),
        machine.Local(2, int64, 4),
        lowered.Const(3, 2, int64),
        lowered.Store(2, 1, 3, None),
        lowered.Load(4, 2, 1, None, int64),
        lowered.Alu(5, "lt", (1, 3), dtypes.bool_),
        machine.If(5),
        lowered.Store(0, 1, 4, None),
        machine.EndIf(),
        by_hand.Barrier(),
    ]
    library = built([rendered(rows, "k")], tmp_path)
    out = np.zeros(4, np.int64)
    for n in range(4):
        library.k(ctypes.c_void_p(out.ctypes.data), ctypes.c_int64(n))
    assert out.tolist() == [2, 2, 0, 0]


def test_the_source_reads_like_the_instructions() -> None:
    x = Tensor(np.arange(6.0))
    (kernel,) = Compilation([(x * x).node], Options(), "test")._kernels
    text = rendered(kernel.linear.instructions, "k0").text
    assert text.endswith(
        "void k0(double *restrict out, const double *restrict in1)\n"
        "{\n"
        "    for (int64_t i0 = 0; i0 < 6; i0++) {\n"
        "        const double v4 = in1[i0];\n"
        "        const double v5 = v4 * v4;\n"
        "        out[i0] = v5;\n"
        "    }\n"
        "}\n"
    )


def test_what_has_no_line_of_c_is_refused() -> None:
    tiles = by_hand.Wmma(0, 0, 0, 0, 1, 1, 1, float32)
    for instruction in (tiles, machine.Custom(0, "hypot", (), float32)):
        with pytest.raises(ProgramError, match="instruction 0 has no line of C"):
            CRenderer().render([instruction])


@needs_cc
def test_words_in_c(tmp_path: Path) -> None:
    names = ("matmul of bytes", "matmul of signs", "matmul of halves")
    made = [
        compile_kernel(f"k{n}", kernels(WORDS[name](5, 17, 19))[-1], Options(machine="amd-zen4"), n)
        for n, name in enumerate(names)
    ]
    assert all(kernel.choices.has("dot") for kernel in made)
    library = built([rendered(it.linear.instructions, it.name) for it in made], tmp_path)
    for kernel in made:
        arrays = arguments_of(kernel.loops)
        expected = result(kernel.loops, arrays)
        getattr(library, kernel.name)(*(ctypes.c_void_p(it.ctypes.data) for it in arrays))
        assert_close(arrays[0], expected)


@needs_cc
def test_lanes_in_c(tmp_path: Path) -> None:
    cases = {f"k{number}": make() for number, make in enumerate(CASES.values())}
    rows = {name: rows_of(case.body) for name, case in cases.items()}
    library = built([rendered(rows[name], name) for name in cases], tmp_path)
    for name, case in cases.items():
        arrays = case.arguments()
        for values in runs(rows[name], dict(case.variables)):
            pointers = [ctypes.c_void_p(each.ctypes.data) for each in arrays]
            getattr(library, name)(*pointers, *map(ctypes.c_int64, values.values()))
        case.check(arrays[0])
