"""Programs that run: inputs, memory, steps, execution plans, tensors as data.

In order: each imports only what stands before it.

    allocation.py      memory for the buffers a schedule makes
    native.py          a schedule made ready
    overlap.py         which items of a level run at once, and running them so
    assemble.py        levels of items become steps for the native driver
    bindings.py        the values that variables have in a run
    budget.py          programs that do not fit are refused before anything is allocated
    building.py        a program on its way through the pipeline
    execution.py       runs the items of a schedule as machine code, one after the other
    feeding.py         what a user gives a run: data by tensor, name or place
    numbers.py         programs that differ only in numbers share one that takes them when it runs
    recompiled.py      how often each line of the user's had a program compiled
    remembered.py      programs kept on disk, cut into kernels and compiled
    plans.py           execution plans: a program compiled once, run often, on other data
    direct.py          runs that one foreign call does
    execution_plan.py  a program as an execution plan: `prepare`
    reading.py         parts of data that are in memory, copied without a program
    sharding.py        sharded tensors as programs
    realize.py         tensors as data: compiled, run
"""
