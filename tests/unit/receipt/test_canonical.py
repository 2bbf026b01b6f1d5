from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256

import pytest

from harness.receipt import canonical, digest, line
from harness.receipt.canonical import link
from harness.schema.actor import ActorIdentity
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeResult


@pytest.fixture
def receipt(make_result: Callable[[int], EpisodeResult]) -> Receipt:
    return make_result(0).receipt


def test_both_texts_give_the_receipt_back(receipt: Receipt) -> None:
    assert Receipt.model_validate_json(canonical(receipt)) == receipt
    assert Receipt.model_validate_json(line(receipt)) == receipt


def test_the_snapshot_text_has_sorted_keys_two_spaces_and_a_final_newline(receipt: Receipt) -> None:
    text = canonical(receipt)
    keys = [row.strip().split('"')[1] for row in text.splitlines() if row.startswith('  "')]
    assert keys == sorted(keys)
    assert text.startswith('{\n  "actor": {\n    "')
    assert text.endswith("}\n")


def test_a_line_is_one_line_to_every_reader(receipt: Receipt) -> None:
    odd = receipt.model_copy(update={"actor": ActorIdentity(ref="a\u2028b\u0085é\ud800", kind="script", digest="")})
    assert line(odd).isascii()
    assert len(line(odd).splitlines()) == 1
    assert len(line(odd)) < len(canonical(odd))


def test_the_digest_is_that_of_the_line_and_changes_with_the_receipt(receipt: Receipt) -> None:
    assert digest(receipt) == "sha256:" + sha256(line(receipt).encode()).hexdigest()
    assert digest(receipt) != digest(receipt.model_copy(update={"trial": 2}))


def test_the_text_does_not_depend_on_the_order_of_dictionaries(receipt: Receipt) -> None:
    fields = json.loads(line(receipt))
    turned = Receipt.model_validate_json(json.dumps(dict(reversed(list(fields.items())))))
    assert canonical(turned) == canonical(receipt)


def test_the_chain_depends_on_everything_before() -> None:
    first, other = link(None, "k1", "sha256:1"), link(None, "k1", "sha256:2")
    assert link(first, "k2", "sha256:3").chain != link(other, "k2", "sha256:3").chain
    assert first.chain == "sha256:" + sha256(b" sha256:1").hexdigest()
