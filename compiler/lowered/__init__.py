"""Stage 6: one kernel as linear instructions."""
