"""The rows of the compiler, each with its reason, and the driver that runs them.

In order: each imports only what stands before it.

    asked.py         the program that a call is asked to compile
    dropped.py       choices of the compiler's own that do not apply are left out
    facts.py         facts that passes rely on
    machine_code.py  the last rows: the source of a kernel becomes a program that a device runs
    rows.py          the whole compiler, as ordered rows
    driver.py        runs the rows of the pipeline on what goes through them
    kernels.py       one kernel from body to LLVM IR
    retarget.py      a kernel with the loops of another machine, and what leads back from them
    scheduling.py    a program, and an iteration of a loop
    costing.py       the costs of a schedule, and possible savings
    naming.py        the user's variables, as names of the nodes that were assigned to them
    user_rule.py     rule: a function on a node, as a rewrite of one's own: in a notebook cell, say
"""
