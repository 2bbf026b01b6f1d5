"""How a receipt differs from its snapshot, in words and within 80 columns."""

from __future__ import annotations

import json
import shlex
import textwrap
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from harness import recording
from harness.pytest_plugin import comparing
from harness.schema.receipt import Finding, Receipt
from harness.schema.recording import Drift

__all__ = ["differing", "near", "quoted", "stale"]

_WIDTH: Final = 80


def stale(receipt: Receipt) -> tuple[str, ...]:
    """Why the recording that was played no longer fits, cause by cause."""
    lines = [*_wrapped(f"{_who(receipt)}: the recording is stale and proves nothing until it is recorded anew")]
    for finding in receipt.findings:
        if finding.check == "drift":
            lines += recording.tell(_drift(finding), _WIDTH)
    return (*map(_plain, lines), f"to record anew: harness record {receipt.scenario} --actor ACTOR --stale-only")


def differing(kept: bytes | None, got: Receipt, *, problem: str | None) -> tuple[str, ...]:
    """What the snapshot expected and what came; ``kept`` is its file, ``problem`` what the run log says."""
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
            else comparing.compared(expected, got)
        )
    return tuple(line for text in told for line in _wrapped(text))


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


def _drift(finding: Finding) -> Drift:
    return Drift.model_validate(
        {
            "cause": finding.code.removeprefix("stale_"),
            "step": finding.step,
            "pointer": finding.pointer,
            "recorded": finding.expected,
            "now": finding.got,
        }
    )


def _plain(text: str) -> str:
    """Without characters that act on a terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(_plain(text), _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
