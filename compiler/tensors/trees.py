"""Nested tuples, lists and dicts of arguments and results."""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from compiler.core.errors import DataError


def flat(value: Any) -> list[Any]:
    """The leaves of nested tuples, lists and dicts, in order. A leaf gives itself, None nothing."""
    return list(_walk(value))


def _walk(value: Any) -> Iterator[Any]:
    match value:
        case None:
            return
        case tuple() | list():
            for each in value:
                yield from _walk(each)
        case Mapping():
            for key in value:
                yield from _walk(value[key])
        case _:
            yield value


def like(value: Any, leaves: list[Any]) -> Any:
    """`leaves` in the structure of `value`: the same nested tuples, lists and dicts."""
    rest = iter(leaves)
    made = _arranged(value, rest, {})
    if next(rest, None) is not None:
        raise DataError("tree", "more leaves than places", got=str(len(leaves)),
                        expected=str(len(flat(value))))  # fmt: skip
    return made


def _arranged(value: Any, rest: Iterator[Any], known: dict[int, Any]) -> Any:
    if value is None:
        return None
    if not isinstance(value, tuple | list | Mapping):
        return next(rest)
    if id(value) in known:
        for _ in _walk(value):
            next(rest)
        return known[id(value)]
    known[id(value)] = made = _container(value, rest, known)
    return made


def _container(value: Any, rest: Iterator[Any], known: dict[int, Any]) -> Any:
    match value:
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*(_arranged(each, rest, known) for each in value))
        case tuple() | list():
            return type(value)(_arranged(each, rest, known) for each in value)
        case _:
            items = {key: _arranged(each, rest, known) for key, each in value.items()}
            return _as_mapping(value, items)


def _as_mapping(value: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """`items` in a mapping of the same class, if that is a standard one."""
    if type(value) is defaultdict and value.default_factory in _FACTORIES:
        return defaultdict(value.default_factory, items)
    kind: Any = type(value)
    return kind(items) if kind in (OrderedDict, Counter, MappingProxyType) else items


_FACTORIES = (None, int, float, str, bool, list, tuple, dict, set)
"""Default factories of `defaultdict` that are kept; a user's function might have side effects."""
