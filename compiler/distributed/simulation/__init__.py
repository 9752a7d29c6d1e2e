"""Programs on machines that are not there: their schedule, event by event, before they are rented.

In order: each imports only what stands before it.

    quantities.py   bytes, bytes a second and seconds, as people write them
    measured.py     what a cluster that is there takes for an item, a message and a byte
    cluster.py      `Cluster`: machines as figures
    jobs.py         the items of a schedule as what machines do
    events.py       jobs on lanes and links, one event after the other
    path.py         what the end of a run waited for, backwards to its begin
    pictures.py     lanes over time, and curves over numbers of workers, as SVG
    simulation.py   `Simulation`: one run
    sweep.py        `Sweep`: runs on more and more machines
    simulate.py     `simulate`
    cuts.py         one network cut in three ways
"""
