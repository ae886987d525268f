"""What runs the segments of chains: threads of this process, so far."""
