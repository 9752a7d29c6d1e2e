"""One compilation as data for the page.

In order: each imports only what stands before it.

    checks.py        whether each pass, each rewrite and each stage is right, as data for the page
    scene.py         drawings on the wire
    pass_replay.py   passes as a replay: what each rewrite changes
    items.py         the items of a schedule as data for the page
    reasons.py       why something was chosen, as data for the page
    findings.py      what the program could do better, as data for the page
    playpoints.py    a kernel's playground as data for the page
    grounds.py       playgrounds of a compilation, and what a search over loop choices tried
    kernels.py       each kernel as data for the page
    operations.py    what each operation means, for the inspector
    previews.py      which values a page shows
    machine_code.py  what the page asks about machine code
    lanes.py         what workers of a cluster did in a run, as data for the page
    measured.py      what one run takes, measured
    refine.py        graphs of kernels and items as the pictures need them
    stage_rows.py    one stage of a compilation as data for the page
    modules.py       the modules of a model as data for the page
    later.py         what arrives at a page after it has opened
    matched.py       what the rule of a rewrite bound, and its time
    memory_rows.py   the memory of a schedule as data for the page
    schedule.py      the whole schedule as data for the page, and as text
    whynot.py        why a rule leaves a node alone, asked from the page
    payload.py       one compilation as JSON
"""
