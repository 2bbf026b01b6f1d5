"""Wire dialects, one file each: a pure codec both ways. ``_http`` is the only room with a network."""
