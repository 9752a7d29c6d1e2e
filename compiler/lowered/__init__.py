"""Stage 6: one kernel as linear instructions.

In order: each imports only what stands before it.

    by_hand.py             instructions for programs written by hand
    machine.py             machine-level instructions: scratch memory, vectors, markers
    instructions.py        lowered instructions: a list, each writes one virtual register
    tiles.py               the registers of a scalar node, and their lanes
    values.py              the virtual registers that hold the nodes of a body
    transpose.py           a transpose of n registers of n lanes, in log2(n) stages
    access.py              the instructions that read and write memory
    joins.py               the parts of a tiled reduction are combined as vectors
    accumulate.py          the instructions of a reduction, over loops, registers and lanes
    custom.py              custom operations, which are not in the table
    interpreted_memory.py  memory as the interpreter sees it
    plan.py                the analysis of a kernel before it is interpreted
    interpret.py           the interpreter of lowered instructions; it counts operations
    scratch.py             the loop in which each scratch memory is allocated
    scans.py               the instructions of a scan, over registers and lanes
    linearize.py           the loop nest of a body as a list of instructions
    printer.py             the printed form and the picture of lowered instructions
    registers.py           the state of a check: registers and open scopes
    machine_rules.py       the invariants of the instructions in `lowered/machine.py`
    run_tasks.py           interprets all tasks of a kernel, one after the other
    verify.py              the invariants of lowered instructions
"""
