"""The texts of a receipt: one for people and snapshots, one for files, and the digest that chains them.

All of it is ASCII: a line is one line to every reader (U+2028 splits lines for some), invisible and right-to-left
characters can be seen in a review, and no editor or version control changes the bytes.
"""

from __future__ import annotations

import json

from harness.schema.base import Digest, digest_text, encoding
from harness.schema.receipt import Receipt
from harness.schema.remembering import remembered
from harness.schema.run import ReceiptLink

__all__ = ["canonical", "digest", "line", "link"]


def canonical(receipt: Receipt) -> str:
    """The text that snapshots compare: sorted keys, two spaces, one value a line, a final newline."""
    return json.dumps(receipt.model_dump(mode="json"), sort_keys=True, indent=2, allow_nan=False) + "\n"


_LINE = encoding()


@remembered(16)
def line(receipt: Receipt) -> str:
    """The receipt as one JSON line of ``receipts.jsonl``, without its newline."""
    return _LINE(receipt.model_dump(mode="json"))


def digest(receipt: Receipt) -> Digest:
    """SHA-256 of the receipt's line without its newline, as ``sha256sum`` would say it too."""
    return digest_text(line(receipt))


def link(previous: ReceiptLink | None, key: str, receipt_digest: Digest) -> ReceiptLink:
    """The next link of the chain: its digest is over ``PREVIOUS RECEIPT``, where the first has nothing before it."""
    before = "" if previous is None else previous.chain
    return ReceiptLink(key=key, digest=receipt_digest, chain=digest_text(f"{before} {receipt_digest}"))
