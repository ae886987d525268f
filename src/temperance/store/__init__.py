"""Where the rows of a run are kept: in memory, so far."""
