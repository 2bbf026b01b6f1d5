"""Renderings of a run: one file each, found by its name."""
