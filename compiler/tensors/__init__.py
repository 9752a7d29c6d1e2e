"""What users write, in layers by noun: each file adds methods to the one before it."""
