"""What families share: the family itself, densities of one number, counts, and the multivariate normal."""
