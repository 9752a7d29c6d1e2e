"""Predicted runs of programs on clusters that are described by figures: event simulation.

In order: each imports only what stands before it.

    quantities.py   bytes, bytes per second and seconds, parsed from text with units
    measured.py     the costs of a task, a message and a byte on a real Dask cluster
    cluster.py      `Cluster`: the figures of a cluster
    jobs.py         the tasks of a program as jobs: computations and transfers
    events.py       the simulation of jobs on lanes and links
    path.py         the critical path of a simulated run
    pictures.py     lanes over time, and curves over numbers of workers, as SVG
    simulation.py   `Simulation`: one run
    sweep.py        `Sweep`: runs on rising numbers of workers
    simulate.py     `simulate`
    cuts.py         a network partitioned in three ways
"""
