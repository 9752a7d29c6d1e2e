"""The foundation: subjects, their entities, escapes, requests of the page.

In order: each imports only what stands before it.

    entities.py  the entities of one compilation and what each descends from
    escape.py    the one place where untrusted text becomes part of markup
    packing.py   data of a page as compressed text
    requests.py  what the page asks of Python while a kernel is there
    stages.py    the stages of a compilation in ribbon order
    subject.py   what can be explored
    values.py    a few numbers and a small picture of an array
    views.py     the views of the centre pane
"""
