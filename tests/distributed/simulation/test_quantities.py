"""Units of bytes, rates and times."""

import math

import pytest

from compiler import DataError
from compiler.distributed.simulation import quantities


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10 GB/s", 1e10),
        ("25 Gbit/s", 25e9 / 8),
        ("25Gb/s", 25e9 / 8),
        ("12.5 GiB/s", 12.5 * 2**30),
        ("1,000 kB/s", 1e6),
        (2.5e9, 2.5e9),
        (math.inf, math.inf),
    ],
)
def test_rates(text: str | float, value: float) -> None:
    assert quantities.rate(text, "link") == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("20 µs", 2e-5), ("20 μs", 2e-5), ("20us", 2e-5), ("0.5 ms", 5e-4), ("1e-3 s", 1e-3), (0, 0)],
)
def test_seconds(text: str | float, value: float) -> None:
    assert quantities.seconds(text, "latency") == pytest.approx(value)


def test_bytes() -> None:
    assert quantities.nbytes("64 GB", "memory") == 64e9
    assert quantities.nbytes("2 GiB", "memory") == 2**31


WRONG = ("", "fast", "10", "10 GB", "10 GB/h", "-1 GB/s", 0, -1.0, math.nan, True, None)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_rate_is_refused(text: str | float) -> None:
    with pytest.raises(DataError, match=r'link is no such quantity(.|\n)*"10 GB/s"'):
        quantities.rate(text, "link")
