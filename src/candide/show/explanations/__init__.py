"""Explanations for people: on a terminal, in a browser, and worked out step by step."""
