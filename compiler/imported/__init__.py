"""Importers for models and functions from other frameworks: a folder per format.

In order: each imports only what stands before it.

    arguments.py    arguments of an operator: read by its function, or refused
    call.py         calls of nodes, and tables of the functions that implement them
    constants.py    values that are computed while the program is built
    inputs.py       inputs of a program: assigned by place and by name, and checked
    axes.py         values and indices along one axis
    methods.py      methods of tensors by their names
    steps.py        a step per row of a sequence
    onnx/           models in the ONNX format
    torch/          modules of PyTorch
    jax/            functions that JAX traces
"""
