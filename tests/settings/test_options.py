"""Options of a wrong type, or out of range, have a page that names the field."""

from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core.errors import DataError, ScheduleError

WRONG: dict[str, tuple[tuple[Any, ...], str, str]] = {
    "trace": ((1, None, "yes"), "trace is neither on nor off", "True or False"),
    "verify": ((0, None, "no"), "verify is neither on nor off", "True or False"),
    "plan_memory": ((2, None, []), "plan_memory is neither on nor off", "True or False"),
    "optimize": ((4, -1, 2.0, "3", None, True), "no such level of optimisation", "0, 1, 2 or 3"),
    "mode": (("slow", 1, None, []), "no such mode", "fast or explain"),
    "cache": ((1, None, b"a", "a\0b"), "no such cache", "True, False or a folder"),
    "kernel_operations": ((0, -1, 1.5, "a", None, True), "no such number of operations",
                          "1 or more"),
    "device": ((None, 5, []), "no such kind of device", 'a name, as "INTERPRET", or ""'),
    "threads": ((-1, 257, 1.5, "a", None, True), "no such number of threads",
                "0 (all cores) … 256"),
    "memory_limit": ((-1, 1.5, "a", [], True), "no such number of bytes", "0 or more, or None"),
    "machine": ((None, 5, b"host"), "no machine",
                'a name, as "x86-avx2", or what compiler.machine() and calibrate() give'),
    "tune": ((-1, float("inf"), float("nan"), "a", None, True), "no such time for a search",
             "seconds, 0 or more"),
    "loops": (("best", 5, None, [], ()), "no such way to transform loops",
              "auto, plain or choices by name of kernel"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, row in WRONG.items() for value in row[0]]
)
def test_a_field_that_cannot_be_is_refused(name: str, value: Any) -> None:
    _, what, expected = WRONG[name]
    with pytest.raises(DataError) as caught:
        Options(**{name: value})
    lines = str(caught.value).split("\n  line:")[0].splitlines()
    got = f"{name}={value!r}".replace("\0", r"\x00")
    assert lines == [f"Options: {what}", f"  got:      {got}", f"  expected: {expected}"]


@pytest.mark.parametrize("given", (5, None, 2.5, [5]))
def test_choices_that_are_none_are_refused(given: Any) -> None:
    options = Options(loops={"k0": given}, cache=False)
    with pytest.raises(ScheduleError, match="no choices about loops"):
        compiler.compile(Tensor(np.ones(4)) + 1, options).run()


@pytest.mark.parametrize("name", (None, 5, b"a"))
def test_a_name_that_is_no_text_is_refused(name: Any) -> None:
    with pytest.raises(DataError, match="compile: the name is no text"):
        compiler.compile(Tensor([1.0]) + 1, name=name)


def test_an_empty_name_is_none() -> None:
    made = compiler.compile(Tensor([1.0]) + 1, name="")
    assert made.name == "program"
