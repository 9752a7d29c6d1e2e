"""Arguments in tuples, lists and dicts: what functions of tensors take and give."""

from collections.abc import Iterator, Mapping
from typing import Any

from compiler.core.errors import DataError


def flat(value: Any) -> list[Any]:
    """What is in tuples, lists and dicts, in order; anything else is itself. None is nothing."""
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
    """`leaves` arranged as what is in `value` is."""
    rest = iter(leaves)
    made = _arranged(value, rest)
    if next(rest, None) is not None:
        raise DataError("tree", "more leaves than places", got=str(len(leaves)),
                        expected=str(len(flat(value))))  # fmt: skip
    return made


def _arranged(value: Any, rest: Iterator[Any]) -> Any:
    match value:
        case None:
            return None
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*(_arranged(each, rest) for each in value))
        case tuple() | list():
            return type(value)(_arranged(each, rest) for each in value)
        case Mapping():
            return {key: _arranged(each, rest) for key, each in value.items()}
        case _:
            return next(rest)
