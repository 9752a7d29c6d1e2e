"""The assembly of programs for a machine that is named: one process of LLVM for all of them."""

from collections.abc import Mapping, Sequence

import pytest

from compiler import Compilation
from compiler.llvm.looking import translate
from compiler.llvm.looking.listing import Listing
from compiler.program import codegen

Listings = Sequence[Listing]


def assembled(programs: Mapping[str, Compilation], machine: str) -> dict[str, Listings]:
    """The listing of each kernel of each program, without what its inner loop takes: what LLVM
    prints of its scheduling takes several times as long as the text. All have the same options."""
    kernels = [kernel for made in programs.values() for kernel in made._generated]
    (options,) = {made.options for made in programs.values()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translate, "_with_cycles", _untimed)
        made = iter(codegen.assembly_for(kernels, options, machine))
    return {name: [next(made) for _ in each._generated] for name, each in programs.items()}


def _untimed(listings: Listings, *_: object) -> Listings:
    return listings
