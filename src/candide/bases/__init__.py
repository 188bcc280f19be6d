"""What families share: the family itself, densities of one number, counts, and bells in many dimensions."""
