"""launch: a compiled program, ready to run again and again on memory whose addresses are known.

    memory for blocks and results  ·  the addresses that differ from the run before  ·  the call

If machine code does all of the work, a run is one foreign call with the least possible work in
Python. Else the general path runs part after part (`plans.run`). Execution plans and captured
functions both run so: addresses of data that do not move are kept, those of passed arrays and of
new memory belong to one run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from compiler.core.effects import Effects
from compiler.device import cpu
from compiler.device.allocator import Maker, address_of
from compiler.graph.nodes import Buffer, Shape
from compiler.run import plans
from compiler.run.allocation import maker
from compiler.run.native import Changed, NativePlan
from compiler.run.plans import Structure
from compiler.threads import workers
from compiler.threads.workers import WORKERS

SMALL = 4096
"""Bytes of a block that is allocated by NumPy, not by the allocator: that takes 0.2 µs instead of
0.9 (EPYC, AVX2, 2026-11-23)."""

Direct: TypeAlias = Callable[[Sequence[Any], Changed, Effects | None], list[Any]]
"""Returns the memory of each requested result. It takes a flat array for each input, if a result
may be one; the address of each input that this run passes; effects, whose `values` are set before
anything is written."""


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """See the module docstring. It has no state of a run: threads may share it."""

    structure: Structure
    arrays: list[Any]
    """The flat data of each input that does not move; None for one that each run passes."""
    addresses: list[int]
    """The address of each input, then of each block; 0 for those that each run supplies."""
    wanted: Sequence[int]
    """The numbers of the requested results."""
    direct: Direct | None
    """Runs all of the program by one foreign call; None if machine code does not do all of it."""

    @classmethod
    def of(
        cls, structure: Structure, arrays: list[Any],
        wanted: Sequence[int] | None = None, shapes: Sequence[Shape] | None = None,
    ) -> Self:  # fmt: skip
        """The launch of a program on these inputs. Results of a direct call have `shapes`, or are
        flat."""
        native, buffers = structure.native, structure.results
        wanted = range(len(buffers)) if wanted is None else wanted
        extents = dict(zip(buffers, shapes, strict=True)) if shapes else {}
        blocks = [block.buffer for block in native.blocks]
        numbers = {b: number for number, b in enumerate((*structure.inputs, *blocks))}
        makers = [(numbers[it], _maker(it, native, extents.get(it))) for it in blocks]
        inputs = [address_of(it) if isinstance(it, np.ndarray) else 0 for it in arrays]
        addresses = [*inputs, *[0] * len(blocks)]
        results = [numbers.get(buffers[number], -1) for number in wanted]
        direct = None if -1 in results else _direct(native, addresses, makers, results)
        return cls(structure, arrays, addresses, wanted, direct)

    def run(
        self, data: list[Any], values: Mapping[str, int], changed: Changed, effects: Effects
    ) -> None:
        """Run by one foreign call if possible, else by the general path; `effects.values` is set
        to the results before anything is written."""
        if self.direct is not None and not values and cpu.MEMORY.budget is None:
            self.direct(data, changed, effects)
            return
        addresses = self.addresses[: len(data)]
        for number, address in changed.items():
            addresses[number] = address

        def ready(flat: list[Any]) -> None:
            effects.values = [flat[number] for number in self.wanted]

        plans.run(self.structure, data, values, addresses, effects, ready)


def _direct(
    native: NativePlan, addresses: list[int], makers: Sequence[tuple[int, Maker]],
    results: Sequence[int],
) -> Direct | None:  # fmt: skip
    """The function of a `Launch`; None if one foreign call is not all of the program. It is a
    closure because local variables are fastest: a tiny program takes 3 µs in all."""
    steps, first = native.whole, len(native.inputs)
    if steps is None:
        return None
    only, mark, workspace = native.only, native.mark, native.workspace
    keep = native.free.append if native.is_kept else None
    width, stride, run = native.threads, native.stride, None if only else workers.native().run
    are_all = list(results) == list(range(first, len(addresses)))
    are_blocks = all(number >= first for number in results)
    places = [number - first if are_blocks else number for number in results]

    def direct(data: Sequence[Any], changed: Changed, effects: Effects | None) -> list[Any]:
        blocks: list[Any] = []
        for number, make in makers:
            array, changed[number] = make()
            blocks.append(array)
        memory = blocks
        if not are_all:
            arrays = blocks if are_blocks else [*data, *blocks]
            memory = [arrays[place] for place in places]
        space = workspace(addresses, changed)
        if effects is not None:
            effects.values = memory
            if mark is not None:
                effects.expect(space.each, mark)
        if only is not None:
            only(space.address, 0, space.places[1])
        elif run is not None:
            pool = WORKERS.pool(width)
            run(pool, steps.address, steps.count, space.address, space.places[1], stride)
        if effects is not None:
            effects.is_done = True  # another run may reuse the words
        if keep is not None:
            keep(space)
        return memory

    return direct


def _maker(buffer: Buffer, native: NativePlan, shape: Shape | None) -> Maker:
    """A function that allocates memory for a buffer of one run, flat or of a shape."""
    if buffer.nbytes > SMALL or buffer in native.streamed:
        return maker(buffer, shape)
    return cpu.MEMORY.small_maker((buffer.size,) if shape is None else shape, buffer.dtype)
