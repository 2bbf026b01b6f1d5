"""The text of a manifest, a piece at a time: a run may have a hundred thousand places, and is written while it goes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice

from harness.redaction import SecretGuard
from harness.schema.base import Frozen
from harness.schema.run import Manifest, ReceiptLink

__all__ = ["manifest_text"]

#: Rows of a list that are made at once.
_ROWS = 128


def manifest_text(
    manifest: Manifest, receipts: Iterable[ReceiptLink], guard: SecretGuard, where: str
) -> Iterator[bytes]:
    """Sorted keys, two spaces, a final newline; ``receipts`` stand in the place of the manifest's own.

    Raises RedactionError before it gives a piece that holds, or whose start ends, a secret of ``guard``; ``where`` is
    named in the error.
    """
    before = b""
    for text in _pieces(manifest, receipts):
        piece = text.encode("ascii")
        guard.check(before + piece, where)
        yield piece
        before = piece


def _pieces(manifest: Manifest, receipts: Iterable[ReceiptLink]) -> Iterator[str]:
    bare = manifest.model_copy(update={"plan": (), "receipts": ()}).model_dump(mode="json")
    lists: dict[str, Iterable[Frozen]] = {'  "plan": []': manifest.plan, '  "receipts": []': receipts}
    for line in json.dumps(bare, indent=2, sort_keys=True).split("\n"):
        rows = lists.get(line.removesuffix(","))
        if rows is None:
            yield line + "\n"
        else:
            yield from _list(line, iter(rows))


def _list(line: str, rows: Iterator[Frozen]) -> Iterator[str]:
    """The line of an empty list with ``rows`` in it."""
    head, _, tail = line.partition("]")
    lead = head + "\n"
    while some := list(islice(rows, _ROWS)):
        yield lead + ",\n".join(map(_row, some))
        lead = ",\n"
    yield f"{line}\n" if lead != ",\n" else f"\n  ]{tail}\n"


def _row(value: Frozen) -> str:
    text = json.dumps(value.model_dump(mode="json"), indent=2, sort_keys=True)
    return "    " + text.replace("\n", "\n    ")
