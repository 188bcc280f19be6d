"""A model on one page: pictures, words and a panel to play with, in a single HTML file that needs nothing else."""
