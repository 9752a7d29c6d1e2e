"""What a program could do better, found by rules: its line, its numbers, what to write instead.

In order: each imports only what stands before it.

    widening.py       where a float32 program becomes float64 without being asked to
    finding.py        a finding, and all of a program, as a person reads them
    subject.py        what the rules look at: a program's items, times, lines
    float64.py        float64 by accident
    moved.py          copies and conversions that cost
    recompiled.py     lines that compile anew at every call
    crosswise.py      reductions that read memory crosswise
    far_from_roof.py  kernels far below their roofline
    one_core.py       parallel loops that were refused
    unfused.py        what fusion was refused for
    rules.py          the table of rules, and `findings`
"""
