"""LLVM looked at: its passes one by one, assembly, other machines.

In order: each imports only what stands before it.

    inherited.py     source lines for instructions whose own location LLVM dropped
    structured.py    control flow of WebAssembly
    debug_info.py    LLVM IR with the user's lines, and the calls that led there, as debug info
    scheduling_model.py  what LLVM's scheduling model says about a processor's instructions
    inner_loop.py    the loop that most of a kernel's time goes to: what an iteration takes
    listing.py       stage 8: what LLVM made of a kernel: optimised IR and assembly
    remarks.py       what LLVM says about its decisions, in plain words
    pass_changes.py  what LLVM's passes did to one kernel
    pass_words.py    what each of LLVM's passes is for, in one line of plain words
    translate.py     kernels as the assembly of another machine, to be read
    latencies.py     what each instruction of a kernel's loops costs, by LLVM's scheduling model
    marked.py        a kernel's machine code with a mark or a counter at its blocks
    watch.py         LLVM's own passes on one kernel, one by one, those that changed something
"""
