"""Programs on the workers of a Dask cluster: Dask finds workers, moves data, restarts what died.

    local.py      a cluster on this machine alone, that nobody else can reach
    axes.py       which axes of the inputs are one and the same axis of the results
    shipped.py    a program without its data as bytes; compiled and kept where it runs
    blockwise.py  `blockwise`: a function, compiled and fused, over the blocks of dask arrays
"""
