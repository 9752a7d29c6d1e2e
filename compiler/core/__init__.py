"""Underneath all stages: nodes and their history, types, errors, options, the user's lines.

In order: each imports only what stands before it.

    printable.py    the one place where text from a user's program becomes fit to be printed
    text.py         columns of text, and times, sizes and counts as people read them
    visits.py       which threads are inside a region of code
    forking.py      what a process made by `fork` needs
    effects.py      effects of a run on memory that existed before it
    kept.py         tables of bounded size that forget what was used least recently
    frames.py       call stacks: which of the user's lines were running
    origin.py       where a node comes from
    modules.py      the parts of a model, and lines of programs that were written elsewhere
    node.py         interned immutable nodes: structure-equal nodes are the same object
    trace.py        what the compiler reports about its own work, as frozen records
    plain_graph.py  networkx graphs with attributes that files of graphs can hold
    stage.py        the faces every stage shows
    lineage.py      everything one value is, in every stage, found along the recorded links
    errors.py       errors, each a small page
    garbage.py      Python's search for garbage in cycles, put off while compiling
    lazy.py         lazy loading: a package's names are imported on first use
    dtypes.py       element types: names, sizes, kinds, and NumPy-2 promotion (done by NumPy itself)
    isolated.py     Python in a process of its own, safe from the current folder
    keywords.py     arguments of public calls
    passes.py       the rows of the compiler, and passes as a value
    reason.py       why something was chosen, in words, with the numbers that were looked at
    replacing.py    files that are replaced in one step
    user_cache.py   the user's cache: where its folder is
    user_source.py  the user's program as the first stage
    written.py      nodes and records as plain data that JSON can hold
"""
