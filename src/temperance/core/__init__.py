"""Algorithm 1, compiled: one file for each phase."""
