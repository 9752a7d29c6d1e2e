"""The data of a page as types, from which schemas and the types of the modules are made.

In order: each imports only what stands before it.

    records.py  drawings, stages, passes, reasons, kernels, the schedule
    answers.py  what a page asks for and exports record
    pages.py    what a page carries, and an exported stage
    states.py   what the reader of a page has chosen
"""
