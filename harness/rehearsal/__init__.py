"""A simulated provider on loopback: scripted policies with known rates, latency and faults over real HTTP."""

from harness.rehearsal.policies import bundled, load, rated
from harness.rehearsal.server import Rehearsal
from harness.rehearsal.serving import Serving

__all__ = ["Rehearsal", "Serving", "bundled", "load", "rated"]
