"""Variables: axes whose extent is known when the program runs, on every engine.

What is behind the extent is NaN or a number that would show: no engine may look at it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Options, ShapeError, Tensor, Variable
from compiler.core.errors import AxisError, CompileError
from compiler.device import device
from compiler.device.c.source import CRenderer
from compiler.pipeline import kernels
from compiler.program.compilation import Compilation
from tests.evaluate import ENGINES, assert_same, every_engine

Array = np.ndarray[Any, Any]
HIGH = 6
RNG = np.random.default_rng(7)
ROWS = RNG.standard_normal((HIGH, 4)).astype("f4")
WEIGHT = RNG.standard_normal((4, 3)).astype("f4")
IMAGES = RNG.standard_normal((HIGH, 2, 5, 5)).astype("f4")
FILTER = RNG.standard_normal((3, 2, 3, 3)).astype("f4")
LABELS = RNG.integers(0, 4, HIGH)


def variable(low: int = 1, name: str = "n") -> Variable:
    return Variable(name, low, HIGH)


def cut(array: Array, size: int, axis: int = 0, name: str = "n", low: int = 1) -> Tensor:
    """The first `size` elements of `axis` of a buffer whose other elements are garbage."""
    whole = array.copy()
    tail = (slice(None),) * axis + (slice(size, None),)
    whole[tail] = np.nan if array.dtype.kind == "f" else 77
    index = (slice(None),) * axis + (slice(variable(low, name).bind(size)),)
    return Tensor(whole)[index]


def run(tensor: Tensor, engine: str) -> Array:
    (value,) = ENGINES[engine]([tensor.node])
    return value


def _softmax(a: Array, axis: int) -> Array:
    powers = np.exp(a - a.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


CASES: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Array], Array]]] = {
    "exp": (lambda x: x.exp(), np.exp),
    "itself": (lambda x: x, lambda a: a),
    "times n": (lambda x: x * variable() + 1, lambda a: a * np.float32(len(a)) + 1),
    "where": (lambda x: (x > 0).where(x, -x), np.abs),
    "one row": (lambda x: x - x[0], lambda a: a - a[0]),
    "sum 0": (lambda x: x.sum(0), lambda a: a.sum(0)),
    "sum 1": (lambda x: x.sum(1), lambda a: a.sum(1)),
    "sum all": (lambda x: x.sum(), lambda a: a.sum()),
    "prod 0": (lambda x: x.prod(0), lambda a: a.prod(0)),
    "max 0": (lambda x: x.max(0), lambda a: a.max(0)),
    "min all": (lambda x: x.min(), lambda a: a.min()),
    "mean 0": (lambda x: x.mean(0), lambda a: a.mean(0)),
    "mean all": (lambda x: x.mean(), lambda a: a.mean()),
    "var 0": (lambda x: x.var(0, correction=0), lambda a: a.var(0)),
    "argmax": (lambda x: x.argmax(0), lambda a: a.argmax(0)),
    "any": (lambda x: (x > 1).any(0), lambda a: (a > 1).any(0)),
    "softmax 0": (lambda x: x.softmax(0), lambda a: _softmax(a, 0)),
    "softmax 1": (lambda x: x.softmax(1), lambda a: _softmax(a, 1)),
    "logsumexp": (lambda x: x.logsumexp(0), lambda a: np.log(np.exp(a).sum(0))),
    "layernorm": (lambda x: x.layernorm(0, eps=1.0),
                  lambda a: (a - a.mean(0)) / np.sqrt(a.var(0) + 1)),
    "matmul": (lambda x: x @ WEIGHT, lambda a: a @ WEIGHT),
    "gram": (lambda x: x.T @ x, lambda a: a.T @ a),
    "all pairs": (lambda x: x @ x.T, lambda a: a @ a.T),
    "reshape": (lambda x: x.reshape(-1, 2, 2).permute(1, 0, 2).contiguous() + 1,
                lambda a: a.reshape(-1, 2, 2).transpose(1, 0, 2) + 1),
    "transpose": (lambda x: x.T.contiguous(), lambda a: a.T),
    "flip": (lambda x: x.flip(0) + x.flip(1), lambda a: a[::-1] + a[:, ::-1]),
    "two kernels": (lambda x: x.exp().contiguous().sum(0), lambda a: np.exp(a).sum(0)),
    "pad": (lambda x: x.pad((1, 2), 3.0), lambda a: np.pad(a, ((0, 0), (1, 2)), constant_values=3)),
    "cat": (lambda x: x.cat(x * 2, dim=1), lambda a: np.concatenate([a, a * 2], 1)),
    "cumsum": (lambda x: x.cumsum(1), lambda a: a.cumsum(1)),
    "columns": (lambda x: x[:, 1:3], lambda a: a[:, 1:3]),
    "every other": (lambda x: x[:, ::-2], lambda a: a[:, ::-2]),
    "chosen columns": (lambda x: x[:, [2, 0]], lambda a: a[:, [2, 0]]),
    "einsum": (lambda x: Tensor.einsum("ij,ik->jk", x, x), lambda a: a.T @ a),
    "argsort rows": (lambda x: x.argsort(1), lambda a: np.argsort(a, 1)),
    "median rows": (lambda x: x.median(1), lambda a: np.median(a, 1)),
    "kl_div": (lambda x: x.kl_div(x.exp() * 2, reduction="batchmean"),
               lambda a: np.float32((np.exp(a) * 2 * np.log(2)).sum() / len(a))),
    "expand": (lambda x: x.unsqueeze(1).expand(-1, 3, -1) * 1.0,
               lambda a: np.repeat(a[:, None], 3, 1)),
    "full_like": (lambda x: (x + x.ones_like()).sum(0), lambda a: (a + 1).sum(0)),
    "weak type": (lambda x: x.cast("int8") + variable(),
                  lambda a: a.astype("i1") + np.int8(len(a))),
    "count": (lambda x: Tensor(variable()) + 0 * x.cast("int64").sum(), lambda a: np.int64(len(a))),
}  # fmt: skip


@every_engine
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", (1, 4, HIGH))
def test_the_first_axis(name: str, size: int, engine: str) -> None:
    build, reference = CASES[name]
    expected = np.asarray(reference(ROWS[:size]))
    assert_same(run(build(cut(ROWS, size)), engine), expected, name, rtol=2e-5)


@every_engine
@pytest.mark.parametrize("name", ("exp", "sum 1", "sum 0", "softmax 1", "transpose", "itself"))
def test_the_last_axis(name: str, engine: str) -> None:
    build, reference = CASES[name]
    columns = np.ascontiguousarray(ROWS.T)
    expected = reference(columns[:, :3])
    assert_same(run(build(cut(columns, 3, axis=1)), engine), expected, name, rtol=2e-5)


@every_engine
@pytest.mark.parametrize("name", ("exp", "sum 0", "sum 1", "sum all", "prod 0", "any", "matmul",
                                  "gram", "flip", "reshape", "two kernels"))  # fmt: skip
def test_no_element(name: str, engine: str) -> None:
    build, reference = CASES[name]
    expected = np.asarray(reference(ROWS[:0]))
    assert_same(run(build(cut(ROWS, 0, low=0)), engine), expected, name)


@every_engine
def test_data_shorter_than_the_maximum(engine: str) -> None:
    x = Tensor(ROWS[:4], symbolic={0: variable()})
    assert x.shape == (HIGH, 4) and x.numpy().shape == (4, 4)
    assert_same(run((x @ WEIGHT).relu().sum(0), engine),
                np.maximum(ROWS[:4] @ WEIGHT, 0).sum(0), rtol=2e-5)  # fmt: skip


@every_engine
def test_two_variables(engine: str) -> None:
    n, m = variable(), variable(name="m")
    x = Tensor(ROWS[:3], symbolic={0: n})
    y = Tensor(ROWS[:5], symbolic={0: m})
    assert_same(run((x @ y.T).mean(1), engine), (ROWS[:3] @ ROWS[:5].T).mean(1), rtol=2e-5)
    both = Tensor(ROWS[:3, :2], symbolic={0: n, 1: Variable("m", 1, 4)})
    assert both.symbolic_shape == (Variable("n", 1, HIGH), Variable("m", 1, 4))
    assert_same(run(both.sum() / n, engine), np.float32(ROWS[:3, :2].sum() / 3), rtol=2e-5)


@every_engine
def test_images(engine: str) -> None:
    x = Tensor(IMAGES[:2], symbolic={0: variable()})
    fixed = Tensor(IMAGES[:2]).conv2d(FILTER, padding=1).relu().max_pool2d(2).sum(0)
    found = run(x.conv2d(FILTER, padding=1).relu().max_pool2d(2).sum(0), engine)
    assert_same(found, fixed.numpy(), rtol=2e-4)


@every_engine
def test_labels(engine: str) -> None:
    n = variable()
    x, labels = Tensor(ROWS[:4], symbolic={0: n}), Tensor(LABELS[:4], symbolic={0: n})
    loss = -x.log_softmax(1).gather(1, labels.unsqueeze(1)).mean()
    expected = -np.log(_softmax(ROWS[:4], 1))[np.arange(4), LABELS[:4]].mean()
    assert_same(run(loss, engine), np.float32(expected), rtol=2e-5)


def model(x: Tensor) -> Tensor:
    return (x @ WEIGHT).relu().softmax().mean(0)


def test_all_extents_are_compiled_once() -> None:
    n = Variable("size", 1, 50)
    rows = RNG.standard_normal((50, 4)).astype("f4")
    first = compiler.cache_info()
    for size in range(1, 51):
        result = model(Tensor(rows[:size], symbolic={0: n})).numpy()
        expected = _softmax(np.maximum(rows[:size] @ WEIGHT, 0), 1).mean(0)
        np.testing.assert_allclose(result, expected, 2e-5)
        if size == 1:
            once = compiler.cache_info()
    after = compiler.cache_info()
    assert once.programs.misses - first.programs.misses >= 1
    assert after.programs == once.programs, "not even looked for again"
    assert once.schedules.misses - first.schedules.misses == 1
    assert after.schedules.misses == once.schedules.misses
    assert after.schedules.hits == once.schedules.hits + 49


def test_values_of_a_run() -> None:
    n = variable(low=0)
    y = compiler.compile(Tensor(ROWS)[:n].sum(0) * n)
    for size in range(HIGH + 1):
        (found,) = y.run(variables={"n": size})
        np.testing.assert_allclose(found, ROWS[:size].sum(0) * size, 2e-5, 1e-6)
        assert y.check(variables={"n": size}).ok
    assert y.values("graph:3") is None, "no value without a run"
    bound = compiler.compile(Tensor(ROWS)[: n.bind(2)] + 0)
    assert bound.variables == {"n": 2}
    assert bound.run()[0].shape == (2, 4)
    assert bound.run(variables={"n": 5})[0].shape == (5, 4)


PAGES = (
    ({}, "variables: variable n has no value\n  got:      nothing\n  expected: 1 … 6\n"
         '  hint:     bind it, as in n.bind(6), or run with variables={"n": 6}'),
    ({"n": 7}, "variables: variable n is outside its bounds\n  got:      7\n  expected: 1 … 6"),
    ({"n": 1.5}, "variables: variable n is outside its bounds\n  got:      1.5\n  expected: 1 … 6"),
    ({"n": 2, "k": 1}, "variables: the program has no variable k\n  got:      k\n  expected: n"),
)  # fmt: skip


@pytest.mark.parametrize(("values", "page"), PAGES)
def test_refused_values(values: dict[str, Any], page: str) -> None:
    compilation = compiler.compile(Tensor(ROWS)[: variable()].sum(0))
    with pytest.raises(DataError) as caught:
        compilation.run(variables=values)
    rows = str(caught.value).split("\n")
    (line,) = (row for row in rows if row.startswith("  line:"))
    assert "compilation.run(variables=values)" in line
    assert "\n".join(row for row in rows if row != line) == page


def test_more_rows_than_the_data_have() -> None:
    y = compiler.compile(Tensor(ROWS[:3], name="x", symbolic={0: variable()}) + 1)
    assert y.run(variables={"n": 2})[0].shape == (2, 4)
    with pytest.raises(DataError, match="x holds fewer rows than variable n says") as caught:
        y.run(variables={"n": 4})
    assert (caught.value.got, caught.value.expected) == ("3 rows, n = 4", "at most 3")


def test_two_values_are_refused_before_anything_runs() -> None:
    n = variable()
    x, y = Tensor(ROWS[:3], symbolic={0: n}), Tensor(ROWS[:4], symbolic={0: n})
    with pytest.raises(DataError) as caught:
        compiler.compile(x + y)
    line = test_two_values_are_refused_before_anything_runs.__code__.co_firstlineno + 2
    place = f"test_variables.py:{line}"
    assert caught.value.got == f"n = 3 ({place}) and n = 4 ({place})"
    other = Tensor(ROWS)[: Variable("n", 1, 5)]
    with pytest.raises(DataError) as caught:
        compiler.compile([x + 1, other + 1])
    assert (caught.value.got, caught.value.expected) == ("1 … 6 and 1 … 5", "one pair")


REFUSED: tuple[tuple[Callable[[Tensor], Any], type[CompileError], str, str], ...] = (
    (lambda x: x + ROWS, ShapeError,
     "add: the shapes do not fit together: axis -2 is n (1 … 6) and 6",
     "slice the other operand to the same variable, as in x[:n]"),
    (lambda x: x + Tensor(ROWS)[: variable(name="m")], ShapeError,
     "add: the shapes do not fit together: axis -2 is n (1 … 6) and m (1 … 6)", ""),
    (lambda x: x.reshape(3, -1), ShapeError,
     "reshape: axis 0 has n (1 … 6) elements, known when the program runs: reshape of (3, 8) "
     "cannot split it so",
     "let -1 stand for the axis of the variable, or name it: x.reshape(4, n)"),
    (lambda x: (x * variable()).reshape(variable(name="m"), 4), ShapeError,
     "reshape: the number of elements changes", ""),
    (lambda x: Tensor(ROWS[:4].T)[:, : Variable("k", 1, 4)].reshape(-1).reshape(4, 4), ShapeError,
     "reshape: axis 0 has 4*k (4 … 16) elements, known when the program runs: reshape could mean "
     "axis 0 or 1 by it", ""),
    (lambda x: x[-2], ShapeError,
     "shrink: axis 0 has n (1 … 6) elements, known when the program runs: shrink would take 1:2",
     "only the first 1 elements always exist; positions from the end are not known"),
    (lambda x: x.pad([(1, 0), None], mode="edge"), ShapeError,
     "pad: axis 0 has n (1 … 6) elements: its extent is not known", ""),
    (lambda x: x.T.reshape(1, 4, -1).avg_pool1d(2), ShapeError,
     "windows: axis 2 has n (1 … 6) elements", ""),
    (lambda x: x.sort(0), ShapeError, "sort: axis 0 has n (1 … 6) elements", ""),
    (lambda x: x.median(0), ShapeError, "median: axis 0 has n (1 … 6) elements", ""),
    (lambda x: x[:, 0].searchsorted(2.0), ShapeError,
     "searchsorted: axis 0 has n (1 … 6) elements", ""),
    (lambda x: x[[0, 1]], AxisError, "getitem: index 1 may be out of range for axis 0", ""),
    (lambda x: x[2:], ShapeError,
     "shrink: axis 0 has n (1 … 6) elements, known when the program runs: shrink would take 2:6",
     ""),
    (lambda x: x[variable(name="m") :], AxisError,
     "getitem: the slice does not always exist: the axis has n (1 … 6) elements", ""),
    (lambda x: Tensor.einsum("ij,ij->i", x, ROWS), ShapeError,
     "einsum: axis i has two extents in 'ij,ij->i'", ""),
    (lambda x: x.cat(Tensor(ROWS), dim=1), ShapeError,
     "cat: the shape of tensor 1 does not fit the first", ""),
    (lambda x: x.stack(Tensor(ROWS)), ShapeError,
     "stack: tensor 1 has another shape than the first", ""),
    (len, DataError, "len: axis 0 has n (1 … 6) elements, known when the program runs",
     "symbolic_shape names it; len(x.numpy()) counts them"),
    (lambda x: x[::2], AxisError,
     "getitem: only step 1 can be taken where an axis or a part is variable", ""),
    (lambda x: variable() // 2, DataError,
     "Variable: n does not divide by 2 for all values", ""),
    (lambda x: (variable() + 1).bind(3), DataError,  # type: ignore[union-attr]
     "Variable: n+1 is derived from other variables", ""),
    (lambda x: x[: variable(name="m")], ShapeError,
     "getitem: axis 0 cannot have m elements", ""),
    (lambda x: Tensor(ROWS)[: Variable("m", 1, 9)], ShapeError,
     "getitem: axis 0 cannot have m elements", ""),
    (lambda x: Tensor(ROWS)[: variable(0)].max(0), ShapeError,
     "max: axis 0 has n (0 … 6) elements, and no elements have no max", ""),
    (lambda x: Tensor(ROWS.astype("i1")) * Variable("k", 0, 200), DataError,
     "mul: the Python integer does not fit into int8", ""),
    (lambda x: Tensor(ROWS[:3], symbolic={0: variable().bind(2)}), DataError,
     "Variable: variable n is bound to 2 already", ""),
    (lambda x: Tensor(ROWS, symbolic={2: variable()}), AxisError,
     "Tensor: there is no such symbolic axis", ""),
    (lambda x: Tensor(ROWS, symbolic={0: Variable("k", 1, 5)}), DataError,
     "bind: variable k is outside its bounds", ""),
    (lambda x: Tensor(ROWS, symbolic={0: 4}), DataError,  # type: ignore[dict-item]
     "Variable: the extent of a symbolic axis is a variable", ""),
    (lambda x: Tensor(x, symbolic={0: variable()}), DataError,
     "Tensor: symbolic axes need data", "slice the tensor instead, as in x[: n.bind(37)]"),
    (lambda x: Tensor(ROWS)[: variable()].numpy(), DataError,
     "numpy: variable n has no value", ""),
    (lambda x: (Tensor(ROWS)[: variable()] + 1).numpy(), DataError,
     "variables: variable n has no value", ""),
    (lambda x: Variable("n", 3, 2), DataError, "Variable: variable n has no possible value", ""),
    (lambda x: Variable("in1", 0, 2), DataError, "Variable: the name cannot be used", ""),
    (lambda x: Variable("n", 0, 2.5), DataError,  # type: ignore[arg-type]
     "Variable: variable n is an integer", ""),
    (lambda x: variable().bind(7), DataError, "bind: variable n is outside its bounds", ""),
)  # fmt: skip


@pytest.mark.parametrize(("use", "kind", "page", "hint"), REFUSED)
def test_refused_uses(use: Callable[[Tensor], Any], kind: Any, page: str, hint: str) -> None:
    with pytest.raises(kind) as caught:
        use(Tensor(ROWS[:3], symbolic={0: variable()}))
    first = str(caught.value).splitlines()[0]
    assert first.startswith(page), first
    if hint:
        assert caught.value.hint == hint


def test_what_users_see() -> None:
    n = variable()
    assert repr(n) == "n in 1 … 6" and repr(n.bind(3)) == "n = 3 in 1 … 6" and str(n) == "n"
    x = Tensor(ROWS[:3], symbolic={0: n})
    assert repr(x + 1) == "Tensor(f32[n,4], lazy)"
    assert repr(x).endswith(", f32[n,4])") and repr(x).count("\n") == 2
    assert (x.shape, x.symbolic_shape, x.size) == ((6, 4), (n, 4), 24)
    assert (x * 2).tolist() == (ROWS[:3] * 2).tolist()
    realised = (x * 2).realize()
    np.testing.assert_array_equal((realised + 1).numpy(), ROWS[:3] * 2 + 1)
    np.testing.assert_array_equal(realised.T.realize().numpy(), ROWS[:3].T * 2)
    assert repr(Tensor(ROWS)[:n]) == "Tensor(f32[n,4], lazy)"
    assert int(Tensor(n.bind(4))) == 4 and (n.bind(4) * Tensor(2)).item() == 8
    assert (Tensor(ROWS) == n).shape == (6, 4)


def test_what_is_printed() -> None:
    y = compiler.compile(Tensor(ROWS[:3], name="x", symbolic={0: variable()}).sum(0), name="p")
    assert "%3 = prefix %0 %2 axis 0               f32[n,4]" in str(y.graph)
    assert "bind" not in str(y.optimized_graph)
    assert str(y.loops[0]).splitlines() == [
        "k0(out f32[4], in1 f32[24], n i64)",
        "for i0 in 4",
        f"  acc %{y.loops[0].numbers[_reduction(y)]} = 0.0",
        "  for r1 in n   reduction   (at most 6)",
        *str(y.loops[0]).splitlines()[4:],
    ]
    assert "define_var n 1..6" in str(y.lowered[0])
    assert "readonly %in1, i64 %var.n)" in str(y.source[0])
    assert str(y.schedule).splitlines()[0].endswith("variables n")
    assert y.schedule.items[0].operation.variables == ("n",)
    kernel = y.kernel(y.schedule.items[0].operation.body)
    text = CRenderer().render(kernel.linear.instructions, "k0").source.text
    assert "float *restrict out, const float *restrict in1, int64_t n)" in text
    assert "for (int64_t r1 = 0; r1 < n; r1++) {" in text


def _reduction(y: Compilation) -> Any:
    return next(n for n in y.loops[0].nodes if type(n).__name__ == "Reduce")


def test_the_safe_device_takes_variables() -> None:
    x = Tensor(ROWS[:3], symbolic={0: variable()})
    compilation = compiler.compile(x.sum(0), Options())
    (item,) = compilation.schedule.items
    where = device.get("INTERPRET")
    program = where.load(where.compile(
        kernels.program_spec(compilation.kernel(item.operation.body), where), 0))  # fmt: skip
    assert program.variables == ("n",)
    out, data = np.zeros(4, "f4"), np.ascontiguousarray(ROWS[:3])
    program.execute([out.ctypes.data, data.ctypes.data], [3])
    np.testing.assert_allclose(out, ROWS[:3].sum(0), 1e-6)
    with pytest.raises(CompileError, match="variable n is outside its bounds"):
        program.execute([out.ctypes.data, data.ctypes.data], [7])
