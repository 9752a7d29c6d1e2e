"""Importers for models and functions from other frameworks: a folder per format.

In order: each imports only what stands before it.

    arguments.py    arguments of an operator: read by its function, or refused
    known.py        values known while the program is built
    steps.py        a step per row of a sequence
    onnx/           models in the ONNX format
    torch/          modules of PyTorch
    jax/            functions that JAX traces
"""
