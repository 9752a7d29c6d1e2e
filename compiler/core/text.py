"""Columns of text, and times, sizes and counts as people read them."""

from collections.abc import Collection, Iterable, Sequence

TIMES = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
SIZES = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def aligned(rows: Iterable[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """The rows with their columns under each other: those in `right` end there, as figures do."""
    shown = list(rows)
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if place in right else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in shown
    ]


def number(value: float) -> str:
    """`65,536`, `0.25`, `3,704`: whole if it is, or has more digits than are shown."""
    is_whole = abs(value) >= 999.5 or value == int(value) if abs(value) < float("inf") else False
    return f"{value:,.0f}" if is_whole else f"{value:,.3g}"


def counted(count: int, noun: str) -> str:
    """`1 kernel`, `1,024 kernels`"""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def lines(first: object, last: object) -> str:
    """`line 12`, `lines 9–12`"""
    return f"line {first}" if first == last else f"lines {first}–{last}"


def duration(ns: float) -> str:
    """`41.2 µs`: nanoseconds in the unit that fits, to three digits."""
    unit, size = next((it for it in TIMES if abs(ns) >= 0.9995 * it[1]), TIMES[-1])
    return f"{number(ns / size)} {unit}"


def microseconds(ns: float, digits: int = 2) -> str:
    """`12.40 µs`: nanoseconds in one unit, so that they can be compared."""
    return f"{ns / 1000:,.{digits}f} µs"


def percent(share: float) -> str:
    """`39 %`; `0.4 %` and `< 0.1 %` of what is hardly there."""
    if 0 < share < 0.0005:
        return "< 0.1 %"
    return f"{100 * share:.0f} %" if share >= 0.0095 else f"{100 * share:.1g} %"


def binary(nbytes: int) -> str:
    """`48 KiB`, `1.5 MiB`"""
    unit, size = next((it for it in SIZES if nbytes >= it[1]), ("bytes", 1))
    return f"{number(nbytes / size)} {unit}"
