"""User-defined functions on the host, as kernels and inside kernels, on every engine."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, compile, custom
from compiler.core import dtypes
from compiler.core.errors import CompileError, DTypeError, InternalError, ShapeError
from compiler.custom import CustomFunction
from compiler.device import device
from compiler.graph.kinds.effects import Custom
from compiler.graph.nodes import Sink
from compiler.graph.verify import verify
from compiler.machines.processors import is_arm
from compiler.ops import functions
from compiler.ops.functions import Type
from compiler.pipeline.kernels import program_spec
from compiler.program.compilation import Compilation
from compiler.schedule.items import HostCallback, Kernel
from compiler.settings.options import Options
from tests.evaluate import assert_same, evaluate, every_engine
from tests.pages import without_calls

Array = np.ndarray[Any, Any]
VALUES = np.array([3.0, 1.0, 2.5, 9.0, -8.0, 7.0], np.float32)
REVERSE = """define void @{name}(ptr %out, ptr %x) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %j = sub i64 {last}, %i
  %from = getelementptr {type}, ptr %x, i64 %i
  %to = getelementptr {type}, ptr %out, i64 %j
  %v = load {type}, ptr %from
  store {type} %v, ptr %to
  %next = add i64 %i, 1
  %more = icmp sle i64 %next, {last}
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""


def reverse_text(result: Type, operand: Type) -> str:
    element = {"float32": "float", "int64": "i64"}[operand.dtype.name]
    return REVERSE.format(name="backwards", last=operand.shape[0] - 1, type=element)


@custom.host(dtype="int64")
def ranks(x: Array) -> Array:
    """The place of each element in order."""
    return x.argsort(kind="stable").argsort()


@custom.host(shape=lambda s, times=1: (times, *s))
def stacked(x: Array, times: int = 1) -> Array:
    """The array over and over."""
    return np.stack([x] * times)


@custom.host(shape=(), dtype=lambda a, b: a)
def dot(a: Array, b: Array) -> Array:
    """The product of two vectors."""
    return np.asarray(np.dot(a, b))


backwards = custom.kernel("backwards", reverse_text, lambda x: x[::-1])
twice = custom.inline("twice", "fadd float {0}, {0}", ["float32"], "float32", lambda x: x + x)
below = custom.inline("below", "fcmp olt float {0}, {1}", ["float32"] * 2, "bool", np.less)
magnitude = custom.inline(
    "magnitude", "call double @llvm.fabs.f64(double {0})", [float], float, np.abs,
    ["declare double @llvm.fabs.f64(double)"],
)  # fmt: skip

X = Tensor(VALUES)
CASES: dict[str, tuple[Callable[[], Tensor], Any]] = {
    "host": (lambda: ranks(X), ranks.function.reference(VALUES)),
    "host in the middle": (lambda: ranks(X * -2) + 1, ranks.function.reference(-VALUES) + 1),
    "keyword": (lambda: stacked(X, times=3).sum(0), VALUES * 3),
    "two keywords in one program": (
        lambda: stacked(X, times=2)[1] + stacked(X, times=4)[3], VALUES * 2),
    "rank 0, a view and a constant": (
        lambda: dot(X[::-1], Tensor.ones(6, dtype="float32")), VALUES.sum(keepdims=False)),
    "host of host": (lambda: ranks(ranks(X)), ranks.function.reference(VALUES)),
    "one operand twice": (lambda: dot(X, X), np.dot(VALUES, VALUES)),
    "array operand": (lambda: ranks(VALUES), ranks.function.reference(VALUES)),
    "kernel": (lambda: backwards(X), VALUES[::-1].copy()),
    "kernel between kernels": (lambda: backwards(X + 1) * 2, (VALUES[::-1] + 1) * 2),
    "kernel of another type": (lambda: backwards(Tensor([1, 2, 3])), np.array([3, 2, 1])),
    "kernel of kernel": (lambda: backwards(backwards(X)), VALUES),
    "inline": (lambda: twice(X), VALUES * 2),
    "inline fused": (lambda: twice(X.relu() + 1).sum(), (np.maximum(VALUES, 0) + 1).sum() * 2),
    "inline broadcasts": (
        lambda: below(X.reshape(6, 1), X), VALUES[:, None] < VALUES),
    "inline with a number": (lambda: below(X, 2.5), VALUES < 2.5),
    "inline with a declaration": (
        lambda: magnitude(X.cast("float64")), np.abs(VALUES.astype("f8"))),
    "inline under a mask": (
        lambda: twice(X + 1).pad(((1, 2),)), np.pad(VALUES + 1, (1, 2)) * 2),
    "nothing": (lambda: twice(Tensor(np.zeros(0, np.float32))), np.zeros(0, np.float32)),
    "host on nothing": (
        lambda: ranks(Tensor(np.zeros(0, np.float32))), np.zeros(0, np.int64)),
    "all three": (
        lambda: backwards(twice(ranks(X).cast("float32"))),
        ranks.function.reference(VALUES)[::-1].astype("float32") * 2),
}  # fmt: skip


@every_engine
@pytest.mark.parametrize("name", CASES)
def test_every_kind_on_every_engine(name: str, engine: str) -> None:
    make, expected = CASES[name]
    assert_same(evaluate(make(), engine), expected, name)


def test_what_the_schedule_holds() -> None:
    made = compile(backwards(twice(ranks(X).cast("float32"))))
    kinds = [type(item.operation) for item in made.schedule.items]
    assert kinds == [HostCallback, Kernel, Kernel]
    assert [d.kind for d in made.schedule.dependencies] == ["data", "data"]
    text = str(made)
    assert "custom %0 ranks" in text
    assert "callback ranks" in text
    assert "backwards(out, in1)" in text
    assert "customi %" in text
    assert "call void @sv.custom.backwards" in text
    assert made.check().ok, str(made.check())


def test_an_inline_function_ends_no_kernel() -> None:
    made = compile((twice(X + 1) * 3).sum())
    assert len(made.schedule.items) == 1


def test_equal_calls_are_one() -> None:
    calls: list[int] = []

    @custom.host()
    def noted(x: Array) -> Array:
        calls.append(1)
        return x + 1

    assert_same((noted(X) * noted(X)).numpy(), (VALUES + 1) ** 2)
    assert len(calls) == 1
    noted(X)  # nobody needs it
    assert len(calls) == 1


def test_a_function_may_be_defined_again() -> None:
    """A tensor made with the first stays with the first."""

    def define(by: float) -> custom.CustomFunction:
        return custom.host(name="shifted")(lambda x: x + np.float32(by))

    first, second = define(1)(X), define(2)(X)
    assert_same(first.numpy(), VALUES + 1)
    assert_same(second.numpy(), VALUES + 2)
    texts = [custom.inline("scaled", f"fmul float {{0}}, {by}", ["float32"], "float32",
                           lambda x, by=by: x * np.float32(by)) for by in (2.0, 4.0)]  # fmt: skip
    assert [t(X).numpy()[0] for t in texts] == [6.0, 12.0]


def test_metadata_of_a_kernel_function() -> None:
    made = Compilation([backwards(X).node], Options(), "test")
    (item,) = made.schedule.items
    assert isinstance(item.operation, Kernel)
    kernel = made.kernel(item.operation.body)
    spec = program_spec(kernel, device.CPU)
    assert (spec.outs, spec.ins) == ((0,), (1,))
    from compiler.device.metadata import derive

    derived = derive([kernel.loops])
    assert (derived.outs, derived.ins) == ((0,), (1,))


@custom.host()
def failing(x: Array) -> Array:
    """Fails on its second line."""
    y = x + 1
    raise RuntimeError(f"no luck with {y.size} elements")


@custom.host()
def too_short(x: Array) -> Array:
    """Breaks its promise."""
    return x[1:]


@custom.host()
def writing(x: Array) -> Array:
    """Writes to what it was given."""
    x[0] = 1
    return x


@every_engine
@pytest.mark.parametrize(
    ("function", "problem", "line"),
    [
        (failing, "the function failed: RuntimeError: no luck with 6 elements", "raise Runtime"),
        (too_short, "the result differs from the declared one", "@custom.host"),
        (writing, "the function failed: ValueError: assignment destination is read-only", "x[0] ="),
    ],
)
def test_errors_name_the_function_and_the_line(
    function: custom.CustomFunction, problem: str, line: str, engine: str
) -> None:
    with pytest.raises(CompileError) as caught:
        evaluate(function(X) * 2, engine)
    assert caught.value.operation == f"custom {function.name}"
    assert caught.value.problem == problem
    assert caught.value.origin is not None
    assert caught.value.origin.text.startswith(line)
    assert_same((X + 1).numpy(), VALUES + 1)  # life goes on


NOTHING: Any = None
REFUSED: tuple[tuple[Callable[[], object], type[Exception], str], ...] = (
    (lambda: custom.host(name="a b")(lambda x: x), CompileError, "not an identifier"),
    (lambda: custom.kernel("k", "define void @other(ptr %a) { ret void }", np.abs), CompileError,
     "does not define void @k"),
    (lambda: custom.kernel("k", "define i32 @k(ptr %a) { ret i32 0 }", np.abs), CompileError,
     "does not define void @k"),
    (lambda: custom.kernel("k", "define void @k(ptr %a, i64 %n) { ret void }", np.abs),
     CompileError, "parameters are not the result and the operands"),
    (lambda: custom.kernel("k", "define void @k(ptr %a) { ret void }", np.abs)(X), CompileError,
     "parameters are not the result and the operands"),
    (lambda: custom.kernel("k", "define void @k(ptr %a) { nonsense }", np.abs), CompileError,
     "LLVM refuses the text"),
    (lambda: custom.kernel("k", "", NOTHING), CompileError, "needs a reference"),
    (lambda: custom.inline("i", "fadd float {0}, {1}", ["float32"], "float32", np.abs),
     CompileError, "an operand that does not exist"),
    (lambda: custom.inline("i", "fadd float {0}, {0}", ["float64"], "float32", np.abs),
     CompileError, "LLVM refuses the text"),
    (lambda: custom.inline("i", "x", [], "float32", NOTHING), CompileError, "a reference"),
    (lambda: custom.inline("i", NOTHING, ["float32"], "float32", np.abs), CompileError,
     "is not LLVM IR"),
    (lambda: custom.inline("i", "fneg float {0}", ["float32"], "float32", np.abs, "declare f"),
     CompileError, "is not LLVM IR"),
    (lambda: custom.inline("i", "fneg float {0} }} define void @f() {{ ret void", ["float32"],
                           "float32", np.abs), CompileError, "LLVM refuses the text"),
    (lambda: custom.kernel("k", "; define void @k(ptr %a)\n", np.abs), CompileError,
     "does not define void @k"),
    (lambda: custom.kernel("k", "declare void @k(ptr %a)\n", np.abs), CompileError,
     "does not define void @k"),
    (lambda: twice(X, X), CompileError, "the number of operands is wrong"),
    (lambda: twice(X.cast("float64")), DTypeError, "an operand has the wrong type"),
    (lambda: below(X, X[:5]), ShapeError, "broadcast"),
    (lambda: ranks(), CompileError, "no operand"),
    (lambda: stacked(X, times=[1]), CompileError, "keyword times is not a number or text"),
    (lambda: custom.host(shape=(-1,))(lambda x: x)(X), CompileError, "not an identifier"),
    (lambda: custom.host(shape=(-1,), name="f")(lambda x: x)(X), CompileError, "is not a shape"),
)  # fmt: skip


@pytest.mark.parametrize(("call", "error", "problem"), REFUSED)
def test_refused(call: Callable[[], object], error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem):
        call()


def inline(expression: str, *declarations: str, operand: str = "float32") -> CustomFunction:
    return custom.inline("i", expression, [operand], operand, np.abs, declarations)


WHAT_IT_MAY_BE: dict[str, tuple[Callable[[], object], str]] = {
    "a declaration of nothing": (
        lambda: inline("call float @nothing(float {0})", "declare float @nothing(float)"),
        """custom i: the text declares functions that do not exist
  got:      @nothing
  expected: LLVM's intrinsics, and functions of libraries that are loaded""",
    ),
    "an intrinsic that LLVM does not have": (
        lambda: inline("call float @llvm.fab.f32(float {0})", "declare float @llvm.fab.f32(float)"),
        """custom i: the text declares functions that do not exist
  got:      @llvm.fab.f32
  expected: LLVM's intrinsics, and functions of libraries that are loaded""",
    ),
    "a variable of nothing": (
        lambda: inline("load float, ptr @nowhere", "@nowhere = external global float"),
        """custom i: the text declares functions that do not exist
  got:      @nowhere
  expected: LLVM's intrinsics, and functions of libraries that are loaded""",
    ),
    "two instructions": (
        lambda: inline("fadd float {0}, {0}\n  %z = fneg float %y"),
        """custom i: more than one instruction
  got:      2 instructions: fadd float %x0, %x0
  %z = fneg float %y
  expected: one instruction
  hint:     custom.kernel takes whole functions""",
    ),
    "two blocks": (
        lambda: inline("fadd float {0}, {0}\n  br label %next\nnext:"),
        """custom i: more than one instruction
  got:      2 instructions: fadd float %x0, %x0
  br label %next
next:
  expected: one instruction
  hint:     custom.kernel takes whole functions""",
    ),
    "another function behind it": (
        lambda: inline("fneg float {0}\n  ret float %y }}\ndefine float @f(float %a) {{\n"
                       " %x0 = fneg float %a\n %y = fneg float %a"),
        """custom i: the text defines functions
  got:      f
  expected: one instruction""",
    ),
    "a function among the declarations": (
        lambda: inline("call float @f(float {0})", "define float @f(float %a) { ret float %a }"),
        """custom i: the text defines functions
  got:      f
  expected: one instruction""",
    ),
    "a kernel that calls nothing": (
        lambda: custom.kernel("k", "define void @k(ptr %a) { call void @nothing() ret void }",
                              np.abs, declarations=["declare void @nothing()"]),
        """custom k: the text declares functions that do not exist
  got:      @nothing
  expected: LLVM's intrinsics, and functions of libraries that are loaded""",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WHAT_IT_MAY_BE)
def test_a_text_is_held_to_what_it_may_be(case: str) -> None:
    call, expected = WHAT_IT_MAY_BE[case]
    with pytest.raises(CompileError) as caught:
        call()
    page = [line for line in without_calls(str(caught.value)).splitlines()
            if not line.startswith("  line:")]  # fmt: skip
    assert page == expected.splitlines()


def test_what_only_another_processor_has_is_refused() -> None:
    other = "x86.rdtsc" if is_arm() else "aarch64.get.fpcr"
    with pytest.raises(CompileError, match="LLVM cannot compile the text for this processor"):
        inline(f"call i64 @llvm.{other}()", f"declare i64 @llvm.{other}()", operand="int64")


def test_a_function_of_a_loaded_library_may_be_called() -> None:
    root = inline("call double @cbrt(double {0})", "declare double @cbrt(double)",
                  operand="float64")  # fmt: skip
    np.testing.assert_allclose(root(Tensor([8.0, 27.0])).numpy(), [2, 3])


def test_an_intrinsic_that_our_own_code_declares_too() -> None:
    known = inline("call float @llvm.fabs.f32(float {0})",
                   "declare  float @llvm.fabs.f32( float %a ) nounwind")  # fmt: skip
    np.testing.assert_array_equal((known(X) + (X * -1).abs()).numpy(), np.abs(VALUES) * 2)


def test_verify_holds_nodes_to_what_is_registered() -> None:
    f32, node = dtypes.float32, twice(X).node
    assert isinstance(node, Custom) and functions.find(node.name) is not None
    verify(Sink((node,)))
    wrong = (
        (Custom(node.sources, "nobody", (), (6,), f32), "no such function"),
        (Custom((), node.name, (), (6,), f32), "the operands are others"),
        (Custom(node.sources, node.name, (), (5,), f32), "the result is another"),
    )
    for each, problem in wrong:
        with pytest.raises(InternalError, match=f"invariant 18: {problem}"):
            verify(Sink((each,)))
