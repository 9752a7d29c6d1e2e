"""Stage 6: one kernel as linear instructions.

In order: each imports only what stands before it.

    by_hand.py             instructions that no lowering makes: for programs written by hand
    machine.py             lowered instructions close to a machine
    instructions.py        lowered instructions: a kernel as a list, one register written by each
    tiles.py               of how many registers a scalar node consists
    values.py              the registers that hold the nodes of a body
    transpose.py           n registers of n lanes, lanes and registers exchanged, in log2(n) stages
    access.py              the instructions that read and write memory
    joins.py               the parts of one reduction, as a tile and its rest leave them
    accumulate.py          the instructions of a reduction, over loops, registers side by side
    custom.py              operations from outside the table
    interpreted_memory.py  memory as the interpreter sees it
    plan.py                all that is known of a kernel before it is interpreted
    interpret.py           the interpreter of lowered instructions, which counts what they do
    scratch.py             in which loop the scratch memory of a body is made
    scans.py               the instructions of a scan, over registers side by side and lanes
    linearize.py           the loop nest of a body as a list of instructions
    printer.py             the printed form and the picture of lowered instructions
    registers.py           all that a check of lowered instructions knows
    machine_rules.py       the invariants of the instructions in `lowered/machine.py`
    run_tasks.py           a kernel on the interpreter, its tasks one after the other
    verify.py              the invariants of lowered instructions
"""
