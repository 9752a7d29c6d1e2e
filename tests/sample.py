"""The sample of tests that `make test` runs: complete in breadth, chosen by a seed.

A test with parameters is a table, `test_cast[int8-float16-lowered]` one cell of it. `seconds.json`
has the tests that take more than a twentieth of a second. Of the others, the sample has all without
parameters, and of each table cells that have each value of each parameter at least once. Tests
that take longer are dealt into `GROUPS` groups that take equally long, one for each seed. Each
module has at least one test in the sample, and each notebook is in it whole.

    --sample SEED             the sample of a seed
    --sample SEED --part 2/3  the second of three parts of all tests, without that sample
"""

import heapq
import json
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

GROUPS = 12
"""The number of groups of slow tests. As many consecutive seeds run all of them."""
IN_ORDER = "tests/svodviz/jupyter/"
"""Where the tests of a module go on where the one before ended: they are in a sample together."""
COLLECTED = pytest.StashKey[frozenset[str]]()
"""Where the settings of a session keep the identifiers of all tests, in the sample or not."""
TABLE = Path(__file__).with_name("seconds.json")
"""The file of mean test times, one for each function above `LONG`; `tools/seconds.py` writes it."""
LONG = 0.05
"""Seconds from which on a test is slow."""
_NAME = re.compile(r"^(.*?)\[(.*)\]$", re.DOTALL)


@cache
def seconds() -> dict[str, float]:
    """The mean time of the tests of a function, where it is long, by the function's name
    (`tests/test_a.py::test_x`)."""
    table: dict[str, float] = json.loads(TABLE.read_text("utf-8"))
    return table


def function_of(name: str) -> str:
    """The name of a test without its parameters."""
    found = _NAME.match(name)
    return found[1] if found else name


def sampled(names: Sequence[str], seed: int, times: Mapping[str, float]) -> set[int]:
    """The places in `names`, identifiers of pytest's, of those that are in the sample."""
    long = {place for place, name in enumerate(names) if function_of(name) in times}
    chosen = _cells([p for p in range(len(names)) if p not in long], names, seed)
    chosen |= _group(sorted(long), names, times, seed % GROUPS)
    return chosen | _one_of_each_module(chosen, names, times)


def _cells(places: Sequence[int], names: Sequence[str], seed: int) -> set[int]:
    """The places of tests without parameters, and of cells with each value of each parameter."""
    tables: dict[str, list[tuple[int, str]]] = {}
    chosen: set[int] = set()
    for place in places:
        if found := _NAME.match(names[place]):
            tables.setdefault(found[1], []).append((place, found[2]))
        else:
            chosen.add(place)
    for test, cells in tables.items():
        random.Random(f"{seed} {test}").shuffle(cells)
        seen: set[tuple[int, str]] = set()
        for place, values in cells:
            new = set(enumerate(values.split("-"))) - seen
            if new:
                chosen.add(place)
                seen |= new
    return chosen


def _unit(name: str) -> str:
    """The unit of sampling: a test, or a whole module if its tests depend on their order."""
    return name.partition("::")[0] if name.startswith(IN_ORDER) else name


def _group(
    places: Sequence[int], names: Sequence[str], times: Mapping[str, float], group: int
) -> set[int]:
    """The places of one of the groups that take equally long: each unit, the longest first, joins
    the group that takes the least time so far."""
    lengths: dict[str, float] = {}
    for place in places:
        unit = _unit(names[place])
        lengths[unit] = lengths.get(unit, 0.0) + times[function_of(names[place])]
    totals = [(0.0, number) for number in range(GROUPS)]
    groups: dict[str, int] = {}
    for unit in sorted(lengths, key=lambda unit: (-lengths[unit], unit)):
        total, groups[unit] = totals[0]
        heapq.heapreplace(totals, (total + lengths[unit], groups[unit]))
    return {place for place in places if groups[_unit(names[place])] == group}


def _one_of_each_module(
    chosen: set[int], names: Sequence[str], times: Mapping[str, float]
) -> set[int]:
    """The place of the shortest test of each module that has none yet."""
    modules = {names[place].partition("::")[0] for place in chosen}
    shortest: dict[str, int] = {}
    for place, name in enumerate(names):
        module = name.partition("::")[0]
        if module in modules or module.startswith(IN_ORDER):
            continue
        best = shortest.setdefault(module, place)
        if times[function_of(name)] < times[function_of(names[best])]:
            shortest[module] = place
    return set(shortest.values())


def part_of(
    names: Sequence[str], seed: int, part: str, times: Mapping[str, float]
) -> set[int]:
    """The places of part "k/n" of all tests without the sample; `ValueError` for no such part."""
    number, _, count = part.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise ValueError(f"--part {part}: expected k/n, as 1/3")
    units = {unit: place for place, unit in enumerate(dict.fromkeys(map(_unit, names)))}
    own = {place for place, name in enumerate(names)
           if units[_unit(name)] % int(count) == int(number) - 1}  # fmt: skip
    return own - sampled(names, seed, times)
