"""Questions to a compilation: is it right, where not, why not, and what did other passes do."""
