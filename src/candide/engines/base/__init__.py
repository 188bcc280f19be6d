"""What engines of clusters share: rows that lie elsewhere, passes over them, and what a pass leaves."""
