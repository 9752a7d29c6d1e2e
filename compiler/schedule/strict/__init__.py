"""Strict schedules: written by hand, instantiated on memory.

In order: each imports only what stands before it.

    instantiate.py  a PreSchedule with memory and values, ready to run
    run.py          runs it item by item, on NumPy
    builder.py      kernel graphs written by hand, to learn how scheduling works and to test it
"""
