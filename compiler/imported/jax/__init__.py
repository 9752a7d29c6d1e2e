"""JAX functions: traced, checked, and called as functions of tensors.

In order: each imports only what stands before it.

    jaxprs.py          traced programs: equations, and their values
    element_types.py   JAX's element types as ours, including random keys
    lines.py           source lines and scopes of an equation
    call.py            the call of one equation, and the table of primitives
    unread.py          parameters that were not read are refused
    elementwise.py     elementwise primitives
    shapes.py          primitives that move or create elements
    folds.py           reductions and cumulative operations
    products.py        matrix products
    picking.py         gather, scatter, dynamic slices, sorting
    windows.py         convolutions and reductions over windows
    keys.py            random bits
    flow.py            calls and branches
    trips.py           trip counts of loops
    loops.py           scan and while
    decompositions.py  Cholesky, LU and QR decompositions, triangular solves
    program.py         `from_jax`: a function as a callable program
"""
