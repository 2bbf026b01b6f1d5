"""Recordings by the names that people call them by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.errors import RecordingError, UsageError
from harness.recording.codec import header_of
from harness.recording.files import SUFFIX

__all__ = ["chosen"]

#: How ``recording_path`` calls a recording: what is before the trial is the actor.
_STEM: Final = re.compile(r"(?P<actor>(?P<short>.+?--(?P<model>.+))-[0-9a-f]{8})(?:-on-[a-z0-9.-]+?)?(?:-t[0-9]+)?")


def chosen(paths: Iterable[Path], name: str) -> tuple[Path, ...]:
    """Those of one scenario's recordings that a name means, in their order; none where it means none.

    A name is the id that summaries print, which is the file's name without ``.jsonl``, or something shorter that only
    one actor is called: ``PROVIDER--MODEL``, ``PROVIDER/MODEL``, the model, the actor of ``harness.toml``. Then all
    trials of that actor are meant. Raises UsageError where several actors are called so.
    """
    found = tuple(paths)
    name = name.removesuffix(SUFFIX)
    exact = tuple(path for path in found if path.stem == name)
    if exact:
        return exact
    some = tuple(path for path in found if name in _names(path))
    if len({_actor(path) for path in some}) > 1:
        ids = ", ".join(path.stem for path in some)
        raise UsageError(f"recorded:{name} means several recordings: {ids}; give one of these ids")
    return some


def _actor(path: Path) -> str:
    known = _STEM.fullmatch(path.stem)
    return path.stem if known is None else known["actor"]


def _names(path: Path) -> frozenset[str | None]:
    """All that the actor of a recording is called besides its id; of a damaged one what its file's name tells."""
    known = _STEM.fullmatch(path.stem)
    names: set[str | None] = set() if known is None else {known["actor"], known["short"], known["model"]}
    with suppress(RecordingError):
        actor = header_of(path).actor
        names |= {actor.ref, actor.model, f"{actor.provider}/{actor.model}"}
    return frozenset(names)
