"""Values that cross a stage or a file boundary: frozen, strict, closed; no I/O."""
