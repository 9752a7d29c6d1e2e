"""`compiler.jit`: functions of tensors, captured once per signature, then replayed.

In order: each imports only what stands before it.

    code.py          the names of state that code reads, from its bytecode
    libraries.py     library functions that are pure
    classes.py       the origin of classes; classes whose objects hide state
    objects.py       objects among the arguments, and their comparison
    arguments.py     arguments of a call: tensors, numbers that may change, fixed values
    guards.py        guards: places in Python state with their values at capture
    walk.py          a walk from the code of a function to the objects it can reach
    surroundings.py  the table of all kinds of Python state, and their guards
    grads.py         `grad` of tensors that a captured function reads or writes
    results.py       the results of a call
    tracing.py       one traced call of a function
    pasts.py         the history of values that a captured function computes
    program.py       one capture: a compiled program, and the sources of its inputs
    function.py      a function with its captures
"""
