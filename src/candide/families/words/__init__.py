"""How texts become terms: which characters make words, how they are cut, counted and weighed."""
