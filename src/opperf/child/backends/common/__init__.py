"""What several frameworks have in common beside arrays: threads, values, logs, launches, stacks."""
