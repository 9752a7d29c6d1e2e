"""Stage 1 and 2: the tensor graph, its passes, and how it is verified, printed and run."""
