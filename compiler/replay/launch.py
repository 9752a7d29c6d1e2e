"""Run the program of a call: by one foreign call with minimal preparation if machine code does all
of it, else by the general path.

The addresses of outside memory are kept from the call before; those of arguments and of new memory
are passed in each call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from compiler.core.effects import Effects
from compiler.device import cpu
from compiler.device.allocator import Maker
from compiler.run import plans
from compiler.run.direct import maker_of
from compiler.run.native import Changed
from compiler.run.plans import Structure


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """See the module docstring."""

    structure: Structure
    own: list[int]
    """The address of each input, and of each block; 0 for arguments and for blocks."""
    wanted: tuple[int, ...]
    """The numbers of the requested results."""
    direct: Callable[[list[int], Changed, Effects | None], None] | None
    makers: Sequence[tuple[int, Maker]]
    """Makers of the memory that a direct call allocates, by its number in `own`."""
    places: tuple[int, ...]
    """The number in `own` of each of `wanted`."""

    @classmethod
    def of(cls, structure: Structure, addresses: Sequence[int], wanted: tuple[int, ...]) -> Self:
        """The launch of a program whose inputs are at `addresses`; 0 stands for an address that
        each call passes."""
        numbers = {buffer: number for number, buffer in enumerate(structure.inputs)}
        blocks = structure.native.blocks
        makers = []
        for block in blocks:
            numbers[block.buffer] = number = len(numbers)
            makers.append((number, maker_of(block.buffer, structure.native)))
        own = [*addresses, *[0] * len(blocks)]
        results = [structure.results[number] for number in wanted]
        direct = structure.native.direct if set(results) <= numbers.keys() else None
        places = tuple(numbers[buffer] for buffer in results) if direct else ()
        return cls(structure, own, wanted, direct, makers, places)

    def run(
        self, data: list[Any], values: Mapping[str, int], changed: Changed, effects: Effects
    ) -> list[Any]:
        """The memory of each requested result; `effects.values` is set to the same, before anything
        is written. `data` has a flat array for each input, `changed` the address of each
        argument."""
        if self.direct is None or values or cpu.MEMORY.budget is not None:
            addresses = self.own[: len(data)]
            for number, address in changed.items():
                addresses[number] = address

            def ready(found: list[Any]) -> None:
                effects.values = [found[number] for number in self.wanted]

            plans.run(self.structure, data, values, addresses, effects, ready)
            return list(effects.values)
        for number, make in self.makers:
            array, changed[number] = make()
            data.append(array)
        effects.values = flat = [data[place] for place in self.places]
        self.direct(self.own, changed, effects)
        return flat
