"""Reads one command text without running anything: control-plane call, clock, bounded reads, shape."""

from harness.command.parse import BLANKS, parse
from harness.command.profile import FREE_GRAMMARS, GRAMMARS

__all__ = ["BLANKS", "FREE_GRAMMARS", "GRAMMARS", "parse"]
