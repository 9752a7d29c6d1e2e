"""Settings: of a compilation, and of the machine that it is for."""
