"""What surrounds the loop: plans, seeds, starts, chains, threads, progress."""
