"""Fit, learn, forget, merge: how a model comes to be and changes."""
