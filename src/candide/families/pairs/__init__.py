"""Pairs of columns that speak together: what they say beyond their parts, on a tally of a few bins of each."""
