"""How answers compare with labels: sums over judged rows, what follows from them, and what a model keeps of it."""
