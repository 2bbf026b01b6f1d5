"""The temporary world of one episode: made, filled, fingerprinted, hidden behind placeholders, removed."""

from harness.workspace.fingerprint import Fingerprinter, diff, take
from harness.workspace.git_reading import NAMES_OF_FILTERS, git_environment, kept_outside
from harness.workspace.placeholders import Placeholders
from harness.workspace.populate import populate
from harness.workspace.removal import remove_tree
from harness.workspace.removing import Left, Removals
from harness.workspace.reservation import Workspace, reserve, sweep
from harness.workspace.snapshot import restore, save, unreadable
from harness.workspace.surroundings import shortage

__all__ = [
    "NAMES_OF_FILTERS",
    "Fingerprinter",
    "Left",
    "Placeholders",
    "Removals",
    "Workspace",
    "diff",
    "git_environment",
    "kept_outside",
    "populate",
    "remove_tree",
    "reserve",
    "restore",
    "save",
    "shortage",
    "sweep",
    "take",
    "unreadable",
]
