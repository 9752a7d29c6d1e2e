"""The explorer in a notebook, and the calls that open it.

In order: each imports only what stands before it.

    live.py          the compiler's own objects behind entities, and back
    cells.py         the notebook's cells that made a program
    revisions.py      the compilations that one explorer has shown
    following.py     explorers show what a name is bound to anew
    side_by_side.py  the widget of a comparison
    plain_script.py  `explore` in a plain script: a page
    explorer.py      the widget: one compilation, every stage linked; and `bisect`, which opens it
    magics.py        `%explore expression` and `%%explore` over a cell
    playground.py    an explorer in which choices of loops are tried
"""
