"""Programs on the workers of a Dask cluster: Dask finds workers, moves data, restarts lost tasks.

    axes.py        axes of inputs and results that are partitioned together
    shipped.py     a program without its data as bytes; compiled and cached on the worker
    blocks.py      a program over the blocks of dask arrays, one for each block shape
    folding.py     reductions over a partitioned axis: partial results combine in a tree
    blockwise.py   `blockwise`: a function, compiled and fused, over the blocks of dask arrays
    local.py       `local_cluster`: worker processes on this machine, on the loopback interface only
    mapping.py     a function over many rows on workers; results arrive in order
    work.py        the steps of a task, in the process of a worker
    tasks.py       schedule items as tasks, and the actions of the client between them
    held.py        runs, the results that workers hold, and the data to repeat a run
    repair.py      a scheduler plugin: another worker takes over the tasks of a lost one
    graphs.py      tasks as nodes of Dask's graph
    noted.py       the record of a run from which its timeline is drawn
    arrivals.py    a worker plugin: records transfers from other workers
    clocks.py      the offsets of the workers' clocks
    bars.py        the activity of a run by lane, and the dependencies of each part
    waits.py       idle time of workers and its cause; the critical path
    timeline.py    `timeline`: a run on one clock
    connection.py  submits tasks and data to a cluster, and repeats what was lost
    engine.py      runs schedules on workers
    arrays.py      dask arrays become tensors, and tensors dask arrays; data stay on the workers
    zarr.py        arrays in folders of chunks, each read by the worker that needs it
    collection.py  a tensor as a Dask collection: `dask.compute(t)`, `persist`, `visualize`
    cluster.py     `cluster`: the workers of a cluster as devices
    simulation/    predicts a program's time on a cluster from its figures
"""
