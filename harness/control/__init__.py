"""What an actor says about its own episode: read by closed schemas, held against what really happened. Pure."""

from harness.control.claims import Claim, read_claim
from harness.control.evidence import unsupported
from harness.control.offering import control_tools

__all__ = ["Claim", "control_tools", "read_claim", "unsupported"]
