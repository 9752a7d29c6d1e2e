"""The passes over loops: one for each kind of choice, and one that shortens sums.

In order: each imports only what stands before it.

    axes.py         axes by name, and bodies with some of their nodes replaced
    levels.py       levels of ranges: a range at another level
    staging.py      which axes a tile has that goes through scratch memory
    tile.py         an axis is cut into tiles of a fixed size
    cascade.py      a long sum of floats is a sum of short sums
    accumulate.py   a reduction over a strided axis adds whole rows to scratch memory
    cache_row.py       values that several passes over a row compute are kept in scratch memory
    pack.py         tiles that the inner loops read again and again are copied to scratch memory
    dot.py          iterations of a sum of products of small types are the elements of words
    parallelize.py  the iterations of an axis are shared out over several runs of the kernel
    prefetch.py     loads also bring what the next iteration of an outer loop reads into the caches
    reorder.py      the loops of a nest in another order
    stream.py       stores go past the caches
    unroll.py       the iterations of an axis stand side by side in the code
    vectorize.py    the iterations of an axis become the lanes of vector registers
"""
