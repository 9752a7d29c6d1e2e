"""Functions that JAX traces: read, checked, and called as functions of tensors.

In order: each imports only what stands before it.

    element_types.py   element types of JAX as ours, keys of random numbers among them
    lines.py           the user's lines and scopes of an equation
    call.py            one equation being called, and the table of primitives
    unread.py          parameters that nothing read, refused
    elementwise.py     primitives of each element by itself
    shapes.py          primitives that move elements or make them
    folds.py           reductions and running totals
    products.py        matrix products
    picking.py         gather, scatter, slices at computed places, orders
    windows.py         convolutions and folds of windows
    keys.py            random bits
    flow.py            calls and branches
    trips.py           how often a loop runs
    loops.py           scan and while
    decompositions.py  Cholesky, LU and QR, triangles solved
    program.py         `from_jax`: a function as a callable program
"""
