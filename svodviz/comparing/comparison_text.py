"""A comparison in words: what `print(svodviz.compare(a, b))` and `svodviz diff` show.

    −  only in the first        +  only in the second        ~  in both, but different
"""

from svodviz.comparing.comparison import Comparison, Figure, KernelPair, PassPair, PassSide
from svodviz.foundation.escape import visible

MOST_LISTED = 40
ONLY_A, ONLY_B, DIFFERENT, EQUAL = "−", "+", "~", "="


def comparison_text(comparison: Comparison) -> str:
    """What differs, in aligned columns; one line where nothing does."""
    first, second = comparison.names
    head = [f"a  {first}", f"b  {second}"]
    if comparison.is_same:
        return "\n".join([*head, "no difference"])
    parts = [head, figure_lines(comparison), _passes(comparison), _kernels(comparison)]
    parts += [[f"{stage} is missing: {why}"] for stage, why in comparison.missing.items()]
    return "\n\n".join("\n".join(part) for part in parts if part)


def figure_lines(comparison: Comparison) -> list[str]:
    """The numbers of both beside each other, in aligned columns."""
    rows = [
        (EQUAL if it.is_same else DIFFERENT, it.name, written(it.a, it.unit),
         written(it.b, it.unit), change(it))
        for it in comparison.figures
    ]  # fmt: skip
    return _table(("", "", "a", "b", "change"), rows, right=(2, 3, 4))


def written(number: float | None, unit: str = "") -> str:
    """`1,536 bytes`, `6.2 µs`, "–" where there is none."""
    if number is None:
        return "–"
    if unit == "ns":
        return duration(number)
    return f"{round(number):,}{f' {unit}' if unit else ''}"


def duration(ns: float) -> str:
    """Nanoseconds in a fitting unit, to three digits."""
    for limit, scale, unit in ((1e3, 1.0, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if abs(ns) < limit:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns / 1e9:.3g} s"


def change(figure: Figure) -> str:
    """The difference, and the ratio where it says more."""
    if figure.a is None or figure.b is None or figure.is_same:
        return ""
    if figure.unit == "ns" and figure.a > 0:
        return f"× {figure.b / figure.a:.2f}"
    sign = "+" if figure.b > figure.a else "−"
    return f"{sign}{abs(round(figure.b - figure.a)):,}"


def _passes(comparison: Comparison) -> list[str]:
    rows = [
        (_mark(it.a, it.b), f"{it.stage} {it.kernel}".strip(), it.name, did(it.a), did(it.b),
         rules(it))
        for it in comparison.passes if not it.is_same
    ]  # fmt: skip
    title = f"passes: {len(rows)} of {len(comparison.passes)} differ"
    return [title, *_table(("", "", "", "a", "b", ""), rows)] if rows else []


def did(side: PassSide | None) -> str:
    """What a pass did, in two words."""
    if side is None:
        return "–"
    if not side.is_traced:
        return "not traced"
    if not side.rewrites:
        return "changed" if side.changed else "nothing"
    return f"{side.rewrites} rewrite{'' if side.rewrites == 1 else 's'}"


def rules(pair: PassPair) -> str:
    """The rules that fired more often or less: `+2 mul_one, −1 fold`."""
    mine = pair.a.rules if pair.a else {}
    theirs = pair.b.rules if pair.b else {}
    names = dict.fromkeys([*mine, *theirs])
    changes = {it: theirs.get(it, 0) - mine.get(it, 0) for it in names}
    return ", ".join(f"{'+' if n > 0 else '−'}{abs(n)} {it}" for it, n in changes.items() if n)


def _kernels(comparison: Comparison) -> list[str]:
    rows = [
        (_kernel_mark(it), visible(it.a or "–"), visible(it.b or "–"), kernel_words(it))
        for it in comparison.kernels
    ]
    differ = sum(not it.is_same for it in comparison.kernels)
    title = f"kernels: {differ} of {len(rows)} differ"
    return [title, *_table(("", "a", "b", ""), rows)] if rows else []


def _kernel_mark(pair: KernelPair) -> str:
    return EQUAL if pair.is_same else _mark(pair.a, pair.b)


def kernel_words(pair: KernelPair) -> str:
    """What differs between two kernels, or what the one alone has."""
    if pair.a is None or pair.b is None:
        return ", ".join(
            f"{it.name} {written(it.b if pair.a is None else it.a, it.unit)}"
            for it in pair.figures if (it.b if pair.a is None else it.a) is not None
        )  # fmt: skip
    differing = [it for it in pair.figures if not it.is_same]
    if pair.is_same and not differing:
        return "same code"
    words = [f"{it.name} {written(it.a, it.unit)} → {written(it.b, it.unit)}" for it in differing]
    same = "same instructions, " if pair.is_same else ""
    return same + (", ".join(words) or "other instructions, as many")


def _mark(a: object, b: object) -> str:
    if a is None:
        return ONLY_B
    return ONLY_A if b is None else DIFFERENT


def _table(
    head: tuple[str, ...], rows: list[tuple[str, ...]], right: tuple[int, ...] = ()
) -> list[str]:
    """Rows in columns below their heads; what is left out is said."""
    shown = [head, *rows[:MOST_LISTED]]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = [
        "  ".join(
            text.rjust(width) if index in right else text.ljust(width)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in shown
    ]
    left = len(rows) - MOST_LISTED
    return [*lines, *([f"… {left:,} more"] if left > 0 else [])]
