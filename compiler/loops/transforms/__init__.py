"""What is done to loops: a pass for each kind of choice.

In order: each imports only what stands before it.

    axes.py         axes by name, and bodies with some of their nodes replaced
    levels.py       levels of ranges: a range at another level
    staging.py      which axes a tile has that goes through scratch memory
    accumulate.py   a reduction over a strided axis adds whole rows to scratch memory
    keep.py         what several passes over a row compute is computed once, into scratch memory
    pack.py         what the inner loops read again and again is copied to scratch memory
    parallelize.py  the turns of an axis are shared out over several runs of the kernel
    prefetch.py     loads also bring what the next turn of an outer loop reads into the caches
    reorder.py      the loops of a nest in another order
    stream.py       stores go past the caches
    tile.py         an axis is cut into turns of a fixed size
    unroll.py       the turns of an axis stand side by side in the code
    vectorize.py    the turns of an axis become the lanes of vector registers
"""
