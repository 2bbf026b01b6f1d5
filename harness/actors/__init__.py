"""Who takes the turns, one file each."""
