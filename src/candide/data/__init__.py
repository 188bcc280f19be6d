"""What rows are: batches, values, times, the words for people, errors, and the metrics of answers."""
