"""Wire dialects, one file each: a pure codec both ways. ``_http`` sends, and what it sends through is beside it."""
