"""Families of random programs: convolutions, windows, products, heads, reductions, moves.

A family is a function from random draws to a term. `drawn("products", "123.4")` is always the same
program. Each draws its shapes so that a small program has few elements and little work.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.search.draw import Draw
from tests.search.endings import ending
from tests.search.moves import moves, transposes
from tests.search.products import contractions, grams, heads, products
from tests.search.statistics import composites, reductions, variables
from tests.search.terms import Term
from tests.search.windows import convolutions, sliding

Family = Callable[[Draw], Term]
FAMILIES: dict[str, Family] = {
    "convolutions": convolutions, "sliding": sliding, "products": products, "grams": grams,
    "contractions": contractions, "heads": heads, "reductions": reductions, "moves": moves,
    "transposes": transposes,
    "composites": composites, "variables": variables,
}  # fmt: skip
SHARES = (
    *("convolutions",) * 4, *("sliding",) * 2, *("products",) * 3, "grams", *("contractions",) * 3,
    *("heads",) * 2, *("reductions",) * 3, *("moves",) * 2, *("transposes",) * 2,
    "composites", "variables",
)  # fmt: skip
"""The families alternately, those with many choices more often."""


@dataclass(frozen=True)
class Drawn:
    """A program at random: how to make it again, and what came out."""

    family: str
    seed: str
    term: Term
    text: str
    dtype: str
    is_small: bool
    """True if its kernels are small enough to run."""


def drawn(family: str, seed: str) -> Drawn:
    """The program of a family and a seed."""
    draw = Draw(f"{family} {seed}")
    term = FAMILIES[family](draw)
    if family != "variables":  # an axis of variable length is not merged or cut
        term = ending(draw, term)
    return Drawn(family, seed, term, draw.inputs.written(term), draw.dtype, draw.is_small)
