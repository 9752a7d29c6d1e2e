"""`compiler.jit`: functions of tensors that are captured once for each signature, then replayed.

In order: each imports only what stands before it.

    arguments.py     what a call is given: tensors, numbers that may change, and what is fixed
    surroundings.py  what stands around a function in Python
    results.py       what a call gives back
    launch.py        what runs the program of a call
    program.py       one capture: a compiled program, and what each of its inputs is
    function.py      a function with its captures
"""
