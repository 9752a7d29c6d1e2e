"""The entities of one compilation and what each descends from, as numbers for the wire.

An entity is a string such as "lowered:k0:7". On the wire it is its number in one list; parents are
lists of such numbers. Lines that show no entity but descend from some get an entity of their own.
"""

from collections.abc import Iterable


class Entities:
    """Numbers entities in the order of their first mention and collects their parents."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._parents: list[dict[int, None]] = []

    def __contains__(self, entity: str) -> bool:
        return entity in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, entity: str, parents: Iterable[str] = ()) -> int:
        """The entity's number; it also descends from `parents`."""
        number = self._numbers.get(entity)
        if number is None:
            number = self._numbers[entity] = len(self._parents)
            self._parents.append({})
        for parent in parents:
            if parent != entity:
                numbers = self._numbers.get(parent)
                self._parents[number][self.number(parent) if numbers is None else numbers] = None
        return number

    @property
    def names(self) -> list[str]:
        """All entities, each at its number."""
        return list(self._numbers)

    @property
    def parents(self) -> list[list[int]]:
        """For each entity the numbers of what it descends from directly."""
        return [list(numbers) for numbers in self._parents]
