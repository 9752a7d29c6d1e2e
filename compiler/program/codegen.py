"""LLVM IR, assembly and machine code of a program's kernels, computed on demand.

Modules that only serve to inspect the code are imported when they are needed.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from compiler.core.errors import DataError
from compiler.core.lazy import loading
from compiler.core.node import Node
from compiler.core.origin import Origin
from compiler.llvm.level import Level
from compiler.llvm.looking.listing import Listing
from compiler.loops.choices import text
from compiler.pipeline.kernels import CompiledKernel
from compiler.settings.options import Options
from compiler.stages.listings import Generated
from compiler.stages.stages import ProgramStages

if TYPE_CHECKING:
    from compiler.ask.hot import Hot
    from compiler.llvm.looking.latencies import Latencies
    from compiler.llvm.looking.pass_changes import PassRun

OriginsOf: TypeAlias = Callable[[CompiledKernel], Mapping[Node, Origin]]
"""The user's line of each scalar of a kernel that has one."""
LEAST_SHARE = 1e-6
"""The share of a kernel's time from which a line is listed: less is rounding."""


def named(operation: str, kernels: Sequence[Generated], name: str) -> Generated:
    """The kernel of that name. Raises `DataError` where there is none."""
    names = [each.kernel.name for each in kernels]
    if name not in names:
        expected = ", ".join(names) or "a program with kernels"
        raise DataError(operation, "no such kernel", got=repr(name), expected=expected)
    return kernels[names.index(name)]


def debug_ir(kernel: Generated, origins_of: OriginsOf) -> str:
    """The IR of a kernel with the user's lines; see `Compilation.debug_ir`."""
    with loading():
        from compiler.llvm.looking.debug_info import with_call_stacks

    return with_call_stacks(kernel.source, _latest_of(kernel, origins_of))


def _latest_of(kernel: Generated, origins_of: OriginsOf) -> dict[int, Origin]:
    """The latest of the user's lines that each line of a kernel's IR comes from, from 0."""
    scalars = kernel.kernel.linear.origins
    line_of = origins_of(kernel.kernel)
    lines = {}
    for position, row in enumerate(kernel.source.rows):
        origins = [it for n in row.instructions if (it := line_of.get(scalars[n])) is not None]
        if origins:
            lines[position] = max(origins)
    return lines


def llvm_passes(kernels: Sequence[Generated], name: str, level: int | None) -> "PassRun":
    """The work of LLVM's passes on one of the kernels; see `Compilation.llvm_passes`."""
    with loading():
        from compiler.llvm.looking.watch import watch

    kernel = named("llvm_passes", kernels, name)
    if level not in (None, 0, 1, 2, 3):
        raise DataError("llvm_passes", "no such level", got=repr(level), expected="0, 1, 2, 3")
    asked = kernel.kernel.level if level is None else Level(level, "pipeline", "it was asked for")
    return watch(kernel.source, asked)


def latencies(kernels: Sequence[Generated], listings: Sequence[Listing], name: str) -> "Latencies":
    """The assembly of one of the kernels with cycles; see `Compilation.latencies`."""
    with loading():
        from compiler.llvm.looking.latencies import latencies

    kernel = named("latencies", kernels, name)
    return latencies(kernel.source, kernel.kernel.level, listings[kernels.index(kernel)])


def hot(
    program: ProgramStages, kernels: Sequence[Generated], listings: Sequence[Listing], name: str,
    origins_of: OriginsOf,
) -> "Hot":
    """The shares of instructions in the time of one of the kernels; see `Compilation.hot`."""
    with loading():
        from compiler.ask.hot import Watched, hot

    watched = named("hot", kernels, name)
    listing = listings[kernels.index(watched)]
    shares_of_lines = hot(program, Watched(watched.source, watched.kernel.level, listing,
                                lambda: latencies(kernels, listings, name)))  # fmt: skip
    latest = _latest_of(watched, origins_of)
    shares: defaultdict[tuple[str, int] | None, float] = defaultdict(float)
    origins: dict[tuple[str, int] | None, Origin] = {}
    for line, share in shares_of_lines.ir_lines.items():
        at = latest.get(line - 1)
        key = (at.file, at.line) if at else None
        shares[key] += share
        if at:
            origins[key] = at
    shares[None] += 1 - sum(shares.values())
    ordered = sorted(shares.items(), key=lambda row: -row[1])
    rows = ((origins.get(key), share) for key, share in ordered if share > LEAST_SHARE)
    return replace(shares_of_lines, lines=tuple(rows))


def assembly_for(
    kernels: Sequence[Generated], options: Options, machine: str
) -> tuple[Listing, ...]:
    """The assembly of each kernel for another machine; see `Compilation.assembly_for`."""
    with loading():
        from compiler.llvm.looking.translate import Translatable, target_of, translate
        from compiler.pipeline.retarget import counterparts, retarget

    target_of(machine)  # before loops are chosen for it
    rows = []
    for each in kernels:
        retargeted = retarget(each.kernel, options, machine)
        kernel = retargeted.kernel
        rows.append(Translatable(
            each.source, tuple(kernel.linear.instructions), kernel.level,
            _chosen(kernel, retargeted.because),
            None if kernel is each.kernel else tuple(counterparts(kernel, each.kernel)),
        ))  # fmt: skip
    return translate(rows, machine)


def _chosen(kernel: CompiledKernel, because: str) -> str:
    """The transformations of the loops of a kernel, in one line."""
    chosen = text(kernel.choices) or "plain"
    return f"loops of this host, {chosen}: {because}" if because else f"loops: {chosen}"
