"""Settings of a compilation.

In order: each imports only what stands before it.

    options.py  settings of one compilation
"""
