"""Programs that were written elsewhere, as tensors: each format a folder.

In order: each imports only what stands before it.

    onnx/    models in the ONNX format
"""
