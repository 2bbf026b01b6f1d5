"""A manifest's text is made in pieces, and is the text of the whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import RedactionError
from harness.receipt.manifest_text import guarded, manifest_pieces, manifest_text, seal_of, sealed
from harness.redaction import SecretGuard
from harness.schema.actor import Provenance
from harness.schema.base import digest_bytes, digest_text
from harness.schema.quarantine import QuarantineEntry
from harness.schema.run import Manifest, PlannedEpisode, ReceiptLink

CANARY = "kanari-kanari-0815"
ASIDE = QuarantineEntry(scenario="demo/*", owner="team-a", reason="flips", expires="2026-12-31")


def planned(number: int, actor: str = "script", provenance: Provenance | None = None) -> PlannedEpisode:
    return PlannedEpisode(scenario="demo/first", actor=actor, plane="loopx==0.4.8", trial=number, provenance=provenance)


def linked(number: int) -> ReceiptLink:
    return ReceiptLink(key=f"key {number}", digest=digest_text(str(number)), chain=digest_text(f"chain {number}"))


@given(plan=st.sampled_from([0, 1, 127, 128, 129, 300]), links=st.sampled_from([0, 1, 2, 128, 257]))
def test_the_pieces_are_the_text_of_the_whole(manifest: Manifest, plan: int, links: int) -> None:
    rows = tuple(planned(number, provenance=None if number % 3 else "live") for number in range(plan))
    chain = tuple(map(linked, range(links)))
    more = {"stopped": ("--max-cost is reached",), "quarantine": (ASIDE,)}
    told = manifest.model_copy(update={"plan": rows, "run_id": '"plan": []\n  "plan": []', **more})
    whole = told.model_copy(update={"receipts": chain}).model_dump(mode="json")
    pieces = list(guarded(manifest_pieces(told, iter(chain)), SecretGuard(), "manifest.json"))
    assert b"".join(pieces).decode("ascii") == json.dumps(whole, indent=2, sort_keys=True) + "\n"
    assert manifest_text(told.model_copy(update={"receipts": chain})) == b"".join(pieces)
    assert max(map(len, pieces)) < 64_000


def test_a_run_that_nothing_stopped_and_nobody_set_aside_has_the_text_that_it_always_had(manifest: Manifest) -> None:
    assert b"stopped" not in manifest_text(manifest)
    assert b"quarantine" not in manifest_text(manifest)
    assert Manifest.model_validate_json(manifest_text(manifest)) == manifest


@pytest.mark.parametrize("place", [0, 126, 127, 128, 299])
def test_no_piece_with_a_secret_is_given(manifest: Manifest, place: int) -> None:
    rows = tuple(planned(number, f"x{CANARY}" if number == place else "script") for number in range(300))
    told = manifest.model_copy(update={"plan": rows})
    given: list[bytes] = []
    with pytest.raises(RedactionError, match=r"manifest\.json"):
        given.extend(guarded(manifest_pieces(told, ()), SecretGuard([CANARY]), "manifest.json"))
    assert CANARY.encode() not in b"".join(given)


def test_a_seal_is_over_all_but_itself(manifest: Manifest) -> None:
    chain = tuple(map(linked, range(3)))
    whole = sealed(manifest.model_copy(update={"receipts": chain, "seal": digest_text("other")}))
    assert whole.seal == seal_of(manifest, iter(chain)) == digest_bytes(manifest_text(sealed_not(whole)))


def sealed_not(manifest: Manifest) -> Manifest:
    return manifest.model_copy(update={"seal": None})
