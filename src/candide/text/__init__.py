"""Text: how it is cut into words, which characters words are made of, and what words become."""
