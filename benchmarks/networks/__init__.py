"""Whole networks, compared with PyTorch: `python -m benchmarks networks`.

    library.py        the operations that networks are written in
    on_svodviz.py     … in our words
    on_torch.py       … in PyTorch's
    on_numpy.py       … in NumPy's and float64: what all results are held to
    network.py        a network: a program, written once, and its inputs
    resnet.py         ResNet-18
    mobilenet.py      MobileNetV2
    transformers.py   ViT-S/16 and GPT-2 small
    unet.py           a U-Net
    lstm.py           an LSTM
    numeric.py        k-means, covariance, a stencil
    zoo.py            those that are measured, by name
    ours.py           a network as a program of ours
    kernels.py        its kernels, with their estimates and rooflines
    alone.py          its operations, each run alone
    results.py        what was found, and its file
    bars.py           the targets
    worker.py         ours or a peer in a process of its own
    measuring.py      one network on all of them, interleaved
    report.py         the results in words, and in the README
    run.py            the command
"""
