"""Where the episodes of a run are played, besides threads of this process."""
