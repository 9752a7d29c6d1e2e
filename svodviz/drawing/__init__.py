"""Graphs as boxes and arrows: palette, labels, and where each stands.

In order: each imports only what stands before it.

    palette.py          one palette for every drawing, light and dark, with the words of its legend
    graphs.py           the networkx graph of a stage as boxes and arrows
    layered.py          a layered layout of our own, in linear time
    condense.py         a graph too large to be drawn, as stretches of its layers
    graphviz_layout.py  places boxes with Graphviz's `dot`
    layout.py           where every box and arrow of a drawing stands
    layout_jobs.py      layouts that the page asks for
"""
