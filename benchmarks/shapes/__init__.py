"""Random shapes of single operations, compared with PyTorch: `python -m benchmarks shapes`.

    cases.py      kinds of operations, shapes by seed and number
    worker.py     one of the two in a process of its own
    results.py    what was found, and its figures
    run.py        the command
"""
