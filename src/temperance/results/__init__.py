"""What a run leaves, made readable."""
