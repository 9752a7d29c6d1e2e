"""Heuristics that choose loop transformations: a function for each kind of kernel.

In order: each imports only what stands before it.

    accesses.py               the loads and stores of a kernel with one output
    lanes.py                  vectorisation and parallelisation, shared by all kinds of kernels
    choose_columns.py         choices for reductions over a strided axis
    products.py               the parts of a kernel that is a sum of products of two arrays
    choose_dots.py            choices for products of few rows: dot products
    choose_elementwise.py     choices for kernels without reductions
    register_tiles.py         tiles of sums that fit into registers, and their cycles
    panels.py                 the number of uses from which packing a panel of columns pays
    choose_outer_products.py  choices for products of few rows, or of long sums
    product_plans.py          height and width of the tiles of a product, and the split over cores
    rows_across.py            rows strided along the sum: packed for a core, or the sum in blocks
    choose_products.py        choices for sums of products
    choose_words.py           choices for sums of products of small types, by dot products
    window_tiles.py           the tiles of a convolution that fit in registers
    choose_windows.py         choices for convolutions
    choose_groups.py          choices for sums whose axes are read in groups
    row_folds.py              the lanes of a reduction over rows that has several loops
    choose_taps.py            choices for a few sums that share their loads
    choose_rows.py            choices for reductions along rows: sums, softmax, norms
    choose_scans.py           choices for scans
    choose_short_rows.py      choices for statistics of rows that are shorter than a vector
    choose_transposes.py      choices for copies whose input and output run along different axes
    choose.py                 the default choices for any kernel

The docstring of a tuned constant gives the measurement behind its value, or states that there is
none. The constants were chosen on 2026-11-22, on two cores of an EPYC of the Zen 4 class with
AVX-512, by the times of whole programs; figures of that day are given where they were kept. On
2026-11-23 the constants were varied one by one on an EPYC of the Zen 3 class, on one core, with the
default model of a machine: least processor times, on a machine that was busy. It has AVX2, so that
a vector of the model is two of its 16 registers, and masks are not cheap: some docstrings give
other values that are better there.

A search in their place was measured: the six best of each of four steps of `tune`'s moves from the
plain loops, ranked by the estimate of `schedule/analysis/work.py`. For all kinds but products,
windows and rows, kernels take longer in the geometric mean of 4 to 12 programs: with AVX-512 from
1.06 (taps) to 12 times as long (words). Most are estimated to be faster. The search takes up to 36
s, a function 0.2 to 5 ms, and compiling the kernel 3 to 55 ms. Without its function a kind takes
1.4 to 10 times as long; outer products take 1.0, from 0.8 to 2.0 by shape (EPYC, Zen 5, one core,
busy, 2026-11-28).
"""
