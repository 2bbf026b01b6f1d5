"""Where syrupy keeps a receipt: one file for each scenario and actor, named after the actor."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from syrupy.data import SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

__all__ = ["ReceiptSnapshot", "file_name"]


def file_name(actor: str) -> str:
    """The file of an actor's snapshot; all its trials share it.

    ``script:reference`` is ``script-reference.json``; what no file name should hold is percent-encoded.
    """
    head, _, rest = actor.partition(":")
    return f"{head}-{quote(rest, safe='')}.json"


class ReceiptSnapshot(SingleFileSnapshotExtension):
    """The canonical text of a receipt, byte for byte."""

    file_extension = "json"

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        """The file's name without its ending."""
        del index
        return file_name(str(getattr(test_location.item, "actor", test_location.testname))).removesuffix(".json")

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """The folder that a scenario's test names; what syrupy would take for any other test."""
        own = getattr(test_location.item, "snapshots", None)
        return str(own) if isinstance(own, Path) else super().dirname(test_location=test_location)

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        """None: what is unused is found by comparing with the scenarios on disk, which only the controller may do."""
        del test_location, ignore_extensions
        return SnapshotCollections()
