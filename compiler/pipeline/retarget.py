"""retarget: the loops of a kernel chosen anew for another machine, to be read, never to be run.

    Before:  tile i1 16; vectorize i1.1     8 vectors of 64 bytes …     this host
    After:   tile i1 4; vectorize i1.1      20 vectors of 16 bytes …    an Apple M1

The kernel stays the same kernel: its body is taken through the same rows with another model of the
machine. A user's choices of loops hold there, too. A kernel that cannot have them keeps the loops
of this host, with the reason. `counterparts` lead from the instructions back to those of this host:
both come from the nodes of one body.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from compiler.core.node import Node
from compiler.core.origin import no_origin
from compiler.lowered.instructions import Instruction
from compiler.pipeline.kernels import CompiledKernel, compile_kernel
from compiler.settings.options import Measured, Options


@dataclass(frozen=True, slots=True)
class Retargeted:
    """A kernel as it is for another machine; `because` says why it has this host's loops, if so."""

    kernel: CompiledKernel
    because: str = ""


def retarget(kernel: CompiledKernel, options: Options, machine: str) -> Retargeted:
    """The kernel with the loops that are chosen for the machine of that name."""
    how = for_machine(options, machine)
    if how.loops == options.loops and how.model == options.model:
        return Retargeted(kernel)
    try:
        with no_origin():
            return Retargeted(compile_kernel(kernel.name, kernel.body, how, 0))
    except Exception as error:  # loops that are not as good are still something to read
        return Retargeted(kernel, f"{type(error).__name__}: {error}".splitlines()[0])


def for_machine(options: Options, machine: str) -> Options:
    """The options with another machine; what a search found on this one says nothing of it."""
    loops = "auto" if isinstance(options.loops, Measured) else options.loops
    return replace(options, machine=machine, loops=loops, tune=0.0, trace=False)


Place: TypeAlias = tuple[Instruction, Node, frozenset[Node]]
"""An instruction, the scalar that it computes, and the nodes of the body that this comes from."""


def counterparts(kernel: CompiledKernel, host: CompiledKernel) -> list[tuple[int, ...]]:
    """For each instruction of a kernel that of this host's loops which does the same.

    Where several do they are taken in order, in step: a fifth of the one for a fifth of the other.
    Where none does, it is one that comes from the same nodes; () where none is known.
    """
    host_places, wanted = list(_places(host)), list(_places(kernel))
    result: list[tuple[int, ...]] = [()] * len(wanted)
    for alike in LIKENESS:
        there, here = _grouped(host_places, alike), _grouped(wanted, alike)
        for key, places in here.items():
            same = there.get(key, [])
            for order, place in enumerate(places):
                if same and not result[place]:
                    result[place] = (same[order * len(same) // len(places)],)
    return result


def _places(kernel: CompiledKernel) -> Iterator[Place]:
    pairs = zip(kernel.linear.instructions, kernel.linear.origins, strict=True)
    return ((it, node, kernel.provenance.of(node)) for it, node in pairs)


def _grouped(places: list[Place], alike: Callable[[Place], Hashable]) -> dict[Hashable, list[int]]:
    groups: dict[Hashable, list[int]] = {}
    for number, place in enumerate(places):
        key = alike(place)
        if key is not None:
            groups.setdefault(key, []).append(number)
    return groups


def _same_operation(place: Place) -> Hashable:
    """The instruction's kind, the kind of its scalar, and its nodes."""
    instruction, node, nodes = place
    return _kind(instruction), type(node), nodes


def _same_scalar(place: Place) -> Hashable:
    """The kind of scalar that it is for, of which nodes."""
    return (type(place[1]), place[2]) if place[2] else None


def _same_nodes(place: Place) -> Hashable:
    """The nodes that it comes from."""
    return place[2] or None


def _kind(instruction: Instruction) -> Hashable:
    return type(instruction), getattr(instruction, "op", "")


LIKENESS = (_same_operation, _same_scalar, _same_nodes)
"""Criteria of similarity of two instructions, the closest first."""
