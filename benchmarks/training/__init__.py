"""Training steps, compared with PyTorch, JAX and tinygrad: `python -m benchmarks training`.

    ours.py   the networks of `compiler.nn`, a step captured by `compiler.jit`
    torch.py  the same in PyTorch, eager or by torch.compile
    jax.py    the same in JAX, jitted
    tinygrad.py the same in tinygrad, by TinyJit
    worker.py a process of one of them, which runs steps on request
    curve.py  the losses of the transformer and of PyTorch's from the same weights
    run.py    the command: interleaved processes, so that other load affects all alike
"""

NETWORKS = ("mlp", "cnn", "transformer")
PEERS = ("ours", "torch", "torch.compile", "jax", "tinygrad")
CHARACTERS, LENGTH, WIDTH, HEADS, LAYERS, BATCH = 109, 64, 128, 4, 4, 32
