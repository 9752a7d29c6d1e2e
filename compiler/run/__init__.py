"""Programs that run: inputs, memory, steps, execution plans, tensors as data.

In order: each imports only what stands before it.

    allocation.py      memory for the buffers of a schedule
    native.py          a schedule prepared for the native driver
    overlap.py         the items of a topological level that run in parallel
    assemble.py        levels of items become steps for the native driver
    bindings.py        the values that variables have in a run
    budget.py          programs that do not fit in memory are refused before any allocation
    building.py        a program on its way through the pipeline
    execution.py       runs the items of a schedule as machine code, one after the other
    feeding.py         the data that a user passes to a run: by tensor, name or position
    numbers.py         programs that differ only in scalar constants share one compilation
    recompiled.py      the number of compilations that each line of the user caused
    remembered.py      compiled programs cached on disk
    plans.py           execution plans: a program compiled once, run often, on other data
    launch.py          a program ready to run on memory of known addresses: one foreign call
    execution_plan.py  a program as an execution plan: `prepare`
    sharding.py        sharded tensors as programs
    realize.py         tensors as data: compiled and run, or parts of what is in memory
"""
