"""The public tensor class: mixins of one topic each, and the functions that they call.

In order: each imports only what stands before it.

    variables.py        `Variable`: a dynamic extent, an integer known when a program runs
    shapes.py           arithmetic on shapes and axes
    traced_numbers.py   Python numbers that may change between calls of a captured function
    data.py             arrays, numbers and lists that become tensors
    readers.py          which tensors read a buffer
    running.py          programs that are running, and the rest of one that an exception ended
    selected.py         tensors that are stored together with selections of their elements
    live.py             tensors that must be computed before a program writes their memory
    watching.py         side effects of a function on tensors while it is captured
    names.py            NumPy's and PyTorch's names for our methods
    value.py            the core of a tensor
    rank_zero.py        methods along an axis, for tensors of rank 0
    apply.py            elementwise operations: promotion and broadcasting
    gathering.py        gather: selection by index tensors
    indices.py          the index in `x[…]`, read by NumPy's rules
    division.py         floor division and remainder, as Python and NumPy define them
    variable_shapes.py  shapes with variables in them, for `reshape` and `expand`
    movement.py         tensor methods that move elements without changing them
    unary.py            tensor methods of one operand
    binary.py           tensor methods of two and three operands
    joining.py          tensor methods that pad, concatenate and repeat
    variable_parts.py   slices that begin or end at a variable
    indexing.py         `tensor[…]`: integers, slices, None and ... as movement operations
    placing.py          scatter: the positions that written elements go to
    writing.py          tensor methods that write, scatter and count elements
    reductions.py       tensor methods that reduce axes
    normalizations.py   tensor methods that normalise along axes
    products.py         matrix products: `@`, matmul, dot, linear
    windows.py          sliding windows over any number of axes, by movement alone; `unfold`
    pooling.py          pooling over the last 1, 2 or 3 axes
    convolutions.py     convolution and transposed convolution over 1, 2 or 3 axes
    scans.py            cumulative sums, products and maxima, and `einsum`
    ordering.py         stable sorting orders of rows
    sorting.py          tensor methods that sort, and quantiles
    arrangement.py      tensor methods that split, shift and select by pattern
    resampling.py       `interpolate`: resized images
    elementary.py       tensor methods composed of elementary operations
    special.py          special functions, and operations on bits
    linear.py           linear algebra built from products: `outer`, `kron`, `cross`, `norm`
    layers.py           attention, group and batch normalisation, recurrent cells
    losses.py           loss functions
    random.py           counter-based random numbers: element i is a function of key and counter
    construction.py     new tensors: ranges, grids, random numbers
    files.py            loading and saving tensors
    directives.py       tensor methods that direct the scheduler, and placeholders
    numpy_functions.py  NumPy functions whose arguments differ from those of our methods
    numpy_calls.py      NumPy functions called with tensors
    sharing.py          memory shared with other libraries in place, by DLPack
    placement.py        tensor methods for devices and shards
    history.py          the graphs that computed values came from, kept for gradients
    gradients.py        tensor methods for derivatives: `backward`, `gradient`
    trees.py            nested tuples, lists and dicts of tensors
    repeat.py           `repeat`: a counted loop over tensors, as one program
"""
