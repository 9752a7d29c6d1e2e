"""Two compilations side by side.

In order: each imports only what stands before it.

    diff_texts.py          two printed programs, line by line
    pair_nodes.py          which nodes of two graphs are the same node
    comparison.py          what two compilations have in common and what not
    figures.py             the numbers by which two compilations are compared
    pair_kernels.py        which kernels of two compilations do the same work
    compare.py             compares two compilations
    changes.py             from one revision of a program to the next: marks and counterparts
    comparison_picture.py  a comparison as a still SVG
    comparison_wire.py     a comparison as JSON
"""
