"""Random choices for a kernel: those of the compiler, changed a little, or any that are legal."""

import random
from collections.abc import Iterable
from dataclasses import replace

from compiler.core.errors import ScheduleError
from compiler.core.node import toposort
from compiler.loops.choices import (
    KINDS,
    Accumulate,
    CacheRow,
    Choice,
    Choices,
    Dot,
    Form,
    Pack,
    Parallelize,
    Prefetch,
    Reorder,
    Stream,
    Tail,
    Tile,
    Unroll,
    Vectorize,
)
from compiler.loops.choosing.choose import choose
from compiler.loops.nodes import Argument, Body
from compiler.loops.transforms.axes import axes
from compiler.machines.model import DEFAULT
from compiler.settings.options import Options
from tests.rows import with_choices

SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 20)
LANES = (2, 4, 8, 16, 16, 32)
TAILS: tuple[Tail, ...] = ("peel", "mask")
FORMS: tuple[Form, ...] = ("plain", "plain", "shifted")
EAGER = replace(DEFAULT, cores=2, launch_ns=0.0)


def transform(body: Body, given: Choices) -> Body:
    """`body` after the passes that do what the choices say, each verified."""
    return with_choices(body, given, Options(verify=True))


def legal(body: Body, rows: Iterable[Choice]) -> Choices:
    """Those of `rows` that are not refused together with those before them."""
    kept = Choices()
    for row in rows:
        more = Choices((*kept.rows, row))
        try:
            transform(body, more)
        except ScheduleError:
            continue
        kept = more
    return kept


def random_choices(body: Body, seed: int) -> Choices:
    """Legal choices for the loops of a kernel; the same for the same seed."""
    source = random.Random(seed)
    model = replace(EAGER, vector_bytes=source.choice((16, 32, 64)))
    chosen = choose(body, model).rows
    if chosen and source.random() < 0.5:
        rows = [_changed(row, source) for row in chosen if source.random() < 0.9]
        rows += [row for row in _any(body, source) if source.random() < 0.2]
        order = KINDS
        return legal(body, sorted(rows, key=lambda row: order.index(type(row))))
    return legal(body, _any(body, source))


def _changed(row: Choice, source: random.Random) -> Choice:
    """A choice of the compiler, sometimes with another size, tail or number of rows."""
    if source.random() < 0.7:
        return row
    match row:
        case Tile():
            return replace(row, size=source.choice(SIZES), tail=source.choice(TAILS))
        case Accumulate():
            return replace(row, rows=source.randint(1, 9))
        case Parallelize():
            return replace(row, tasks=source.randint(2, 5))
        case Reorder():
            return replace(row, axes=tuple(source.sample(row.axes, len(row.axes))))
        case _:
            return row


def _any(body: Body, source: random.Random) -> list[Choice]:
    """Choices that may be legal, in the order of their passes."""
    names = sorted(axes(body))
    if not names:
        return []
    rows: list[Choice] = []
    if len(names) > 1 and source.random() < 0.4:
        rows.append(CacheRow(*source.sample(names, 2)))
        names.append(f"i{1 + max(int(name[1:]) for name in names)}")
    whole = list(names)
    for _ in range(source.randint(0, 5)):
        cut = source.choice(names)
        rows.append(Tile(cut, source.choice(SIZES + LANES), source.choice(TAILS)))
        names += [f"{cut}.{part}" for part in range(3)]
    if source.random() < 0.5:
        rows.append(Reorder(tuple(source.sample(names, len(names)))))
    slots = [n.slot for n in toposort([body]) if isinstance(n, Argument) and n.slot]
    for _ in range(source.choice((0, 0, 1, 2)) if slots else 0):
        rows.append(Pack(source.choice(slots), source.choice([*names, "", ""])))
    if source.random() < 0.4:
        at = source.choice([*names, "", ""])
        rows.append(Accumulate(source.choice(whole), source.randint(1, 5), at))
    parts = source.sample(names, len(names))
    if source.random() < 0.5:
        rows += [Dot(name, source.choice(FORMS)) for name in names if name[0] == "r"]
    rows += [Unroll(name) for name in parts if source.random() < 0.3]
    rows += [Vectorize(name) for name in parts if source.random() < 0.5]
    rows += [Parallelize(name, source.randint(2, 3)) for name in parts if source.random() < 0.5]
    if slots and source.random() < 0.3:
        rows.append(Prefetch(source.choice(slots), *source.choices(names, k=2)))
    return rows + [Stream(0)] * source.randint(0, 1)
