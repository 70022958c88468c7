"""Trials in the everyday run: a few hundred seeds, and the planted bugs that are found soon. `make sim` does more."""
