"""Columns of text, and times, sizes and counts as people read them."""

import pytest

from compiler.core.text import aligned, binary, counted, duration, microseconds, number


def test_columns_are_aligned() -> None:
    assert aligned([("a", "1", ""), ("long", "22", "x")], right=(1,)) == ["a      1", "long  22  x"]
    assert aligned([]) == []


@pytest.mark.parametrize(
    ("ns", "words"),
    [
        (4.8e9, "4.8 s"), (1.23e7, "12.3 ms"), (4.12e4, "41.2 µs"), (999.7, "1 µs"), (12, "12 ns"),
        (0, "0 ns"), (0.25, "0.25 ns"), (-1500, "-1.5 µs"), (1.2345e12, "1,234 s"),
        (1e9 * 1e-6, "1 µs"), (float("inf"), "inf s"),
    ],
)  # fmt: skip
def test_durations(ns: float, words: str) -> None:
    assert duration(ns) == words


def test_one_unit() -> None:
    assert microseconds(12_400) == "12.40 µs"
    assert microseconds(1_234_567, 0) == "1,235 µs"


def test_numbers_and_counts() -> None:
    assert [number(it) for it in (65_536, 0.25, 3703.7, 12.0)] == ["65,536", "0.25", "3,704", "12"]
    assert [counted(n, "item") for n in (0, 1, 1024)] == ["0 items", "1 item", "1,024 items"]


def test_sizes() -> None:
    shown = [binary(it) for it in (0, 1023, 1024, 3 * 2**19, 1000 * 2**10, 5 * 2**40)]
    assert shown == ["0 bytes", "1,023 bytes", "1 KiB", "1.5 MiB", "1,000 KiB", "5,120 GiB"]
