"""How one command is run: ``process`` (cold), ``warm`` (forked from a prepared interpreter), ``shadow`` (both)."""
