"""A search, by measurement, over the loop choices of each kernel of a program."""
