"""Findings: possible improvements of a program, each with its line, its numbers, and code to write.

In order: each imports only what stands before it.

    widening.py       lines that make a float32 program float64 without being asked to
    finding.py        a finding, and all of a program, as a person reads them
    subject.py        the subject of the rules: a program's items, times, lines
    float64.py        float64 by accident
    moved.py          copies and conversions that cost
    recompiled.py     lines that compile anew at every call
    strided.py      reductions whose reads are strided
    below_roofline.py  kernels far below their roofline
    one_core.py       parallel loops that were refused
    unfused.py        fusions that were refused
    rules.py          the table of rules, and `findings`
"""
