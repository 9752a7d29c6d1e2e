"""Stages 3 and 4: the kernel graph, and the schedule of its calls."""
