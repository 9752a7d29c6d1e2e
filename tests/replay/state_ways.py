"""Functions that read state in Python, made of parts: where the state is × how it is read × values.

A place holds a value that can be set, a way reads it. Nothing here knows how `jit` finds or guards
state. `python -m tests.replay.state_ways` runs all combinations and prints each stale one.
"""

import functools
import itertools
import operator
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import compiler
from compiler import Tensor
from tests.replay.state_places import ANY, NUMBERS, Get, Set

Program: TypeAlias = Callable[[Tensor], Tensor]


def number_of(value: Any) -> Any:
    """A number that tells values apart."""
    if isinstance(value, Tensor | bool | int | float | np.generic):
        return -3.0 if value is True else 7.0 if value is False else value
    if isinstance(value, np.ndarray):
        return value.sum()
    if isinstance(value, str):
        return sum(map(ord, value))
    if isinstance(value, dict):
        return sum(value.values()) + 100.0
    return 55.0 if value is None else sum(value) + 10.0 * len(value)


def directly(get: Get) -> Program:
    return lambda x: x * number_of(get())


def in_a_nested_function(get: Get) -> Program:
    def program(x: Tensor) -> Tensor:
        def inner() -> Any:
            return number_of(get())

        return x * inner()

    return program


def as_a_method(get: Get) -> Program:
    class Reader:
        def read(self, x: Tensor) -> Tensor:
            return x * number_of(get())

    return Reader().read


def as_a_static_method(get: Get) -> Program:
    class Reader:
        @staticmethod
        def read() -> Any:
            return get()

    return lambda x: x * number_of(Reader.read())


def as_a_property(get: Get) -> Program:
    class Reader:
        @property
        def read(self) -> Any:
            return get()

    reader = Reader()
    return lambda x: x * number_of(reader.read)


def as_an_object_that_is_called(get: Get) -> Program:
    class Reader:
        def __call__(self, x: Tensor) -> Tensor:
            return x * number_of(get())

    return Reader()


def from_a_list_of_functions(get: Get) -> Program:
    functions = [get]
    return lambda x: x * sum(number_of(f()) for f in functions)


def from_a_dictionary_of_functions(get: Get) -> Program:
    functions = {"get": get}
    return lambda x: x * number_of(functions["get"]())


def by_a_partial_call(get: Get) -> Program:
    def program(read: Get, x: Tensor) -> Tensor:
        return x * number_of(read())

    return functools.partial(program, get)


def by_a_default_argument(get: Get) -> Program:
    def program(x: Tensor, read: Get = get) -> Tensor:
        return x * number_of(read())

    return program


def by_an_attribute_of_a_computed_name(get: Get) -> Program:
    held, name = types.SimpleNamespace(get=get), "".join(("g", "et"))
    return lambda x: x * number_of(getattr(held, name)())


def by_map(get: Get) -> Program:
    return lambda x: x * number_of(*map(operator.call, [get]))


def by_reduce(get: Get) -> Program:
    return lambda x: functools.reduce(lambda a, f: a * number_of(f()), [get], x)


def in_a_comprehension(get: Get) -> Program:
    return lambda x: x * sum([number_of(get()) for _ in range(2)])


def in_a_generator(get: Get) -> Program:
    def values() -> Iterator[Any]:
        yield number_of(get())

    return lambda x: x * next(values())


def under_a_decorator(get: Get) -> Program:
    def decorated(f: Program) -> Program:
        @functools.wraps(f)
        def inner(x: Tensor) -> Tensor:
            return f(x) + 0

        return inner

    return decorated(lambda x: x * number_of(get()))


def by_recursion(get: Get) -> Program:
    def program(x: Tensor, depth: int = 3) -> Tensor:
        return program(x, depth - 1) if depth else x * number_of(get())

    return program


def in_a_branch(get: Get) -> Program:
    return lambda x: x * 2 if repr(get()) == "1.0" else x * number_of(get())


def as_text(get: Get) -> Program:
    return lambda x: x * sum(map(ord, f"{get()!r}")) if not isinstance(get(), Tensor) else x * get()


def by_its_class(get: Get) -> Program:
    return lambda x: x * (len(type(get()).__name__) + number_of(get()))


def by_matching(get: Get) -> Program:
    def program(x: Tensor) -> Tensor:
        match get():
            case bool():
                return x * 5
            case int() | float() as n:
                return x * n
            case [first, *_]:
                return x * number_of(first) * 2
            case other:
                return x * number_of(other)

    return program


def with_an_error(get: Get) -> Program:
    def program(x: Tensor) -> Tensor:
        try:
            return x * get()[0]
        except (TypeError, IndexError, KeyError):
            return x * number_of(get()) * 3
        except compiler.CompileError:
            return x * number_of(get())

    return program


def in_another_captured_function(get: Get) -> Program:
    inner = compiler.jit(lambda x: x * number_of(get()))
    return lambda x: inner(x) + 0


def by_a_chosen_function(get: Get) -> Program:
    choices = (get, lambda: 1.0)
    return lambda x: x * number_of(choices[0]() if choices[1]() else 2.0)


WAYS: tuple[Callable[[Get], Program], ...] = (
    directly, in_a_nested_function, as_a_method, as_a_static_method, as_a_property,
    as_an_object_that_is_called, from_a_list_of_functions, from_a_dictionary_of_functions,
    by_a_partial_call, by_a_default_argument, by_an_attribute_of_a_computed_name, by_map,
    by_reduce, in_a_comprehension, in_a_generator, under_a_decorator, by_recursion, in_a_branch,
    as_text, by_its_class, by_matching, with_an_error, in_another_captured_function,
    by_a_chosen_function,
)  # fmt: skip
"""Ways to read a place."""

SEQUENCES: dict[str, Sequence[Any]] = {
    "numbers": (1.0, 3.0, 4.0, 1.0),
    "types": (1, 1.0, True, 1),
    "zeros": (0.0, -0.0, 0.0),
    "text": ("a", "bb", "a"),
    "lists": ([1.0], [1.0, 2.0], [1.0]),
    "dictionaries": ({"a": 1.0}, {"b": 2.0}, {}),
    "kinds": (1.0, None, "a", (1, 2), (1, 2.5)),
    "in place": ("in place",),
}
"""Values that are set one after another; "in place" changes one list."""


class Combination(NamedTuple):
    """A place, a way and values, by name."""

    place: str
    way: str
    values: str


def combinations() -> Iterator[Combination]:
    """All of them."""
    for place, way in itertools.product((*ANY, *NUMBERS), WAYS):
        for values in SEQUENCES if place in ANY else ("numbers",):
            yield Combination(place, way.__name__, values)


def _changes(change: Set, values: Sequence[Any], held: Any) -> Iterator[Callable[[], None]]:
    if values == ("in place",):
        yield from (lambda: held.append(2.0), lambda: operator.setitem(held, 0, 5.0), held.clear)
    else:
        yield from (functools.partial(change, each) for each in values[1:])


class Outcome(NamedTuple):
    """The results of a combination: with and without `jit`, call by call, and the captures."""

    captured: list[Any]
    plain: list[Any]
    captures: int

    @property
    def is_stale(self) -> bool:
        """True if some call gave something else."""
        return self.captured != self.plain


def outcome(each: Combination) -> Outcome:
    """Call a function with and without `jit`, change the state, call again, twice each time."""
    values = SEQUENCES[each.values]
    held: Any = [1.0] if each.values == "in place" else values[0]
    place = ANY.get(each.place) or NUMBERS[each.place]
    get, change = place(held)
    program = next(way for way in WAYS if way.__name__ == each.way)(get)
    captured = compiler.jit(program)
    made: tuple[list[Any], list[Any]] = ([], [])
    x = Tensor(np.ones(2))
    for step in (lambda: None, *_changes(change, values, held)):
        step()
        for _ in range(2):
            made[0].append(_result(captured, x))
            made[1].append(_result(program, x))
    return Outcome(*made, captured.cache_info().captures)


def _result(program: Program, x: Tensor) -> Any:
    try:
        return repr(program(x).numpy().tolist())
    except Exception as error:
        return type(error).__name__


def main() -> None:
    """Run every combination, or every n-th: `python -m tests.replay.state_ways [n]`."""
    warnings.simplefilter("ignore")
    step = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    begin, count, stale, captured = time.monotonic(), 0, 0, 0
    for each in itertools.islice(combinations(), 0, None, step):
        found = outcome(each)
        count, captured = count + 1, captured + (found.captures > 0)
        if found.is_stale:
            stale += 1
            print("stale:", each, *found, flush=True)
    minutes = (time.monotonic() - begin) / 60
    print(f"{count} combinations, {captured} captured, {stale} stale, {minutes:.1f} minutes")


if __name__ == "__main__":
    main()
