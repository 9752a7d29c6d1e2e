"""Accesses without values: the same, in the same order, as the interpreter notes."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Options, Tensor
from compiler.lowered.instructions import DefineGlobal, Instruction
from compiler.lowered.interpret import interpret
from compiler.playground import accesses
from compiler.playground.accesses import Accesses, site_and_address
from tests.lowered.test_instructions import PROGRAMS
from tests.playground.programs import TILED, choices, gathered, padded_sums, product

Note = tuple[int, int, bool]


def ones(*shape: int) -> Tensor:
    """A tensor in memory: a constant would be no access."""
    return Tensor(np.ones(shape, np.float32))


def by_element(instructions: Sequence[Instruction], **given: int) -> list[Note]:
    """(slot, element, is_store) of every access to an argument."""
    made, found = Accesses(instructions, given), list[Note]()
    for chunk in made.chunks():
        for number, address in zip(*site_and_address(chunk), strict=True):
            site = made.sites[number]
            if site.region.slot is None:
                continue
            first = (address - site.region.start) // site.region.itemsize
            slot = site.region.slot
            found += [(slot, int(first) + n, site.is_store) for n in range(site.lanes)]
    return found


def noted(instructions: Sequence[Instruction], **given: int) -> list[Note]:
    """The same from the interpreter, on data of no meaning."""
    rows = sorted((i for i in instructions if isinstance(i, DefineGlobal)), key=lambda i: i.slot)
    arrays = [np.ones(i.size, i.dtype.numpy) for i in rows]
    found: list[Note] = []
    interpret(instructions, arrays, addresses=found, variables=given)
    return found


KERNELS: dict[str, tuple[Any, str]] = {
    "a product": (lambda: ones(5, 4) @ ones(4, 6), "plain"),
    "chosen by the compiler": (lambda: ones(40, 16) @ ones(16, 70), "auto"),
    "tiles, vectors, iterations side by side":
        (lambda: ones(10, 12) @ ones(12, 40), TILED),
    "scratch memory": (lambda: ones(6, 4) @ ones(4, 8), "tile i0 2; pack 2 i0.0"),
    "predicates": (padded_sums, "plain"),
    "a mask of lanes": (lambda: ones(21) * 2.0, "tile i0 8 mask; vectorize i0.1"),
    "softmax": (lambda: ones(3, 40).softmax(), "auto"),
    "a transpose": (lambda: ones(20, 36).T.contiguous(), "auto"),
}  # fmt: skip


@pytest.mark.parametrize("chunk", [1, 7, 2**18])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_as_the_interpreter(name: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accesses, "CHUNK", chunk)
    make, loops = KERNELS[name]
    options = Options(loops=choices(loops), threads=2, cache=False)  # type: ignore[arg-type]
    for stage in compiler.compile(make(), options).lowered:
        tasks = [i.maximum for i in stage.instructions if getattr(i, "name", "") == "core_id"]
        for core in range(tasks[0] + 1 if tasks else 1):
            found = by_element(stage.instructions, core_id=core)
            assert found and found == noted(stage.instructions, core_id=core)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_by_hand_as_the_interpreter(name: str) -> None:
    program = PROGRAMS[name]()
    given = getattr(program, "variables", None) or {}
    found: list[Note] = []
    interpret(program.instructions, program.buffers(), addresses=found, variables=given)
    try:
        assert by_element(program.instructions, **given) == found
    except DataError as error:
        assert "cannot be known without the data" in str(error)


def test_scratch_memory_is_seen_and_has_a_place_of_its_own() -> None:
    made = Accesses(product(loops="tile i0 4; pack 2 i0.0").lowered[0].instructions)
    scratch = [r for r in made.regions if r.slot is None]
    assert len(scratch) == 1
    ends = [(r.start, r.start + r.nbytes) for r in made.regions]
    assert all(a[1] <= b[0] and b[0] % 4096 == 0 for a, b in pairwise(ends))
    assert any(site.region is scratch[0] and site.is_store for site in made.sites)
    assert made.total == sum(len(chunk) for chunk in made.chunks())


FETCHED = "tile r1 8; vectorize r1.1; prefetch 1 r1 i0"


def rows_fetched() -> Any:
    """Sums of rows, the next row fetched ahead."""
    loops = {"k0": FETCHED}
    return compiler.compile(ones(3, 32).sum(1), Options(loops=loops)).lowered[0].instructions


def test_what_is_fetched_ahead_stands_in_front_of_its_load_and_is_no_access() -> None:
    made = Accesses(rows_fetched())
    (chunk,) = made.chunks()
    own, address = site_and_address(chunk)
    fetches = np.array([site.is_fetch for site in made.sites])[own]
    assert made.total == np.count_nonzero(~fetches) == 3 * 4 + 3
    assert np.count_nonzero(fetches) == 2 * 4  # behind the last row there is nothing
    ahead = np.flatnonzero(fetches)
    assert (address[ahead] - address[ahead + 1] == 32 * 4).all()
    assert not fetches[ahead + 1].any()


def test_what_data_decide_is_refused_in_words() -> None:
    made = Accesses(compiler.compile(gathered(), Options(loops="plain")).lowered[0].instructions)
    with pytest.raises(DataError, match="an address follows from values in memory"):
        list(made.chunks())
