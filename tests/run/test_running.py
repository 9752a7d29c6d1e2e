"""Results of a run are the caller's own: to write one changes no tensor, input or other result."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, Variable, compile, prepare
from tests.evaluate import assert_same

Array = np.ndarray[Any, Any]
DATA = np.arange(12, dtype="f4").reshape(3, 4)
N = Variable("n", 1, 5)

PROGRAMS: dict[str, Callable[[Tensor], Any]] = {
    "itself": lambda x: x,
    "itself twice": lambda x: [x, x],
    "itself and its sum": lambda x: [x.sum(), x, x.sum()],
    "a view": lambda x: x.T,
    "rows": lambda x: x[1:],
    "flat": lambda x: [x.reshape(-1), x.reshape(2, 6), x],
    "contiguous": lambda x: x.contiguous(),
    "detached": lambda x: [x.detach(), x.clone()],
    "cast to its type": lambda x: x.cast("float32"),
    "computed twice": lambda x: [x + 1, x + 1],
    "a view of a result": lambda x: [x + 1, (x + 1).reshape(-1), (x + 1).T],
    "a constant": lambda x: [Tensor.ones(3), Tensor.ones(3), Tensor(2.5)],
    "no element": lambda x: [x[:0], x[:0]],
    "another device": lambda x: [x.to("CPU:1"), x],
    "interpreted": lambda x: [x.to("INTERPRET"), x.to("INTERPRET") + 1],
    "in shards": lambda x: x.shard(("CPU", "CPU:1", "CPU:2"), 0) + 1,
    "a sort": lambda x: [*x.sort(), x],
}


def as_list(value: Any) -> list[Tensor]:
    return list(value) if isinstance(value, list | tuple) else [value]


def compiled(value: Any) -> Callable[..., list[Array]]:
    return compile(value).run


def prepared(value: Any) -> Callable[..., list[Array]]:
    return prepare(value).run


def unplanned(value: Any) -> Callable[..., list[Array]]:
    return prepare(value, Options(plan_memory=False)).run


WAYS = (compiled, prepared, unplanned)


def check_own(results: Sequence[Array], *inputs: Array) -> None:
    """Each result may be written, and shares memory with nothing."""
    for number, result in enumerate(results):
        assert result.flags.writeable
        for other in (*inputs, *results[:number]):
            assert not np.shares_memory(result, other)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_result_is_the_callers_own(name: str, way: Callable[..., Any]) -> None:
    data, other = DATA.copy(), -DATA
    x = Tensor(data, name="x")
    value = PROGRAMS[name](x)
    run, expected = way(value), [t.numpy().copy() for t in as_list(value)]
    first, second = run(), run()
    check_own([*first, *second], data)
    for result in first:
        result[...] = 99
    for result, want in zip(second, expected, strict=True):
        assert_same(result, want)
    for result, want in zip(run(), expected, strict=True):
        assert_same(result, want)
    assert_same(data, DATA)
    assert_same(x.numpy(), DATA)
    if "constant" not in name and name != "in shards":
        given = run({x: other})
        check_own(given, data, other)
        for result in given:
            result[...] = 99
        assert_same(other, -DATA)


@pytest.mark.parametrize("way", WAYS)
def test_parts_that_a_variable_says_are_own(way: Callable[..., Any]) -> None:
    x = Tensor(DATA.copy(), symbolic={0: N})
    for value in (x, [x, x + 1, x], x.T, x[:N]):
        results = way(value)()
        check_own(results, x.node.sources[0] and x.numpy())
        for result in results:
            result[...] = 99
        assert_same(x.numpy(), DATA)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_assigned_is_returned_as_a_copy(way: Callable[..., Any]) -> None:
    data = DATA.copy()
    x = Tensor(data)
    x.assign(x + 1)
    run = way([x, x])
    first = run()
    check_own(first, data)
    for result in first:
        result[...] = 99
    assert data.max() < 99
    other = DATA.copy()
    (given, _) = run({x: other})
    assert_same(given, DATA + 1)
    assert_same(other, DATA, "data given for what is written in place are copied")


@pytest.mark.parametrize("way", WAYS)
def test_a_file_is_not_written(way: Callable[..., Any], tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", DATA)
    (result,) = way(Tensor.load(tmp_path / "x.npy"))()
    result[...] = 99
    assert_same(np.load(tmp_path / "x.npy"), DATA)


def test_what_numpy_returns_is_read_only() -> None:
    data = DATA.copy()
    x = Tensor(data)
    for tensor in (x, x.T, x + 1, Tensor.ones(3), Tensor(data, symbolic={0: N})):
        for array in (tensor.numpy(), np.asarray(tensor)):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 99
        copy = np.array(tensor)
        copy[...] = 99
        assert not np.shares_memory(copy, tensor.numpy())
    assert_same(x.numpy(), DATA)
    assert np.shares_memory(x.numpy(), data), "memory shared with NumPy stays shared"


def test_values_of_nodes_are_read_only() -> None:
    data = DATA.copy()
    made = compile(Tensor(data) * 2)
    for node in made.graph.nodes:
        value = made.values(made.graph.entity(node))
        if value is not None and value.size and np.shares_memory(value, data):
            assert not value.flags.writeable
