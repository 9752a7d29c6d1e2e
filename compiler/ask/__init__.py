"""Questions about a program: checks, errors by rounding, times, modules, unmatched rules.

In order: each imports only what stands before it.

    acted_on.py         the loops and memory that one choice of a loop pass acted on
    sums.py             the error bound of a sum of floats
    ties.py             comparisons of values with their own maximum that can turn by rounding
    rounding.py         the largest difference of right results from the reference, by rounding
    checking.py         a stage of a compilation on its inputs
    interpreted.py      a program run on the interpreter of one of its stages
    as_run.py           a program run as users run it, and by the steps that lead there
    check_passes.py     the program after each pass, compared with the graph
    check_transfers.py  each transfer, compared with the copy of the graph that it is for
    bisect.py           the first pass that makes a program wrong, and its first wrong rewrite
    check_elsewhere.py  stages run on the workers of a cluster, each a row of a check
    check.py            every stage runs on the same inputs and is held against the graph
    why_not.py          the reason why a rule does not match a node
    matched.py          the names that a rule bound in a rewrite, and its time
    measurement.py      the time of one run, item by item, with the estimates
    worker_rounds.py    a program for the workers of a cluster is run a few times, and timed there
    measure.py          a program is run a few times, every item of its schedule timed
    sampling.py         the position of a thread in its machine code, sampled
    hot.py              the share of each instruction and block in a kernel's time
    spread.py           the modules of each entity, at every stage
    by_module.py        nodes, kernels, code and time of each module, at every stage
    module_trace.py     one module followed through every stage
    seen.py             the values that something inside a kernel had, over all iterations
    values.py           the value of every node of a program, for a person to look at
    first_nan.py        the operation that made the first NaN
"""
