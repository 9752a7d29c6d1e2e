"""The tensors of users, in layers by noun: each file adds methods to the one before it.

In order: each imports only what stands before it.

    variables.py        `Variable`: a whole number known when a program runs
    shapes.py           arithmetic on shapes and axes
    traced_numbers.py   Python numbers that differ from call to call of a captured function
    data.py             what can become a tensor
    readers.py          which tensors read a buffer
    running.py          programs under way, and what is left of one that an exception ended
    selected.py         tensors that are stored with what is selected from them
    live.py             what a program that writes memory must take along
    watching.py         what a function does to tensors while it is captured
    names.py            names that users of NumPy and PyTorch know
    value.py            the core of a tensor
    rank_zero.py        methods along an axis, of tensors of rank 0
    apply.py            how an elementwise operation is built
    gathering.py        selection by positions that are data
    indices.py          what users write in brackets, read as NumPy reads it
    division.py         floor division and remainder, as Python and NumPy define them
    variable_shapes.py  shapes that have variables in them, as `reshape` and `expand` take them
    movement.py         tensor methods that move elements without changing them
    unary.py            tensor methods of one operand
    binary.py           tensor methods of two and three operands
    joining.py          tensor methods that make larger tensors
    variable_parts.py   parts that begin or end at a variable
    indexing.py         `tensor[…]`: integers, slices, None, ... from movements
    placing.py          where written elements go
    writing.py          tensor methods that replace, join and count elements
    reductions.py       tensor methods that fold axes
    normalizations.py   tensor methods that normalise along axes
    products.py         matrix products: `@`, matmul, dot, linear
    windows.py          sliding windows over any number of axes, made of movement alone; `unfold`
    pooling.py          pooling over 1, 2 or 3 axes, the last ones
    convolutions.py     convolution over 1, 2 or 3 axes, and its transpose
    scans.py            running totals, and sums over named axes
    ordering.py         stable orders of rows
    sorting.py          tensor methods that put elements in order
    arrangement.py      tensor methods that cut, shift and pick by pattern
    resampling.py       `interpolate`: images of another size
    elementary.py       tensor methods made of elementary operations
    special.py          tensor methods of special functions, and of single bits
    linear.py           tensor methods of linear algebra that are sums of products
    layers.py           attention, normalisation by groups, cells of recurrent layers
    losses.py           how far a prediction is from what it should be
    random.py           random tensors: element i is a function of a key and of counter i
    construction.py     tensors out of nothing
    files.py            tensors from files and into files
    directives.py       tensor methods that say how to compute, not what
    numpy_functions.py  functions of NumPy whose arguments differ from those of our methods
    numpy_calls.py      NumPy's functions on tensors
    sharing.py          memory that other libraries read in place, by DLPack
    placement.py        tensor methods that say where data are
    history.py          how tensors came about, as gradients need it
    gradients.py        tensor methods that give derivatives
    trees.py            arguments in tuples, lists and dicts
    repeat.py           `repeat`: a step run n times over tensors, as one program
"""
