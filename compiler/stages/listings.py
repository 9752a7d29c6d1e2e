"""The texts that LLVM makes of a program's kernels: optimised IR and assembly, on threads."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compiler.llvm.looking import listing
from compiler.llvm.looking.listing import Listing
from compiler.llvm.source import Source
from compiler.pipeline.kernels import CompiledKernel

if TYPE_CHECKING:
    from concurrent.futures import Future

Texts = tuple[Listing, Listing]
"""A kernel's LLVM IR after LLVM's passes, and its assembly."""


@dataclass(frozen=True, slots=True)
class Generated:
    """A kernel with its LLVM IR as it was generated."""

    source: Source
    kernel: CompiledKernel


class Listings:
    """The texts that LLVM makes of each distinct kernel, on threads of this process."""

    def __init__(self, kernels: Sequence[Generated]) -> None:
        self._kernels = kernels
        self._process = -1
        self._waiting: list[Future[Texts]] = []

    def begin(self) -> None:
        """Have LLVM begin, unless it did: who asks for the texts later waits less."""
        is_lost = self._process != os.getpid() and not all(each.done() for each in self._waiting)
        if self._process >= 0 and not is_lost:  # a fork takes threads away
            return
        from concurrent.futures import ThreadPoolExecutor  # it imports much

        # One core is left to who waits for them: a page is being made or painted meanwhile.
        pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "listing")
        try:
            self._waiting = [
                pool.submit(listing.listings, each.source, each.kernel.level)
                for each in self._kernels
            ]
            self._process = os.getpid()
        finally:
            pool.shutdown(wait=False)

    def texts(self) -> list[Texts]:
        """Both of each kernel."""
        self.begin()
        return [each.result() for each in self._waiting]
