"""Classifiers: what is judged of an episode that is over."""
