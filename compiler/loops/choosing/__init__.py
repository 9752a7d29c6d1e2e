"""Who decides what is done to loops: a function for each kind of kernel.

In order: each imports only what stands before it.

    accesses.py               the loads and stores of a kernel with one output
    lanes.py                  how kernels of every kind become vectors and are shared out
    choose_borders.py         choices for kernels that put zeros around what they read
    choose_columns.py         choices for reductions over a strided axis
    products.py               the parts of a kernel that is a sum of products of two arrays
    choose_dots.py            choices for a few products of rows
    choose_elementwise.py     choices for kernels without reductions
    register_tiles.py         which tiles of sums fit into registers, and the cycles they take
    panels.py                 from how many uses on the columns that a tile reads are better copied
    choose_outer_products.py  choices for products of few rows, or of long sums
    product_plans.py          height, width and shares of the tiles of a product
    rows_across.py            rows that lie across the sum: copied for a core, or the sum in lots
    choose_products.py        choices for sums of products
    choose_words.py           choices for sums of products of small types, several at once
    window_tiles.py           the tiles of a convolution that fit in registers
    choose_windows.py         choices for windows that slide past weights
    choose_groups.py          choices for sums whose axes are read in groups
    row_folds.py              the lanes of a fold over rows, where it has several loops too
    choose_taps.py            choices for a few sums that share what they read
    choose_rows.py            choices for reductions along rows, and what is computed from them
    choose_scans.py           choices for scans
    choose_short_rows.py      choices for statistics of rows that are shorter than a vector
    choose_transposes.py      choices for copies whose input and output run along different axes
    choose.py                 how the loops of a kernel are transformed by default

Below a tuned constant stands the measurement of its value, or that there is none. They were chosen
on 2026-11-22, on two cores of an EPYC of the Zen 4 class with AVX-512, by the times of whole
programs; figures of that day are given where they were kept. On 2026-11-23 the constants were
varied one by one on an EPYC of the Zen 3 class, on one core, with the default model of a machine:
least processor times, on a machine that was busy. It has AVX2, so that a vector of the model is two
of its 16 registers, and masks are not cheap: other values are better there in places, as is said.
"""
