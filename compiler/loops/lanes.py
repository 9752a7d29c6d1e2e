"""lanes: the choices by which kernels of every kind become vectors and are shared out.

    cut i0 by 64, i0.1 by 16:   for i0.0 …   i0.1.0 unroll, i0.1.1 vector
                                for i0.2.0 … i0.2.1 vector   what 64 leaves over, in vectors
                                i0.2.2.1 vector              what these leave over, masked
"""

from compiler.loops.accesses import Accesses
from compiler.loops.choices import Choice, Parallelize, Stream, Tile, Unroll, Vectorize
from compiler.loops.levels import length, obstacle
from compiler.loops.nodes import Range
from compiler.machine import MachineModel

WORTH_THREADS = 20_000.0
"""Nanoseconds of work below which a kernel stays on one core."""


def lane_count(seen: Accesses, model: MachineModel) -> int:
    """Elements of the widest type in one vector register."""
    return max(model.vector_bytes // seen.widest, 1)


def has_lanes(seen: Accesses, axis: Range, lanes: int, least: int = 0) -> bool:
    """Whether the turns of `axis` can be lanes, and are `least`, or as many as a vector has."""
    turns = length(axis)
    is_long = turns is not None and turns >= (least or lanes) and lanes >= 2
    return is_long and not obstacle(seen.order, axis, seen.needs)


def is_read_in_order(seen: Accesses, axis: Range) -> bool:
    """Whether every load reads one element after the other along `axis`, or the same one."""
    return all(a.step(axis) in (0, 1) for a in seen.loads if axis in seen.needs[a.node])


def in_vectors(name: str, turns: int, lanes: int, unroll: int, what: str) -> list[Choice]:
    """The turns of an axis as lanes of `unroll` registers side by side, the rest as well."""
    if turns < lanes:
        return _masked(name, turns, lanes)
    unroll = max(min(unroll, turns // lanes), 1)
    words = f"{what}: {turns} turns in vectors of {lanes}"
    if unroll == 1:
        whole: list[Choice] = [Tile(name, lanes, "peel", words), Vectorize(f"{name}.1", words)]
        return whole + _masked(f"{name}.2", turns % lanes, lanes)
    choices: list[Choice] = [
        Tile(name, lanes * unroll, "peel", f"{words}, {unroll} at a time"),
        Tile(f"{name}.1", lanes, "peel", words),
        Unroll(f"{name}.1.0", f"{unroll} vectors at a time hide how long each takes"),
        Vectorize(f"{name}.1.1", words),
    ]
    return choices + _rest(f"{name}.2", turns % (lanes * unroll), lanes, unroll)


def _rest(name: str, turns: int, lanes: int, unroll: int) -> list[Choice]:
    """What several vectors at a time leave over, one at a time, the last one masked."""
    if turns < lanes:
        return _masked(name, turns, lanes)
    words = f"{turns} turns are left by {unroll} vectors of {lanes}"
    whole: list[Choice] = [Tile(name, lanes, "peel", words), Vectorize(f"{name}.1", words)]
    return whole + _masked(f"{name}.2", turns % lanes, lanes)


def _masked(name: str, turns: int, lanes: int) -> list[Choice]:
    """What whole vectors leave over, as one vector of which only so many lanes are touched."""
    if turns < 2:
        return []
    words = f"{turns} turns are left by vectors of {lanes}: one more, masked"
    return [Tile(name, lanes, "mask", words), Vectorize(f"{name}.1", words)]


def shared_out(seen: Accesses, name: str, turns: int, model: MachineModel) -> list[Choice]:
    """The turns of the outermost axis over all cores, where the work is worth it."""
    if turns < model.cores or not is_worth_threads(seen, model):
        return []
    took = seen.nanoseconds(model)
    words = f"about {took / 1000:,.0f} µs of work, {turns} turns outside, {model.cores} cores"
    return [Parallelize(name, model.cores, words)]


def is_worth_threads(seen: Accesses, model: MachineModel) -> bool:
    """Whether the kernel runs long enough to be shared out."""
    return model.cores > 1 and seen.nanoseconds(model) >= WORTH_THREADS


def streamed(seen: Accesses, axis: Range, lanes: int, model: MachineModel) -> list[Choice]:
    """Stores past the caches, where these cannot hold what the kernel touches."""
    held = model.cache_bytes[-1]
    is_aligned = all(s % lanes == 0 for r, s in seen.store.steps.items() if r is not axis)
    if seen.nbytes <= held or not is_aligned:
        return []
    words = f"{seen.nbytes:,} bytes are touched, the last cache holds {held:,}"
    return [Stream(0, words)]
