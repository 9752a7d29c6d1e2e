"""Questions to a compilation: is it right, where not, why not, and what did other passes do.

In order: each imports only what stands before it.

    acted_on.py         the loops and memory that one choice of a loop pass acted on
    sums.py             how far a sum of floats may be off
    ties.py             where a comparison of values with their own maximum can turn
    rounding.py         how far right results may be from those of the reference, by rounding alone
    checking.py         a stage of a compilation on its inputs
    interpreted.py      a program run on the interpreter of one of its stages
    as_run.py           a program run as users run it, and by the steps that lead there
    check_passes.py     what each pass leaves runs, and is held against what is right
    check_transfers.py  whether each transfer of a program brings what a copy of the graph means
    bisect.py           the first pass that makes a program wrong, and its first wrong rewrite
    check_elsewhere.py  stages run on the workers of a cluster, each a row of a check
    check.py            every stage runs on the same inputs and is held against the graph
    why_not.py          why a rule does not match a node
    matched.py          what a rule bound when it made a rewrite, and how long it takes
    measurement.py      how long one run takes, item by item, with the estimates
    worker_rounds.py    a program for the workers of a cluster is run a few times, and timed there
    measure.py          a program is run a few times, every item of its schedule timed
    sampling.py         where in its machine code a thread is, asked thousands of times a second
    hot.py              which instructions and blocks of a kernel its time goes to
    spread.py           in which modules of a model the things of every stage are
    by_module.py        what is left of each module at every stage, and what it takes to run
    module_trace.py     one module followed through every stage
    seen.py             what a value inside a kernel was, over all the times that it was computed
    values.py           the value of every node of a program, for a person to look at
    first_nan.py        where values stop being numbers
"""
