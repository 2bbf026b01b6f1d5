"""Recordings as conversations: what was new in each request, what was replied, what the control plane answered."""

from harness.transcript.telling import transcript

__all__ = ["transcript"]
