"""Modules of PyTorch: exported, checked, and called as functions of tensors.

In order: each imports only what stands before it.

    element_types.py    PyTorch's element types and tensors as ours, memory shared
    places.py           modules and lines of a node
    call.py             one node being called, and the table of operators
    binding.py          arguments of a node, bound by the schema of its operator
    elementwise.py      operators of each element by itself
    activations.py      functions that bend a line
    shapes.py           operators that move elements
    making.py           tensors out of nothing
    folds.py            reductions and scans
    normalisations.py   normalisation by layers, channels and groups
    masks.py            masks among indices
    picking.py          operators that pick and place by positions
    products.py         matrix products and attention
    windows.py          convolution and pooling
    resizing.py         images of another size
    recurrent.py        LSTM, GRU and RNN
    trusted.py          files that run nothing when they are read
    export.py           `torch.export`, and what is left whole in its decompositions
    inputs.py           what is given to an exported module
    buffers.py          parameters and buffers, shared with the module
    program.py          `from_torch`: a module as a callable program
"""
