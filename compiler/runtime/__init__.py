"""Running compiled kernels: one foreign call for many of them, shared out over the cores."""
