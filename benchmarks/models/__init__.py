"""Models in the ONNX format, ours compared with other runtimes:
`python -m benchmarks models`.

    zoo.py       the models, written in PyTorch, with random weights
    exports.py   a model as an ONNX file, its inputs, and what PyTorch makes of them
    runtimes.py  ours and the peers: a call for the file, and how it is made
    worker.py    one runtime in a process of its own
    results.py   what was found, and its file
    report.py    the results in words
    run.py       the command
"""
