"""The playground: one kernel with choices of one's own, tried, timed, and seen through a cache."""
