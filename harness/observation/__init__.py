"""What an actor is shown of a text: how much of it, where the rest is kept, and how it reads on."""

from harness.observation.artifacts import FOLDER, PATH_MAX, ArtifactFolder, Refusal, artifact_path
from harness.observation.batching import Batch
from harness.observation.bounding import Room, Shown, bound, bound_error, exceeds
from harness.observation.cursor import CursorFault, issue, resolve
from harness.observation.measuring import Measured, Span

__all__ = [
    "FOLDER",
    "PATH_MAX",
    "ArtifactFolder",
    "Batch",
    "CursorFault",
    "Measured",
    "Refusal",
    "Room",
    "Shown",
    "Span",
    "artifact_path",
    "bound",
    "bound_error",
    "exceeds",
    "issue",
    "resolve",
]
