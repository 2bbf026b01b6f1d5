"""The text of a manifest, a piece at a time: a run may have a hundred thousand places, and is written while it goes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice

from harness.redaction import SecretGuard
from harness.schema.base import Digest, Frozen, encoding
from harness.schema.run import Manifest, ReceiptLink

__all__ = ["guarded", "manifest_pieces", "manifest_text", "seal_of", "sealed"]

#: Rows of a list that are made at once.
_ROWS = 128
#: The fields of a row, one a line: none of them holds other values. The encoder that indents is far slower.
_fields = encoding(separators=(",\n      ", ": "))


def manifest_text(manifest: Manifest) -> bytes:
    """The bytes of ``manifest.json``: sorted keys, two spaces, a final newline, all ASCII."""
    return b"".join(manifest_pieces(manifest, manifest.receipts))


def sealed(manifest: Manifest) -> Manifest:
    """The manifest with its seal."""
    return manifest.model_copy(update={"seal": seal_of(manifest, manifest.receipts)})


def seal_of(manifest: Manifest, receipts: Iterable[ReceiptLink]) -> Digest:
    """The digest of the manifest with an empty seal, and with ``receipts`` in the place of its own."""
    seen = sha256()
    for piece in manifest_pieces(manifest.model_copy(update={"seal": None}), receipts):
        seen.update(piece)
    return f"sha256:{seen.hexdigest()}"


def guarded(pieces: Iterable[bytes], guard: SecretGuard, where: str) -> Iterator[bytes]:
    """The same pieces. Raises RedactionError before one that holds, or whose start ends, a secret; names ``where``."""
    before = b""
    for piece in pieces:
        guard.check(before + piece, where)
        yield piece
        before = piece


def manifest_pieces(manifest: Manifest, receipts: Iterable[ReceiptLink]) -> Iterator[bytes]:
    """The bytes of the manifest with ``receipts`` in the place of its own, in order."""
    bare = manifest.model_copy(update={"plan": (), "receipts": ()}).model_dump(mode="json")
    for name in ("stopped", "quarantine"):
        if not bare[name]:
            del bare[name]  # as of runs that were written before it could be told
    lists: dict[str, Iterable[Frozen]] = {'  "plan": []': manifest.plan, '  "receipts": []': receipts}
    for line in json.dumps(bare, indent=2, sort_keys=True).split("\n"):
        rows = lists.get(line.removesuffix(","))
        for text in (line + "\n",) if rows is None else _list(line, iter(rows)):
            yield text.encode("ascii")


def _list(line: str, rows: Iterator[Frozen]) -> Iterator[str]:
    """The line of an empty list with ``rows`` in it."""
    head, _, tail = line.partition("]")
    lead = head + "\n"
    while some := list(islice(rows, _ROWS)):
        yield lead + ",\n".join(map(_row, some))
        lead = ",\n"
    yield f"{line}\n" if lead != ",\n" else f"\n  ]{tail}\n"


def _row(value: Frozen) -> str:
    return f"    {{\n      {_fields(value.model_dump(mode='json'))[1:-1]}\n    }}"
