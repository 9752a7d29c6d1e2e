"""Devices: where data lives and programs run.

In order: each imports only what stands before it.

    allocator.py     host memory: blocks aligned to 64 bytes
    remote.py        elements that are not in this process
    buffers.py       the data behind `Buffer` nodes
    launch_sizes.py  launch sizes: integer expressions, evaluated when a program is run
    metadata.py      metadata of a program: its arguments, variables and launch size
    program.py       programs: a kernel's source with its metadata, compiled, and ready to run
    c/               a kernel as C, for reading
    cpu.py           the host CPU: memory from its allocator, machine code from LLVM
    described.py     the description of a machine-code program, without its code
    cycles.py        loops whose time is a known number of cycles
    calibration.py   how fast this machine runs generated code, as a `MachineModel`
    packing.py       elements of 4 and 2 bits, several in a byte
    disk.py          tensors in files: .npy and safetensors
    interpreter.py   the safe device: runs a program's lowered instructions, checking every access
    dask.py          the workers of a Dask cluster, as devices
    device.py        devices: what owns memory and runs programs, found by name
    limits.py        kernels that run at the machine's limits, as LLVM IR written by hand
    save.py          arrays to files that `disk.py` reads
"""
