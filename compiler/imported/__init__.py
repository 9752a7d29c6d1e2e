"""Programs that were written elsewhere, as tensors: each format a folder.

In order: each imports only what stands before it.

    arguments.py    arguments that a function reads, and those that are refused
    known.py        what is known of a tensor while a program is written
    steps.py        a step for each row of a sequence
    onnx/           models in the ONNX format
    torch/          modules of PyTorch
    jax/            functions that JAX traces
"""
