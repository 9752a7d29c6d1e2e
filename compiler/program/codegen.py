"""What LLVM makes of a program's kernels, and how long that takes: part of `Compilation`.

All is made when it is asked for; what only a reader asks for is loaded with the question.
"""

import os
from functools import cached_property
from typing import TYPE_CHECKING, cast

from compiler.core.errors import DataError, located
from compiler.llvm.level import Level
from compiler.llvm.looking import listing
from compiler.llvm.looking.listing import Listing
from compiler.llvm.source import Source
from compiler.pipeline.kernels import CompiledKernel
from compiler.run.bindings import Values
from compiler.run.feeding import Given

if TYPE_CHECKING:
    from concurrent.futures import Future

    from compiler.ask.measurement import Measurement
    from compiler.llvm.looking.pass_changes import PassRun
    from compiler.program.compilation import Compilation


class MachineCode:
    """The stages after the generated LLVM IR, which `source` and `_kernels` lead to."""

    @property
    def source(self) -> tuple[Source, ...]:
        """The LLVM IR of each distinct kernel, as generated."""
        raise NotImplementedError

    @property
    def _kernels(self) -> list[CompiledKernel]:
        raise NotImplementedError

    @property
    def _listings(self) -> "list[Future[tuple[Listing, Listing]]]":
        """What LLVM makes of each distinct kernel, being made on threads of this process."""
        made, process = self._begun_listings
        if process != os.getpid() and not all(each.done() for each in made):
            del self._begun_listings  # a fork took the threads away
            made, _ = self._begun_listings
        return made

    @cached_property
    def _begun_listings(self) -> "tuple[list[Future[tuple[Listing, Listing]]], int]":
        """They are being made, by which process."""
        from concurrent.futures import ThreadPoolExecutor  # it imports much

        # One core is left to who waits for them: a page is being made or painted meanwhile.
        pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "listing")
        try:
            pairs = zip(self.source, self._kernels, strict=True)
            made = [pool.submit(listing.listings, source, each.level) for source, each in pairs]
            return made, os.getpid()
        finally:
            pool.shutdown(wait=False)

    def begin_listings(self) -> None:
        """Have LLVM begin with `optimized` and `assembly`: who asks for them later waits less."""
        assert self._listings is not None

    @cached_property
    def optimized(self) -> tuple[Listing, ...]:
        """The LLVM IR of each distinct kernel after the passes of LLVM that its `level` says."""
        return tuple(each.result()[0] for each in self._listings)

    @cached_property
    def assembly(self) -> tuple[Listing, ...]:
        """The machine code of each distinct kernel, as assembly."""
        return tuple(each.result()[1] for each in self._listings)

    @located
    def llvm_passes(self, kernel: str = "k0", level: int | None = None) -> "PassRun":
        """What LLVM's passes do to one kernel, one by one, and LLVM's remarks in words.

        The passes are those that make the code which runs; with a `level`, 0 to 3, those of LLVM's
        whole pipeline of that level. Raises `DataError` where there is no such kernel or level.
        """
        from compiler.llvm.looking.watch import watch

        names = [each.name for each in self._kernels]
        if kernel not in names:
            expected = ", ".join(names) or "a program with kernels"
            raise DataError("llvm_passes", "no such kernel", got=repr(kernel), expected=expected)
        if level not in (None, 0, 1, 2, 3):
            raise DataError("llvm_passes", "no such level", got=repr(level), expected="0, 1, 2, 3")
        number = names.index(kernel)
        own = self._kernels[number].level
        asked = own if level is None else Level(level, "pipeline", "it was asked for")
        return watch(self.source[number], asked)

    @located
    def assembly_for(self, machine: str) -> tuple[Listing, ...]:
        """The assembly of each distinct kernel for another machine, to be read.

        `machine` is one of `llvm/looking/machines.py`, e.g. "arm-neon"; the lines are linked
        to the generated LLVM IR as those of `assembly` are. Raises `DataError` for others, and
        `DeviceError` where this LLVM cannot do it.
        """
        from compiler.llvm.looking.translate import Translatable, translate

        kernels = [
            Translatable(source, tuple(kernel.linear.instructions), kernel.level)
            for source, kernel in zip(self.source, self._kernels, strict=True)
        ]
        return translate(kernels, machine)

    def measure(
        self,
        inputs: Given = None,
        variables: Values | None = None,
        seconds: float = 1.0,
    ) -> "Measurement":
        """Run the program a few times and say what each item takes, beside its estimate.

        Data that the program writes in place stay as they are. It takes about so many seconds;
        what they do not suffice for is left out (`ask/measure.py`). Raises as `run()` does.
        """
        from compiler.ask.measure import measure

        return measure(cast("Compilation", self), inputs, variables, seconds)
