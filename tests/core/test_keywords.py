"""Names of arguments: those of NumPy and PyTorch are one; what misfits gets a page."""

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor, compile, nn, optim
from compiler.core.errors import AxisError, CompileError, NameMistake
from compiler.core.keywords import RENAMED, SYNONYMS, fits
from tests.pages import page

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
T: Any = Tensor

SAME: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "keepdims": (lambda t: t.sum(axis=1, keepdims=True), lambda t: t.sum(1, True)),
    "keepdims max": (lambda t: t.max(dim=1, keepdims=True), lambda t: t.max(1, True)),
    "keepdims norm": (lambda t: t.norm(axis=1, keepdims=True), lambda t: t.norm(2, 1, True)),
    "keepdims argmax": (lambda t: t.argmax(1, keepdims=True), lambda t: t.argmax(1, True)),
    "ddof": (lambda t: t.std(axis=1, ddof=0), lambda t: t.std(1, correction=0)),
    "dim": (lambda t: t.unsqueeze(dim=1), lambda t: t.unsqueeze(1)),
    "axis": (lambda t: t.cat(t, axis=1), lambda t: t.cat(t, dim=1)),
    "axis of stack": (lambda t: t.stack(t, axis=1), lambda t: t.stack(t, dim=1)),
    "a_min": (lambda t: t.clip(a_min=3, a_max=9), lambda t: t.clip(3, 9)),
    "shape": (lambda t: t.reshape(shape=(4, 6)), lambda t: t.reshape(4, 6)),
    "dims": (lambda t: t.permute(dims=(2, 0, 1)), lambda t: t.permute(2, 0, 1)),
    "axes": (lambda t: t.transpose(axes=(2, 0, 1)), lambda t: t.permute(2, 0, 1)),
    "axis of flip": (lambda t: t.flip(axis=1), lambda t: t.flip(1)),
    "axis None": (lambda t: t.flip(axis=None), lambda t: t.flip()),
    "start_dim": (lambda t: t.flatten(start_dim=1), lambda t: t.flatten(1)),
    "dimension": (lambda t: t.unfold(dimension=1, size=2), lambda t: t.unfold(1, 2)),
    "repeats": (lambda t: t.repeat(repeats=(1, 2, 1)), lambda t: t.repeat(1, 2, 1)),
    "kernel_size": (lambda t: t.max_pool2d(kernel_size=2), lambda t: t.max_pool2d(2)),
    "indices": (lambda t: t.take(indices=[1, 0], axis=1), lambda t: t.take([1, 0], 1)),
    "dim0": (lambda t: t.swapaxes(dim0=0, dim1=2), lambda t: t.swapaxes(0, 2)),
}


@pytest.mark.parametrize("name", SAME)
def test_names_of_both_libraries(name: str) -> None:
    other, ours = SAME[name]
    expected = ours(Tensor(X)).numpy()
    assert np.array_equal(other(Tensor(X)).numpy(), expected)
    assert other(Tensor(X)).shape == expected.shape


W = Tensor(X.copy(), requires_grad=True)
EARLIER: dict[str, tuple[str, Callable[..., Any]]] = {
    "affine": ("elementwise_affine", lambda **it: nn.LayerNorm(4, **it)),
    "channels": ("num_features", lambda **it: nn.BatchNorm2d(**it)),
    "count": ("num", lambda **it: T.linspace(0, 1, **it)),
    "count of parts": ("chunks", lambda **it: T(X).chunk(**it)),
    "count of numbers": ("n", lambda **it: T.randperm(**it)),
    "count of steps": ("total_steps", lambda **it: optim.cosine(**it)),
    "decay": ("weight_decay", lambda **it: optim.AdamW([W], **it)),
    "end": ("end_dim", lambda **it: T(X).flatten(**it)),
    "every": ("step_size", lambda **it: optim.steps(**it)),
    "factor": ("gamma", lambda **it: optim.exponential(**it)),
    "first": ("div_factor", lambda **it: optim.one_cycle(9, **it)),
    "groups": ("num_groups", lambda **it: T(X).group_norm(**it)),
    "heads": ("num_heads", lambda **it: nn.MultiheadAttention(4, **it)),
    "hidden": ("hidden_size", lambda **it: nn.LSTM(3, **it)),
    "inputs": ("in_features", lambda **it: nn.Linear(out_features=3, **it)),
    "last": ("final_factor", lambda **it: optim.cosine(9, **it)),
    "layers": ("num_layers", lambda **it: nn.GRU(3, 4, **it)),
    "most": ("max_norm", lambda **it: optim.clip_grad_norm([W], **it)),
    "most of elements": ("clip_value", lambda **it: optim.clip_grad_value([W], **it)),
    "outputs": ("out_channels", lambda **it: nn.Conv2d(3, kernel_size=3, **it)),
    "padding": ("padding_idx", lambda **it: nn.Embedding(3, 2, **it)),
    "rate": ("lr", lambda **it: optim.SGD([W], **it)),
    "rate of a group": ("lr", lambda **it: optim.SGD([{"params": [W], **it}])),
    "rest": ("after", lambda **it: optim.warmup(2, **it)),
    "rising": ("pct_start", lambda **it: optim.one_cycle(9, **it)),
    "rows": ("num_embeddings", lambda **it: nn.Embedding(embedding_dim=2, **it)),
    "shape": ("normalized_shape", lambda **it: nn.LayerNorm(**it)),
    "size": ("kernel_size", lambda **it: nn.MaxPool2d(**it)),
    "size of the result": ("output_size", lambda **it: T(X).adaptive_avg_pool2d(**it)),
    "slope": ("negative_slope", lambda **it: T(X).leaky_relu(**it)),
    "start": ("start_dim", lambda **it: T(X).flatten(**it)),
    "to": ("destination", lambda **it: T(X).moveaxis(0, **it)),
    "width": ("embed_dim", lambda **it: nn.MultiheadAttention(num_heads=2, **it)),
}


@pytest.mark.parametrize("row", EARLIER)
def test_an_earlier_name_is_refused_with_todays(row: str) -> None:
    name, (today, call) = row.split()[0], EARLIER[row]
    assert today in RENAMED[name].split()
    hint = f"  hint:     {name} was renamed: write {today}="
    assert page(lambda: call(**{name: 2}))[-1] == hint


def test_every_renamed_argument_is_here() -> None:
    assert {row.split()[0] for row in EARLIER} == set(RENAMED)


def test_an_earlier_attribute_is_refused_with_todays() -> None:
    optimizer = optim.SGD([W])
    assert page(lambda: optimizer.rate, NameMistake)[-1] == "  hint:     rate was renamed: write lr"
    assert page(lambda: setattr(optimizer.groups[0], "rate", 1), NameMistake)[0] == (
        "Group: there is no attribute rate")


def test_class_methods_too() -> None:
    assert T.zeros(shape=(2, 3)).shape == T.rand(size=(2, 3)).shape == (2, 3)
    assert T.linspace(0, 1, num=3).shape == T.linspace(0, 1, steps=3).shape == (3,)


def test_every_synonym_is_an_argument_of_a_method_or_a_layer() -> None:
    used = set()
    for owner in (Tensor, nn, optim):
        for name in dir(owner):
            member = inspect.getattr_static(owner, name)
            member = getattr(member, "__func__", member)
            is_call = isinstance(member, FunctionType | type) and not name.startswith("_")
            if is_call and member not in (nn.ModuleDict, nn.ModuleList):
                used.update(inspect.signature(member).parameters)
    assert [row for row in SYNONYMS if not used.intersection(row)] == []
    assert [row for row in SYNONYMS if row[0] not in used] == []


def test_no_such_argument() -> None:
    t = T(X)
    assert page(lambda: t.sum(axs=1)) == [
        "sum: there is no argument axs",
        "  got:      axs=1",
        "  expected: sum(axis=None, keepdim=False, dtype=None, *, dim=None)",
        "  hint:     did you mean axis?",
    ]
    assert page(lambda: t.var(unbiased=False)) == [
        "var: there is no argument unbiased",
        "  got:      unbiased=False",
        "  expected: var(axis=None, *, keepdim=False, correction=1, dim=None)",
        "  hint:     unbiased=True is correction=1, unbiased=False is correction=0",
    ]


def test_too_many_and_too_few() -> None:
    t = T(X)
    assert page(lambda: t.relu(1, 2)) == [
        "relu: too many positional arguments", "  got:      relu(1, 2)", "  expected: relu()",
    ]  # fmt: skip
    assert page(lambda: t.take()) == [
        "take: missing a required argument: 'index'",
        "  got:      take()",
        "  expected: take(index, axis=None, *, dim=None)",
    ]


def test_a_number_is_no_flag() -> None:
    t = T(X)
    problem, got, _, hint = page(lambda: t.sum(0, 1))
    assert (problem, got) == ("sum: keepdim is true or false", "  got:      1")
    assert hint == "  hint:     several axes are one tuple: sum((0, 1))"
    assert page(lambda: t.mean(0, np.float64))[0].startswith("mean: keepdim ")
    assert page(lambda: t.sort(0, "stable"))[0].startswith("sort: descending ")
    assert t.sum(0, np.bool_(True)).shape == (1, 3, 4)


@pytest.mark.parametrize("method", ["sum", "softmax", "argmax", "cumsum", "sort", "norm", "diff"])
def test_an_axis_by_two_names(method: str) -> None:
    t = T(X)
    assert page(lambda: getattr(t, method)(axis=0, dim=1), AxisError) == [
        f"{method}: both axis= and dim= are given",
        "  got:      axis=0, dim=1",
        "  expected: one of them: they mean the same",
    ]


def test_one_argument_by_its_place_and_by_a_name() -> None:
    t = T(X)
    rows = page(lambda: t.softmax(0, dim=1), AxisError)
    assert rows[1] == "  got:      axis=0, dim=1"
    assert page(lambda: t.unsqueeze(0, dim=1))[0].startswith("unsqueeze: multiple values for")


def test_errors_from_inside_are_left_alone() -> None:
    def function(x: Any) -> Any:
        return x + None.nothing  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="NoneType"):
        Tensor.kernel("mine", function, Tensor(X))


def test_compile_and_prepare_say_so_too() -> None:
    t = T(X)
    assert page(lambda: compile(t, optons=3)) == [  # type: ignore[call-arg]
        "compile: there is no argument optons",
        "  got:      optons=3",
        "  expected: compile(*program, options=None, name='program', passes=None)",
        "  hint:     did you mean options?",
    ]
    rows = page(lambda: compiler.prepare(t, name="x"))  # type: ignore[call-arg]
    assert rows[0] == "prepare: there is no argument name"


PROGRAM = T(X) + 1
MADE: Any = compile(PROGRAM)
OF_ANOTHER_TYPE: dict[str, tuple[str, Callable[[], Any]]] = {
    "arange": ("start='a'", lambda: T.arange("a")),
    "bisect": ("compilation=1", lambda: compiler.bisect(1)),  # type: ignore[arg-type]
    "diff": ("n=1.5", lambda: T(X).diff(1.5)),
    "dropout": ("p='a'", lambda: T(X).dropout("a")),
    "first_nan": ("compilation=1", lambda: compiler.first_nan(1)),  # type: ignore[arg-type]
    "layer": ("in_features='a'", lambda: nn.Linear("a", 4)),  # type: ignore[arg-type]
    "seconds": ("seconds='a'", lambda: MADE.measure(seconds="a")),
    "trace": ("module=3", lambda: MADE.trace(3)),
    "variance": ("correction='a'", lambda: T(X).var(correction="a")),
}


@pytest.mark.parametrize("name", OF_ANOTHER_TYPE)
def test_an_argument_of_another_type_is_the_reason_for_an_error_of_pythons(name: str) -> None:
    value, call = OF_ANOTHER_TYPE[name]
    problem, got, expected = page(call)
    argument = value.partition("=")[0]
    assert problem.endswith(f": {argument} is of another type") and got == f"  got:      {value}"
    assert expected.startswith("  expected: ")


UNKNOWN: dict[str, tuple[str, Callable[[], Any]]] = {
    "options": ("opt", lambda: compiler.Options(opt=3)),  # type: ignore[call-arg]
    "run": ("x", lambda: compile(PROGRAM).run(x=3)),  # type: ignore[call-arg]
    "tensor": ("dtyp", lambda: Tensor([1.0], dtyp=3)),  # type: ignore[call-arg]
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_no_such_argument_of_constructors_and_runs(name: str) -> None:
    argument, call = UNKNOWN[name]
    assert page(call)[0].endswith(f": there is no argument {argument}")


@pytest.mark.parametrize(
    ("value", "annotation", "is_sound"),
    [
        (1, int, True), (np.int8(1), int, True), (1.5, int, False), ("1", float, False),
        (1, float, True), (np.float32(1), float, True), (T(1.0), float, True), (None, int, False),
        (None, int | None, True), ("a", int | str, True), ([1], int | str, False),
        ((1, 2), tuple[float, float], True), (1, tuple[float, float], False), (1, Any, True),
        (True, bool, True), ("a", bool, False), ("a", "a text", True), (PROGRAM, Tensor, True),
        (3, Tensor, False),
    ],
)  # fmt: skip
def test_types_that_certainly_do_not_fit(value: Any, annotation: Any, is_sound: bool) -> None:
    assert fits(value, annotation) is is_sound


def test_an_option_is_no_attribute_of_a_group() -> None:
    (group,) = optim.SGD([W], lr=0.5).groups
    for name in ("decay", "weight_decay", "momentum"):
        with pytest.raises(NameMistake, match=r'write group.options\["'):
            setattr(group, name, 0.5)
    with pytest.raises(NameMistake, match="weight_decay"):
        optim.SGD([W]).decay = 0.5
    group.lr = 0.25
    assert group.lr == 0.25


def test_no_such_pass_kernel_or_entity() -> None:
    made = compile(PROGRAM)
    passes: Any = compiler.PASSES
    assert page(lambda: passes.without(1), CompileError)[0] == "passes: there is no pass 1"
    assert page(lambda: made.lineage("graph:99999"))[0] == "lineage: there is no such entity"
    with pytest.raises(CompileError, match="the body of k0"):
        made.kernel("bogus")  # type: ignore[arg-type]
    rows = page(lambda: compile(PROGRAM, compiler.Options(loops={"k9": ""})))
    assert rows[1:] == ["  got:      'k9'", "  expected: k0"]
