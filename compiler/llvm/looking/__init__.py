"""Inspection of LLVM: its passes one by one, assembly, code for other machines.

In order: each imports only what stands before it.

    inherited.py     source lines for instructions whose own location LLVM dropped
    structured.py    control flow of WebAssembly
    debug_info.py    LLVM IR with the user's lines, and the calls that led there, as debug info
    scheduling_model.py  LLVM's scheduling model: the units and cycles that instructions take
    inner_loop.py    the hottest loop of a kernel: the cost of an iteration
    listing.py       stage 8: optimised IR and assembly of a kernel
    remarks.py       LLVM's optimisation remarks in plain words
    pass_changes.py  changes by LLVM's passes to one kernel
    pass_words.py    the purpose of each LLVM pass, in one line
    translate.py     kernels as the assembly of another machine, for reading
    latencies.py     latencies of the instructions in loops, by LLVM's scheduling model
    marked.py        a kernel's machine code with labels or counters at its blocks
    watch.py         LLVM's passes on one kernel, one by one: those that changed something
"""
