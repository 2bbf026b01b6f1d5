"""The real systems a model drives, one file each."""
