"""Pages and pictures as files.

In order: each imports only what stands before it.

    browser.py      shows a page in the reader's browser
    picture.py      a stage's graph as a still SVG
    script.py       the browser's modules as one script
    export.py       what leaves the notebook
    page_widget.py  what the widgets of this package have in common
    save.py         writes a stage, or the whole explorer, into a file whose ending says the format
"""
