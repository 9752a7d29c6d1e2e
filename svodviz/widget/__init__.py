"""The explorer in a notebook, and the calls that open it.

In order: each imports only what stands before it.

    cells.py         what a notebook does between showing the result of a cell and its end
    live.py          the compiler's own objects behind entities, and back
    side_by_side.py  the widget of a comparison
    explorer.py      the widget: one compilation, every stage linked
    bisect.py        an explorer opened at the first pass, and the first rewrite
    magics.py        `%explore expression` and `%%explore` over a cell
    playground.py    an explorer in which choices of loops are tried
"""
