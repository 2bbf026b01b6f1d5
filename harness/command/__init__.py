"""Reads one command text without running anything: control-plane call, clock, bounded reads, shape."""

from harness.command.parse import BLANKS, parse
from harness.command.profile import GRAMMARS

__all__ = ["BLANKS", "GRAMMARS", "parse"]
