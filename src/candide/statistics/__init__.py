"""What is remembered of rows: few, frozen, and added or subtracted exactly."""
