"""Programs on the workers of a Dask cluster: Dask finds workers, moves data, restarts what died.

    axes.py        which axes of the inputs are one and the same axis of the results
    shipped.py     a program without its data as bytes; compiled and kept where it runs
    blocks.py      a program over the blocks of dask arrays, as it travels
    folding.py     reductions over an axis that is cut: partial results put together in a tree
    blockwise.py   `blockwise`: a function, compiled and fused, over the blocks of dask arrays
    local.py       `local_cluster`: processes of this machine that nobody else can reach
    mapping.py     a function over many rows on workers: results in order, as they come
    work.py        what a task of a cluster does, in the process of a worker
    tasks.py       items of a schedule as tasks, and what is done here between them
    held.py        runs, what workers hold of them, and what it takes to do them again
    repair.py      on the scheduler: another worker does the work of one that is gone
    graphs.py      tasks as nodes of Dask's graph
    noted.py       what is kept of a run for its timeline
    arrivals.py    in a worker: which data came from which other one, and when
    clocks.py      how far the clocks of workers are off ours
    bars.py        what was done in a run, by lanes, and what each needed
    waits.py       where workers did nothing, what for, and what the end waited for
    timeline.py    `timeline`: a run on one clock
    connection.py  tasks and data given to a cluster, and waited for, whatever workers do
    room.py        programs that do not fit in the memory of a worker are refused
    engine.py      schedules run on workers
    arrays.py      dask arrays become tensors, and tensors dask arrays; data stay on the workers
    zarr.py        arrays in folders of chunks, each read where it is needed
    collection.py  a tensor as one of Dask's collections: `dask.compute(t)`, `persist`, `visualize`
    cluster.py     `cluster`: the workers of a cluster as devices
    simulation/    programs on machines that are not there, before they are rented
"""
