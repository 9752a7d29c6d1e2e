"""Data that a user passes for the inputs of a program, instead of their own.

    {x: array}   {"x": array}   [array, array]      by tensor, by name, by place

Positions follow the program: inputs come in the order in which the user created the tensors, then
arrays that operations introduced, such as the indices of `x[[0, 2]]` or w of `x @ w`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import Array, parse
from compiler.core.errors import DataError, DTypeError, ShapeError
from compiler.core.node import toposort
from compiler.core.origin import Origin
from compiler.device import buffers
from compiler.graph.extents import two_values
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.markers import PLACEHOLDER, Placeholder
from compiler.graph.nodes import Bind, Buffer, Prefix, Sink, TensorNode
from compiler.graph.words import short
from compiler.run.bindings import Bindings, Values

Given: TypeAlias = Mapping[Any, Any] | Sequence[Any] | None
Key: TypeAlias = tuple[int, str]
SHOWN = 12
"""The most inputs that a message lists. By eye."""


def key_of(buffer: Buffer) -> Key:
    """The key that tells one input from another, whoever made its node again."""
    return buffer.unique, buffer.name if buffer.unique == PLACEHOLDER else ""


@dataclass(frozen=True, eq=False)
class Inputs:
    """The inputs of a program, in the order in which the user created them."""

    buffers: tuple[Buffer, ...]
    origins: tuple[Origin | None, ...]
    """The user's lines that made them."""
    cut: Mapping[int, Prefix]
    """For each input that is read as far as a variable says, the part that is."""
    bindings: Bindings

    @cached_property
    def rows(self) -> dict[int, str]:
        """For each input that has as many rows as a variable says, that variable."""
        extents = {place: node.extent for place, node in self.cut.items()}
        return {place: extent.name for place, extent in extents.items() if not extent.terms}

    @cached_property
    def _names(self) -> dict[str, list[int]]:
        """The places of the inputs of each name."""
        places: dict[str, list[int]] = {}
        for place, buffer in enumerate(self.buffers):
            places.setdefault(buffer.name, []).append(place)
        return places

    def _own_rows(self, place: int) -> int | None:
        """The number of rows of an input's own data, if its variable is bound to that."""
        buffer, bound = self.buffers[place], self.cut[place].sources[1]
        rows = len(buffers.held(buffer))
        return rows if isinstance(bound, Bind) and bound.value == rows else None

    @cached_property
    def places(self) -> dict[Key, int]:
        """The place of each input."""
        return {key_of(buffer): place for place, buffer in enumerate(self.buffers)}

    def by_place(self, data: Given) -> dict[int, Any]:
        """The given data, by the position of their input.

        Raises `DataError` for a key that is no input, names several, or is given twice.
        """
        if data is None:
            return {}
        if isinstance(data, Mapping):
            return self._by_key(data)
        if not isinstance(data, Sequence) or isinstance(data, str):
            raise DataError("run", "these are no inputs", got=type(data).__name__,
                            expected="a dict by tensors or their names, e.g. {x: array}, or a "
                            f"list in this order: {self.listed}")  # fmt: skip
        if len(data) > len(self.buffers):
            what, expected = "too many inputs", f"at most {len(self.buffers)}: {self.listed}"
            raise DataError("run", what, got=str(len(data)), expected=expected)
        return dict(enumerate(data))

    def _by_key(self, data: Mapping[Any, Any]) -> dict[int, Any]:
        by_place: dict[int, Any] = {}
        for key, array in data.items():
            place = self._named(key) if isinstance(key, str) else self._held(key)
            if place in by_place:
                raise DataError("run", f"{self.name(place)} is given twice",
                                got="its tensor and its name, or two tensors of one memory",
                                expected="each input once", hint=self.made(place))  # fmt: skip
            by_place[place] = array
        return by_place

    def _named(self, name: str) -> int:
        places = self._names.get(name, []) if name else []
        if len(places) == 1:
            return places[0]
        what = "several inputs have this name" if places else "the program has no such input"
        hint = "give the tensor itself as key, or a list in the order above"
        raise DataError("run", what, got=repr(name), expected=self.listed, hint=hint)

    def _held(self, tensor: object) -> int:
        """The input that is the memory of a tensor."""
        node = getattr(tensor, "node", None)
        if not isinstance(node, TensorNode):
            raise DataError("run", "inputs are given by tensors or by their names",
                            got=type(tensor).__name__, expected=self.listed)  # fmt: skip
        while isinstance(node, Prefix | Assign):
            node = node.sources[0]
        held = node.expansion() if isinstance(node, Placeholder) else node
        place = self.places.get(key_of(held)) if isinstance(held, Buffer) else None
        if place is not None:
            return place
        what = "the program does not read this tensor"
        if not isinstance(held, Buffer):
            what = "the tensor is computed: no data can be given for it"
        origin = f", made at {node.origin.place}  {node.origin.text}" if node.origin else ""
        is_index = isinstance(held, Buffer) and not node.dtype.is_float
        hint = "data that were there when they were used as an index or a mask were read then: "
        hint += "index by a Tensor.placeholder to give others"
        raise DataError("run", what, got=f"{short(node)}{origin}", expected=self.listed,
                        hint=hint if is_index else "")  # fmt: skip

    def values(self, by_place: Mapping[int, Any], variables: Values) -> dict[str, int]:
        """The values of the variables: as given, else the rows of new data, else as bound.

        Raises `DataError` if the rows of two inputs disagree, and as `Bindings` does.
        """
        said = self.bindings.by_name(variables)
        rows_of: dict[str, int] = {}
        first: dict[str, int] = {}
        for place, name in self.rows.items():
            if place in by_place and name not in said and np.ndim(by_place[place]):
                rows_of.setdefault(name, len(by_place[place]))
                first.setdefault(name, place)
        for place, name in self.rows.items():
            rows = len(by_place[place]) if place in by_place else self._own_rows(place)
            if name in rows_of and rows not in (None, rows_of[name]):
                owner = "" if place in by_place else " as it was made"
                raise two_values("run", name, (
                    f"{name} = {rows_of[name]}, the rows of {self.name(first[name])}",
                    f"{name} = {rows}, the rows of {self.name(place)}{owner}",
                ), f"give data of equal rows, or say variables={{{name!r}: …}}: "
                   "then more rows are not looked at")  # fmt: skip
        return self.bindings.checked({**rows_of, **said})

    def array(self, place: int, by_place: Mapping[int, Any], values: Values) -> Array:
        """The row-major data of one input; of one with a variable extent at least so many rows.

        Raises `DataError`, `ShapeError` and `DTypeError` for what does not fit.
        """
        buffer, least = self.buffers[place], values.get(self.rows.get(place, ""))
        if place in by_place:
            array = self._fitting(by_place[place], place, least)
        elif buffer.unique == PLACEHOLDER:
            raise DataError("run", f"placeholder {buffer.name} has no data", got="nothing",
                            expected=f"{buffer.dtype} {buffer.shape}", hint=self.made(place)
                            or f"give them: run({{{buffer.name!r}: array}})")  # fmt: skip
        else:
            array = buffers.data(buffer)
        if least is not None and len(array) < least:
            what = f"{self.name(place)} holds fewer rows than a variable says"
            got, expected = f"{len(array)} rows", f"{self.rows[place]} = {least}"
            raise DataError("run", what, got=got, expected=expected, hint=self.made(place))
        return array

    def _fitting(self, array: Any, place: int, least: int | None) -> Array:
        """`array` if it fits the input: of variable extent it may have fewer rows."""
        buffer, name = self.buffers[place], self.name(place)
        if isinstance(getattr(array, "node", None), TensorNode):
            array = array.numpy()
        array = np.asarray(array) if isinstance(array, np.generic) else array
        if not isinstance(array, np.ndarray):
            raise DataError("run", f"{name} is no array", got=type(array).__name__,
                            expected="a NumPy array", hint=self.made(place))  # fmt: skip
        is_part = least is not None and array.ndim > 0 and len(array) <= buffer.shape[0]
        is_part = is_part and array.shape[1:] == buffer.shape[1:]
        if array.shape != buffer.shape and not is_part:
            raise ShapeError("run", f"{name} has another shape", got=str(array.shape),
                             expected=str(buffer.shape), hint=self.made(place))  # fmt: skip
        if parse(array.dtype, "run") is not buffer.dtype:
            raise DTypeError("run", f"{name} has another type", got=str(array.dtype),
                             expected=str(buffer.dtype), hint=self.made(place))  # fmt: skip
        native = array.astype(buffer.dtype.numpy, copy=False)
        return np.require(native, requirements=["C", "A"])

    def name(self, place: int) -> str:
        """The words for an input: its name, else its place."""
        return self.buffers[place].name or f"input {place}"

    def made(self, place: int) -> str:
        """`x is input 0 of x, w, made at cell 2:5  x = Tensor(a)`"""
        name, at = self.buffers[place].name, self.origins[place]
        order = _listed([buffer.name or short(buffer) for buffer in self.buffers])
        what = f"{name} is input {place} of {order}" if name else f"it is input {place} of {order}"
        return f"{what}, made at {at.place}  {at.text}" if at else what

    @property
    def listed(self) -> str:
        """`x f32[2,3] (cell 2:5), an unnamed f32[3] (cell 2:6)`, in order: what can be given."""
        pairs = zip(self.buffers, self.origins, strict=True)
        words = [f"{word_of(b)} ({at.place})" if at else word_of(b) for b, at in pairs]
        return _listed(words) or "no inputs"

    def __str__(self) -> str:
        """`x f32[2,3], an unnamed f32[3]`, in order."""
        return _listed([word_of(buffer) for buffer in self.buffers]) or "none"


def name_of(name: object) -> str:
    """The name of a program; an empty one is none. `DataError` for what is no text."""
    if not isinstance(name, str):
        what, got = "the name is no text", type(name).__name__
        raise DataError("compile", what, got=got, expected="a str")
    return name or "program"


def _listed(words: list[str]) -> str:
    """The words, of many the first."""
    rest = len(words) - SHOWN
    return ", ".join(words[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def word_of(buffer: Buffer) -> str:
    """`x f32[2,3]`"""
    return f"{buffer.name or 'an unnamed'} {short(buffer)}"


def inputs_of(root: Sink, bindings: Bindings) -> Inputs:
    """The inputs of a program as it was written."""
    order = toposort([root])
    held: dict[Key, tuple[buffers.Rank, Buffer, Origin | None]] = {}
    for node in order:
        buffer = node.expansion() if isinstance(node, Placeholder) else node
        if isinstance(buffer, Buffer):
            held.setdefault(key_of(buffer), (buffers.rank_of(node), buffer, node.origin))
    ordered = sorted(held.values(), key=lambda each: each[0])
    buffers_in_order = tuple(buffer for _, buffer, _ in ordered)
    places = {key_of(buffer): place for place, buffer in enumerate(buffers_in_order)}
    rows = {places[key_of(buffer)]: cut for buffer, cut in _cut(order).items()}
    return Inputs(buffers_in_order, tuple(origin for *_, origin in ordered), rows, bindings)


def _cut(order: Iterable[TensorNode]) -> dict[Buffer, Prefix]:
    """The Buffers of which only a variable number of rows is read, and that part."""
    prefixes: dict[Buffer, Prefix] = {}
    whole: set[Buffer] = set()
    for node in order:
        for source in node.sources:
            if not isinstance(source, Buffer):
                continue
            if isinstance(node, Prefix) and not node.axis:
                prefixes.setdefault(source, node)
            else:
                whole.add(source)
    return {buffer: cut for buffer, cut in prefixes.items() if buffer not in whole}
