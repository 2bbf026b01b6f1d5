"""Final texts that are too large to be told in a line, kept beside the receipts of a run."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import RedactionError
from harness.redaction import SecretGuard
from harness.schema.base import digest_bytes

__all__ = ["OUTPUTS", "keep_output", "named"]

#: The folder of a run for them (0700); each is private (0600) and named by its digest.
OUTPUTS = "outputs"
_DIGITS = 16


def named(data: bytes) -> str:
    """The name of the file that a text is kept in."""
    return digest_bytes(data).removeprefix("sha256:")[:_DIGITS] + ".txt"


def keep_output(run: Path, data: bytes, guard: SecretGuard) -> str | None:
    """Keep a text in the folder of a run; its place below it, None where that could not be done.

    A text that holds a secret is not kept, and nothing that a file system refuses ends an episode.
    """
    name = named(data)
    place = run / OUTPUTS / name
    beside = place.with_name(f".{name}.part")
    try:
        guard.check(data, OUTPUTS)
        place.parent.mkdir(mode=0o700, exist_ok=True)
        beside.unlink(missing_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123  (a descriptor)
            file.write(data)
        beside.replace(place)
    except (OSError, RedactionError):
        return None
    return f"{OUTPUTS}/{name}"
