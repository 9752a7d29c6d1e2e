"""Values inside kernels: what loops and instructions computed is what the program computes."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from compiler import Options, Tensor, Variable, compile, repeat
from compiler.ask.checking import copies
from compiler.ask.seen import KEPT, Seen
from compiler.ask.values import Effort, Unseen, values_inside
from compiler.schedule import interpret
from compiler.schedule.items import Kernel

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def stored(found: dict[str, Seen], lines: tuple[object, ...], word: str) -> Seen:
    """The values that the line with `word` stored."""
    return next(found[it.entity] for it in lines if word in it.text)  # type: ignore[attr-defined]


def test_the_stored_value_is_the_result_at_every_level() -> None:
    made = compile((Tensor(X) * 2 + 1).sum(1), Options(trace=True))
    found = values_inside(made)
    expected = (X * 2 + 1).sum(1)
    for stage, word in ((made.loops[0], "out["), (made.lowered[0], "store")):
        seen = stored(found, stage.lines, word)
        assert (seen.least, seen.greatest) == (expected.min(), expected.max())
        assert seen.dtype == "float32"


def test_each_load_was_seen_once_for_each_element() -> None:
    made = compile((Tensor(X) * 2).sum(), Options(trace=True, loops="plain"))
    seen = stored(values_inside(made), made.loops[0].lines, "in1[")
    assert seen.size == X.size and seen.mean == X.mean()
    np.testing.assert_array_equal(seen.first, X.reshape(-1))
    lowered = stored(values_inside(made), made.lowered[0].lines, "load")
    assert (lowered.size, lowered.least, lowered.greatest) == (12, 0.0, 11.0)


def test_kernels_that_take_too_much_are_left_out() -> None:
    made = compile((Tensor(X) * 2).sum(1), Options(trace=True))
    assert not values_inside(made, Effort(flops=0))
    few = values_inside(made, Effort(elements=0))
    assert few and all(name.startswith("lowered:") for name in few)
    few = values_inside(made, Effort(steps=0))
    assert few and all(name.startswith("loops:") for name in few)
    assert not values_inside(made, Effort(kernels=0))


def test_what_is_left_out_is_told_with_what_it_takes() -> None:
    made = compile((Tensor(X) * 2).sum(1), Options(trace=True))
    cases = (
        (Effort(flops=0), "", -1), (Effort(elements=0), "loops", 0),
        (Effort(steps=0), "lowered", 0), (Effort(kernels=0), "", 0),
    )  # fmt: skip
    for effort, stage, number in cases:
        unseen: list[Unseen] = []
        values_inside(made, effort, unseen)
        (left,) = unseen
        (seen,) = left.reason.numbers
        assert (left.stage, left.number, seen.limit) == (stage, number, 0) and seen.value > 0
    unseen = []
    assert values_inside(made, unseen=unseen) and not unseen


def test_without_data_there_are_no_values() -> None:
    n = Variable("n", 1, 8)
    made = compile(Tensor(np.ones(8, np.float32), symbolic={0: n}) * 2)
    assert made.can_run == bool(made.variables)
    assert bool(values_inside(made)) == made.can_run


def test_the_program_itself_sees_no_difference() -> None:
    x = Tensor(X.copy())
    made = compile(x.exp())
    values_inside(made)
    np.testing.assert_allclose(made.run()[0], np.exp(X), rtol=1e-5)


def test_what_was_seen_is_counted_over_all_times() -> None:
    seen = Seen("float32")
    assert seen.mean == 0.0 and seen.first.size == 0
    seen.add(np.array([[1.0, np.nan], [np.inf, 3.0]], np.float32))
    seen.add(np.full(1000, 2.0, np.float32))
    assert (seen.size, seen.nan, seen.inf, seen.finite) == (1004, 1, 1, 1002)
    assert (seen.least, seen.greatest, seen.mean) == (1.0, 3.0, 2.0)
    assert seen.first.size == KEPT


def test_the_greatest_integer_is_seen_exactly() -> None:
    greatest = np.iinfo(np.int64).max
    made = compile(Tensor(np.array([0, greatest])) - 1)
    seen = [it for it in values_inside(made).values() if it.dtype == "int64" and it.size == 2]
    assert (greatest, 0) in [(it.greatest, it.least) for it in seen]


def _written_in_place() -> Tensor:
    x = Tensor(np.arange(25, dtype=np.float32).reshape(5, 5))
    x[1:3] = 7
    x[0, :] = x[4, :] * 2
    return x + 1


@pytest.mark.parametrize("program", [
    lambda: Tensor(X).layernorm(), lambda: Tensor(X).softmax(), _written_in_place,
    lambda: Tensor(X @ X.T) @ (Tensor(X @ X.T) + 1).contiguous(), lambda: Tensor(X[0]).sort()[0],
    lambda: Tensor.randn(16).softmax(0), lambda: Tensor(X[None, None, :2]).max_pool2d(2),
    lambda: Tensor(X).to("CPU:1") * 2,
])  # fmt: skip
def test_a_call_has_the_value_that_its_kernel_writes(program: Callable[[], Tensor]) -> None:
    made = compile(program())
    sizes = made.values_of_run()
    calls = {id(item.operation): above for item, above in
             zip(made.schedule.items, made.schedule.parents, strict=True)}  # fmt: skip

    def run(kernel: Kernel, arguments: Sequence[np.ndarray]) -> None:
        interpret.run_kernel(kernel, arguments, sizes)
        (entity,) = calls[id(kernel)]
        shown = made.values(entity)
        assert shown is not None
        np.testing.assert_allclose(shown.reshape(-1), arguments[0].reshape(-1), 1e-5, 1e-6)

    interpret.interpret(made.schedule.items, made.schedule.results, copies(made), run)


def test_the_iterations_of_a_loop_have_no_single_value() -> None:
    made = compile(repeat(3, lambda _, state: state * 2 + 1, Tensor(X)))
    calls = [it.entity for it in made.kernels.lines if "= call" in it.text]
    assert [made.values(it or "") for it in calls] == [None] * len(calls) != []
    (result,) = (n for n in made.kernels.nodes[-1].sources)
    np.testing.assert_array_equal(made.values(made.kernels.entity(result)), X * 8 + 7)
