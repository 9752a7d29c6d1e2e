"""The sample of tests is complete in breadth, and with its parts it is everything."""

import pytest

from tests.sample import part_of, sampled

TABLE = [f"tests/test_a.py::test_x[{op}-{kind}-{engine}]"
         for op in ("add", "mul", "sub") for kind in ("f32", "i8")
         for engine in "abcde"]  # fmt: skip
NAMES = ["tests/test_a.py::test_alone", *TABLE, "tests/test_b.py::test_y[add]"]


@pytest.mark.parametrize("seed", range(20))
def test_each_value_of_each_parameter_is_in_it(seed: int) -> None:
    chosen = [NAMES[place] for place in sampled(NAMES, seed)]
    assert {NAMES[0], NAMES[-1]} <= set(chosen)
    cells = [name.partition("[")[2].rstrip("]").split("-") for name in chosen if name in TABLE]
    assert [set(column) for column in zip(*cells, strict=True)] == [
        {"add", "mul", "sub"}, {"f32", "i8"}, set("abcde")]  # fmt: skip
    assert len(cells) < len(TABLE) / 2


def test_a_seed_repeats_it_and_others_choose_others() -> None:
    samples = [frozenset(sampled(NAMES, seed)) for seed in range(20)]
    assert samples == [frozenset(sampled(NAMES, seed)) for seed in range(20)]
    assert len(set(samples)) > 10


@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_the_sample_and_the_parts_are_everything(count: int) -> None:
    parts = [part_of(NAMES, 3, f"{k}/{count}") for k in range(1, count + 1)]
    together = [*sampled(NAMES, 3), *(place for part in parts for place in part)]
    assert sorted(together) == list(range(len(NAMES)))


@pytest.mark.parametrize("seed", range(5))
def test_of_dear_tests_each_module_has_a_half(seed: int) -> None:
    names = [f"tests/test_{module}.py::test_{n}" for module in "ab" for n in range(5)]
    dear = {name for name in names if "test_b" in name} | {"tests/test_a.py::test_0"}
    chosen = {names[place] for place in sampled(names, seed, dear)}
    assert [len([n for n in chosen if module in n]) for module in ("test_a", "test_b")] == [5, 3]
    own = [n for n in names if "test_b" in n]
    assert [n for n in own if n in chosen] == (own[2:] if seed % 2 else own[:3])
    left = {names[place] for place in part_of(names, seed, "1/1", dear)}
    assert left == set(names) - chosen


@pytest.mark.parametrize("part", ["", "2", "0/3", "4/3", "1/0", "a/b", "-1/2"])
def test_no_such_part(part: str) -> None:
    with pytest.raises(ValueError, match="expected k/n"):
        part_of(NAMES, 3, part)
