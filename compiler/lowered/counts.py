"""Counts of what a run of lowered instructions did."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """Loads, stores, operations of a run, each iteration counted: the same in serial and parallel.

    A gated access counts where its gate is true, one of n lanes as n. Scratch memory counts as
    other memory does. `flops` are operations on float data and `integer_operations` those on other
    data; a mulacc is two, in each lane; a custom operation is none.
    """

    loads: int = 0
    stores: int = 0
    flops: int = 0
    integer_operations: int = 0
    iterations: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
