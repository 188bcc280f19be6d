"""How a source becomes a summary, and rows become answers: a protocol and one file for each engine."""
