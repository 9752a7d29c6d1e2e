"""ONNX models: read, checked, and called as functions of tensors.

In order: each imports only what stands before it.

    element_types.py  element types and constants of ONNX as ours
    call.py           the call of one node, and the table of operators
    unread.py         attributes and inputs that were not read are refused
    symbols.py        arithmetic on variable extents
    elementwise.py    elementwise operators
    activations.py    activation functions by name
    conversions.py    type conversions and quantisation
    shapes.py         operators that move elements, and operators on shapes
    folds.py          reductions, scans, normalisations
    picking.py        gather, scatter, top-k
    counting.py       TfIdfVectorizer
    products.py       matrix products, determinants
    windows.py        convolution, pooling and their transposes
    resizing.py       Resize and Upsample
    quantised.py      quantised matrix products and convolutions
    sampling.py       GridSample and deformable convolution
    regions.py        RoiAlign
    images.py         ImageDecoder
    spectra.py        DFT, STFT and mel frequencies
    recurrent.py      RNN, GRU and LSTM
    runtime.py        ONNX Runtime's quantised operators
    blocks.py         its block-quantised weights
    fused.py          operators fused by its optimiser
    listing.py        a model as lines of text, with the module of each node
    program.py        `from_onnx`: a model as a callable program
"""
