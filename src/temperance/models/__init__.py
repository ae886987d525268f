"""Models: what is sampled, with all that is known about it, from whatever a user has."""
