"""Measurements: each a ratio in one run on one machine, never a test."""
