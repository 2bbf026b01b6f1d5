"""The temporary world of one episode: made, filled, fingerprinted, hidden behind placeholders, removed."""

from harness.workspace.fingerprint import Fingerprinter, diff, take
from harness.workspace.placeholders import Placeholders
from harness.workspace.populate import populate
from harness.workspace.reservation import Workspace, reserve, sweep
from harness.workspace.surroundings import shortage

__all__ = ["Fingerprinter", "Placeholders", "Workspace", "diff", "populate", "reserve", "shortage", "sweep", "take"]
