"""Stage 5: one kernel as scalar expressions over ranges."""
