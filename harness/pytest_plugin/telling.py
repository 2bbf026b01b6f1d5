"""How a receipt differs from its snapshot, in words and within the columns of the terminal."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from harness import recording
from harness.pytest_plugin import comparing
from harness.schema.receipt import Receipt
from harness.schema.recording import Drift, RerecordSpec

__all__ = ["differing", "near", "quoted", "stale"]

_NARROWEST: Final = 20


def stale(receipt: Receipt, drifts: Sequence[Drift], again: RerecordSpec | None, width: int = 80) -> tuple[str, ...]:
    """Why the recording that was played no longer fits, causes first, and what records it anew."""
    lines = [*_wrapped(f"{_who(receipt)}: the recording is stale and proves nothing until it is recorded anew", width)]
    lines += recording.tell(drifts or recording.drifts_in(receipt.findings), width)
    commands = () if again is None else recording.commands([again])
    return (*lines, *(f"to record anew: {_plain(line)}" for line in commands))


def differing(
    kept: bytes | None, got: Receipt, *, problem: str | None, parts: Sequence[str] = (), width: int = 80
) -> tuple[str, ...]:
    """What the snapshot expected and what came; ``kept`` is its file, ``problem`` what the run log says.

    ``parts`` are those of the scenario that are known to have changed since.
    """
    told = [_who(got)]
    if problem is not None:
        told.append(f"problem: {problem}")
    if kept is None:
        told += [f"there is no snapshot yet; got {comparing.verdict(got)}", *comparing.played(got)]
    else:
        expected = _read(kept)
        told += (
            [expected, f"got {comparing.verdict(got)}"]
            if isinstance(expected, str)
            else comparing.compared(expected, got, parts)
        )
    return tuple(line for text in told for line in _wrapped(text, width))


def near(path: Path, root: Path) -> str:
    """A path as it is known from ``root``, where it lies there."""
    return _plain(str(path.relative_to(root) if path.is_relative_to(root) else path))


def quoted(nodeid: str) -> str:
    """A test's id as a shell takes it."""
    return shlex.quote(_plain(nodeid))


def _read(kept: bytes) -> Receipt | str:
    try:
        json.loads(kept, parse_constant=_refuse)
        return Receipt.model_validate_json(kept)
    except ValidationError as error:
        where = "/".join(str(part) for part in error.errors(include_input=False)[0]["loc"])
        return f"the snapshot is no receipt of this version of harness: /{where}"
    except ValueError as error:
        reason = str(error) if isinstance(error, _NotFiniteError) else "it cannot be read"
        return f"the snapshot is no strict JSON: {reason}"


class _NotFiniteError(ValueError):
    """A number that JSON has not."""


def _refuse(name: str) -> float:
    raise _NotFiniteError(f"it holds {name}")


def _who(receipt: Receipt) -> str:
    return f"scenario {receipt.scenario}, actor {receipt.actor.ref}"


def _plain(text: str) -> str:
    """Without characters that act on a terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of so many columns; a path, a pointer or a digest is never broken."""
    room = max(width, _NARROWEST)
    return textwrap.wrap(_plain(text), room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
