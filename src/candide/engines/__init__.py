"""How rows become a summary: one file an engine, one method each."""
