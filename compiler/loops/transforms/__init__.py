"""The loop transformations: a pass for each kind of choice, and one that shortens sums.

In order: each imports only what stands before it.

    axes.py         axes by name, and bodies with some of their nodes replaced
    levels.py       levels of ranges: a range at another level
    staging.py      the axes of a tile in scratch memory, and the loops that fill it
    tile.py         loop tiling: an axis is split into tiles of a fixed size
    cascade.py      cascade (blocked pairwise) summation of floats
    accumulate.py   a reduction over a strided axis adds whole rows to scratch memory
    cache_row.py    values that several passes over a row compute are stored in scratch memory
    pack.py         packing: tiles that inner loops reuse are copied to scratch memory
    dot.py          sums of products of small types by dot-product instructions
    parallelize.py  the iterations of an axis are divided among several runs of the kernel
    prefetch.py     loads prefetch what the next iteration of an outer loop reads
    reorder.py      loop interchange
    stream.py       non-temporal stores
    unroll.py       full unrolling of an axis; unroll-and-jam where loops are inside it
    vectorize.py    the iterations of an axis become the lanes of vector registers
"""
