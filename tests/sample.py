"""The sample of tests that `make test` runs: complete in breadth, chosen by a seed.

A test with parameters is a table, `test_cast[int8-float16-lowered]` one cell of it. Each value of
each parameter is in the sample at least once; which others it meets there, the seed decides. Tests
without parameters are all in it. Of tests that drive a browser, which take seconds each, it has
the first half of each module's for an even seed, the second one for an odd seed, but all of those
in JupyterLab, which go on in one notebook.

    --sample SEED             the sample of a seed
    --sample SEED --part 2/3  the second of three parts of what that sample leaves out
"""

import random
import re
from collections.abc import Collection, Sequence
from itertools import chain

import pytest

IN_ORDER = "tests/svodviz/jupyter/"
"""Where the tests of a module go on where the one before ended."""
COLLECTED = pytest.StashKey[frozenset[str]]()
"""Where the settings of a session keep the identifiers of all tests, in the sample or not."""
_NAME = re.compile(r"^(.*?)\[(.*)\]$", re.DOTALL)


def sampled(names: Sequence[str], seed: int, dear: Collection[str] = ()) -> set[int]:
    """The places in `names`, identifiers of pytest's, of those that are in the sample; `dear` are
    those of which it has a half."""
    tables: dict[str, list[tuple[int, str]]] = {}
    chosen: set[int] = set()
    for place, name in enumerate(names):
        if found := _NAME.match(name):
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
    return chosen - _other_half(sorted(chosen), names, seed, dear)


def _other_half(
    places: Sequence[int], names: Sequence[str], seed: int, dear: Collection[str]
) -> set[int]:
    """The places of those that are left out of each module's dear tests, a half at most: the first
    ones for an odd seed, else the last ones."""
    modules: dict[str, list[int]] = {}
    for place in places:
        if names[place] in dear:
            modules.setdefault(names[place].partition("::")[0], []).append(place)
    left = (own[: len(own) // 2] if seed % 2 else own[(len(own) + 1) // 2 :]
            for own in modules.values())  # fmt: skip
    return set(chain.from_iterable(left))


def part_of(
    names: Sequence[str], seed: int, part: str, dear: Collection[str] = ()
) -> set[int]:
    """The places of part "k/n" of what the sample leaves out; `ValueError` for no such part."""
    number, _, count = part.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise ValueError(f"--part {part}: expected k/n, as 1/3")
    left = sorted(set(range(len(names))) - sampled(names, seed, dear))
    return set(left[int(number) - 1 :: int(count)])
