"""Programs that were written elsewhere, as tensors: each format a folder.

In order: each imports only what stands before it.

    known.py    what is known of a tensor while a program is written
    onnx/       models in the ONNX format
    torch/      modules of PyTorch
    jax/        functions that JAX traces
"""
