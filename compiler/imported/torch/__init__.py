"""PyTorch modules: exported, checked, and called as functions of tensors.

In order: each imports only what stands before it.

    graphs.py           exported programs: graphs and their nodes
    element_types.py    PyTorch's element types and tensors as ours, memory shared
    places.py           modules and lines of a node
    call.py             the call of one node, and the table of operators
    binding.py          arguments of a node, bound by the schema of its operator
    elementwise.py      elementwise operators
    activations.py      activation functions
    shapes.py           operators that move elements
    making.py           operators that create tensors
    folds.py            reductions and scans
    normalisations.py   layer, batch and group normalisation
    masks.py            boolean masks as indices
    picking.py          gather, scatter, sorting and searching
    products.py         matrix products and attention
    windows.py          convolution and pooling
    resizing.py         resized images
    recurrent.py        LSTM, GRU and RNN
    trusted.py          files that run no code when they are read
    export.py           `torch.export`, and operators that are not decomposed
    inputs.py           inputs of an exported module
    buffers.py          parameters and buffers, shared with the module
    program.py          `from_torch`: a module as a callable program
"""
