"""Running compiled kernels: one foreign call for many of them, divided among the cores.

In order: each imports only what stands before it.

    driver.py   the native driver, as LLVM IR
    workers.py  the workers of this process
    launch.py   one kernel, on as many threads as it has tasks and the process has cores
"""
