"""The same in words, for the command line, and the glossary.

In order: each imports only what stands before it.

    glossary.py      one row per concept: the word, a sentence, an example, where it is
    check_text.py     marks in words: what `svodviz show program.py --check` prints
    decision_text.py  decisions as text: each with its sentence, what it is about
    summary.py        a compilation in words
"""
