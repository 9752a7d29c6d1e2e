"""The sample of tests is complete in breadth, and with its parts it is everything."""

import pytest

from compiler.core import dtypes
from compiler.ops.table import OPS
from tests.evaluate import ENGINES
from tests.sample import COLLECTED, GROUPS, IN_ORDER, LONG, part_of, sampled, seconds

TABLE = [f"tests/test_a.py::test_x[{op}-{kind}-{engine}]"
         for op in ("add", "mul", "sub") for kind in ("f32", "i8")
         for engine in "abcde"]  # fmt: skip
SLOW = [f"tests/test_{module}.py::test_{n}" for module in "cd" for n in range(40)]
ORDERED = [f"{IN_ORDER}test_{module}.py::test_{n}" for module in "ef" for n in range(4)]
NAMES = ["tests/test_a.py::test_alone", *TABLE, "tests/test_b.py::test_y[add]", *SLOW, *ORDERED]
TIMES = {name: 1.0 + place for place, name in enumerate(SLOW)} | dict.fromkeys(ORDERED, 0.5)


@pytest.mark.parametrize("seed", range(20))
def test_each_value_of_each_parameter_is_in_it(seed: int) -> None:
    chosen = [NAMES[place] for place in sampled(NAMES, seed, TIMES)]
    assert {NAMES[0], NAMES[1 + len(TABLE)]} <= set(chosen)
    cells = [name.partition("[")[2].rstrip("]").split("-") for name in chosen if name in TABLE]
    assert [set(column) for column in zip(*cells, strict=True)] == [
        {"add", "mul", "sub"}, {"f32", "i8"}, set("abcde")]  # fmt: skip
    assert len(cells) < len(TABLE) / 2


def test_a_seed_repeats_it_and_others_choose_others() -> None:
    samples = [frozenset(sampled(NAMES, seed, TIMES)) for seed in range(20)]
    assert samples == [frozenset(sampled(NAMES, seed, TIMES)) for seed in range(20)]
    assert len(set(samples)) > 10


def test_consecutive_seeds_have_all_long_tests_and_take_equally_long() -> None:
    chosen = [{NAMES[n] for n in sampled(NAMES, seed, TIMES)} for seed in range(GROUPS)]
    counts = {name: sum(name in sample for sample in chosen) for name in [*SLOW[1:], *ORDERED]}
    shortest = {"tests/test_d.py::test_0"}
    assert {name for name, count in counts.items() if count != 1} <= shortest
    took = [sum(TIMES.get(name, 0.0) for name in sample) for sample in chosen]
    assert max(took) < 1.4 * min(took)


@pytest.mark.parametrize("seed", range(GROUPS))
def test_each_module_has_a_test_in_it_and_tests_in_order_stay_together(seed: int) -> None:
    chosen = {NAMES[place] for place in sampled(NAMES, seed, TIMES)}
    assert {name[11] for name in chosen if name.startswith("tests/test_")} == set("abcd")
    assert all(len(chosen & set(own)) in (0, 4) for own in (ORDERED[:4], ORDERED[4:]))


@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_the_sample_and_the_parts_are_everything(count: int) -> None:
    parts = [part_of(NAMES, 3, f"{k}/{count}", TIMES) for k in range(1, count + 1)]
    together = [*sampled(NAMES, 3, TIMES), *(place for part in parts for place in part)]
    assert sorted(together) == list(range(len(NAMES)))


@pytest.mark.parametrize("part", ["", "2", "0/3", "4/3", "1/0", "a/b", "-1/2"])
def test_no_such_part(part: str) -> None:
    with pytest.raises(ValueError, match="expected k/n"):
        part_of(NAMES, 3, part, TIMES)


def test_the_table_has_what_takes_long() -> None:
    table = seconds()
    assert len(table) > 1000 and min(table.values()) > LONG
    assert max(table.values()) > 10


def test_each_sample_has_each_operation_type_and_engine(request: pytest.FixtureRequest) -> None:
    names = sorted(request.config.stash[COLLECTED])
    if not any(name.startswith("tests/test_operations.py::") for name in names):
        pytest.skip("only a part of the tests was collected")
    wanted = {*OPS, *(dtype.short for dtype in dtypes.ALL), *ENGINES}
    for seed in range(GROUPS):
        chosen = [names[place] for place in sampled(names, seed, seconds())]
        cells = [name.partition("[")[2].rstrip("]").split("-") for name in chosen]
        assert wanted - {value for cell in cells for value in cell} == set()
