"""Which executor is used where nobody says."""

from __future__ import annotations

import sys
from typing import Final, Literal

__all__ = ["DEFAULT_EXECUTOR"]

#: Warm needs what only Linux gives: everything else runs each call in a fresh process.
DEFAULT_EXECUTOR: Final[Literal["warm", "cold"]] = "warm" if sys.platform == "linux" else "cold"
