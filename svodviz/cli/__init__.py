"""The command line.

In order: each imports only what stands before it.

    program.py   runs a user's program and finds the compilations to explore in it
    progress.py  reports long steps on standard error
    model.py     reads a model in a file, and gives it inputs
    main.py      the command line: the same explorer, texts and pictures without a notebook
"""
