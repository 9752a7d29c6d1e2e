"""Models in the ONNX format: read, checked, and called as a function of tensors.

In order: each imports only what stands before it.

    element_types.py  element types and constants of ONNX as ours
    call.py           one node being called, and the table of operators
    unread.py         attributes and inputs that nothing read, refused
    symbols.py        numbers that follow from variables
    elementwise.py    operators of each element by itself
    conversions.py    operators from one element type to another
    shapes.py         operators that move elements, and those of shapes
    folds.py          reductions, scans, normalisations
    picking.py        operators that pick by positions: gather, scatter, top-k
    counting.py       TfIdfVectorizer
    products.py       matrix products, determinants
    windows.py        convolution, pooling and their inverses
    resizing.py       Resize and Upsample
    quantised.py      products and convolutions of quantised values
    sampling.py       GridSample and deformable convolution
    regions.py        RoiAlign
    images.py         ImageDecoder
    spectra.py        DFT, STFT and mel frequencies
    recurrent.py      RNN, GRU and LSTM
    runtime.py        ONNX Runtime's operators of quantised values
    blocks.py         its weights of few bits in blocks
    fused.py          what its optimiser makes one operator of
    listing.py        a model as lines of text, its nodes in their modules
    program.py        `from_onnx`: a model as a callable program
"""
