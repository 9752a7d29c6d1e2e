"""`compiler.jit`: functions of tensors that are captured once for each signature, then replayed.

In order: each imports only what stands before it.

    code.py          code as a reader of state: names, from its bytecode
    libraries.py     functions of libraries that depend on their arguments alone
    classes.py       where classes come from, and whether their objects hide state
    objects.py       objects that a call is given, and which are alike
    arguments.py     what a call is given: tensors, numbers that may change, and what is fixed
    guards.py        places with the values that stood there
    walk.py          from the code of a function to the objects that it reaches
    surroundings.py  the table of all kinds of state in Python
    grads.py         `grad` of tensors, as a captured function reads and writes it
    results.py       what a call gives back
    launch.py        what runs the program of a call
    tracing.py       one call of a function while it is watched
    pasts.py         the history of what a captured function computes
    program.py       one capture: a compiled program, and what each of its inputs is
    function.py      a function with its captures
"""
