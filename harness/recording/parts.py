"""Which parts of a scenario are not what they were when a recording was made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from harness import redaction
from harness.recording.matching import LINE, place_of
from harness.schema.recording import Drift, RecordingHeader
from harness.schema.scenario import LoadedScenario

__all__ = ["ORDER", "PARTS", "changed_parts"]

#: Where pointers begin that name a part of the scenario.
PARTS: Final = f"{LINE}/parts"
#: The part that is the order of the kinds.
ORDER: Final = "kind[]"


def changed_parts(header: RecordingHeader, loaded: LoadedScenario) -> dict[str, Drift]:
    """One drift for each part of the scenario that changed, came or went, by its dotted key.

    None for a recording that was written without parts, or a scenario that was not read from a file.
    """
    before, now = header.parts, loaded.parts
    if before is None or not now:
        return {}
    names = {name: None for name in (*before, *now) if before.get(name) != now.get(name)}
    if _kinds(before) != _kinds(now):
        # kinds that came or went are told; that the others stand elsewhere now follows
        names.pop(ORDER, None)
    return {
        name: Drift(
            stale="scenario",
            pointer=f"{PARTS}{place_of([name])}",
            recorded=None if name in before else redaction.missing(),
            now=None if name in now else redaction.missing(),
        )
        for name in names
    }


def _kinds(parts: Iterable[str]) -> set[str]:
    return {name.partition("].")[0] for name in parts if name.startswith("kind[") and name != ORDER}
