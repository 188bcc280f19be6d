"""One row at a time: learned in place, judged straight from the counts, frozen only when somebody asks."""
