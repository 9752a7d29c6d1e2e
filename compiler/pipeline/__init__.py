"""The rows of the compiler, each with its reason, and the driver that runs them.

In order: each imports only what stands before it.

    asked.py       what a call is asked to compile
    facts.py       what passes rely on, as facts
    rows.py        the whole compiler, as ordered rows
    scheduling.py  the schedule rows of the pipeline in one place
    costing.py     what a schedule costs and could save
    dropped.py     choices of the compiler's own that do not apply are left out
    kernels.py     one kernel from body to LLVM IR
    naming.py      the user's variables, as names of the nodes that were assigned to them
    user_rule.py   rule: a function on a node, as a rewrite of one's own: in a notebook cell, say
"""
