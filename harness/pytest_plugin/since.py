"""Which parts of a scenario changed since a snapshot was written, where a recording of that time knows."""

from __future__ import annotations

import json
from contextlib import suppress

from harness import recording, wiring
from harness.errors import HarnessError
from harness.schema.recording import RecordingHeader
from harness.schema.scenario import LoadedScenario

__all__ = ["changed_since"]


def changed_since(place: wiring.Settings, loaded: LoadedScenario, kept: bytes | None) -> tuple[str, ...]:
    """Their names in words; none where no recording is of the scenario that the snapshot ``kept`` is of.

    A snapshot holds one digest over the scenario. A recording that was made of the same scenario holds its parts.
    """
    wanted = _scenario_digest(kept)
    if wanted is None or wanted == loaded.digest:
        return ()
    header = next((one for one in _headers(place, loaded) if one.scenario_digest == wanted), None)
    return () if header is None else recording.part_names(recording.changed_parts(header, loaded).values())


def _scenario_digest(kept: bytes | None) -> str | None:
    try:
        receipt: object = json.loads(kept or b"null")
    except ValueError:
        return None
    found: object = receipt.get("scenario_digest") if isinstance(receipt, dict) else None
    return found if isinstance(found, str) else None


def _headers(place: wiring.Settings, loaded: LoadedScenario) -> list[RecordingHeader]:
    found: list[RecordingHeader] = []
    for folder in wiring.recording_folders(place):
        for path in recording.find(folder, loaded.scenario.id):
            with suppress(HarnessError):
                found.append(recording.header_of(path))
    return found
