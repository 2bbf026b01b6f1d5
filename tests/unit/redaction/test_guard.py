from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest

from harness.errors import RedactionError
from harness.redaction import SecretGuard

CANARY = "kanari-\"7/ö<&'+zx"
WAYS = {
    "raw": CANARY.encode(),
    "json": json.dumps({"k": CANARY}).encode(),
    "json, UTF-8": json.dumps({"k": CANARY}, ensure_ascii=False).encode(),
    "json in json": json.dumps(json.dumps(CANARY)).encode(),
    "json, escaped slash": json.dumps(CANARY).replace("/", "\\/").encode(),
    "html": html.escape(CANARY).encode(),
    "html, numbered quotes": html.escape(CANARY).replace("&quot;", "&#34;").replace("&#x27;", "&#39;").encode(),
    "url": quote(CANARY, safe="").encode(),
    "url, slash kept": quote(CANARY).encode(),
    "url, lower case": quote(CANARY, safe="").lower().encode(),
    "form": quote_plus(CANARY).encode(),
    "every byte percent-encoded": "".join(f"%{byte:02X}" for byte in CANARY.encode()).encode(),
    "hex": CANARY.encode().hex().encode(),
    "HEX": CANARY.encode().hex().upper().encode(),
    "base64": base64.b64encode(CANARY.encode()),
    "base64url": base64.urlsafe_b64encode(CANARY.encode()),
    "base64 after one byte": base64.b64encode(b"x" + CANARY.encode() + b"tail"),
    "base64 after two bytes": base64.b64encode(b"xy" + CANARY.encode() + b"tail"),
    "base64 in lines": base64.encodebytes(b"x" * 50 + CANARY.encode()),
    "base64 in lines in json": json.dumps(base64.encodebytes(b"x" * 50 + CANARY.encode()).decode()).encode(),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_found_in_every_usual_encoding(way: str) -> None:
    with pytest.raises(RedactionError):
        SecretGuard([CANARY]).check(b"before " + WAYS[way] + b" after")


def refuses(guard: SecretGuard, data: bytes) -> bool:
    try:
        guard.check(data)
    except RedactionError:
        return True
    return False


def test_bytes_without_the_secret_pass() -> None:
    guard = SecretGuard([CANARY, "another-secret"])
    data = b'{"schema_version": 1, "scenario": "loopx/capability-repair"}'
    assert [refuses(guard, data), refuses(guard, data + CANARY.encode())] == [False, True]


def test_a_guard_without_secrets_lets_everything_pass() -> None:
    assert [refuses(SecretGuard(), data) for data in (b"anything", CANARY.encode(), b"")] == [False] * 3


def test_the_error_names_the_place_and_neither_secret_nor_data() -> None:
    with pytest.raises(RedactionError, match=r"^receipts\.jsonl: .*nothing was written") as caught:
        SecretGuard([CANARY]).check(b"data " + CANARY.encode(), "receipts.jsonl")
    assert CANARY not in str(caught.value)
    assert "data" not in str(caught.value)


def test_the_guard_never_shows_its_secrets() -> None:
    guard = SecretGuard([CANARY, "another-secret"])
    assert repr(guard) == "SecretGuard(2 secrets)"


def test_secrets_too_short_to_be_told_from_innocent_text_are_left_out_and_counted() -> None:
    guard = SecretGuard(["EMPTY", "seven77", " ", "", CANARY])
    guard.check(b"EMPTY seven77")
    assert guard.ignored == 2


def test_white_space_around_a_secret_does_not_hide_it() -> None:
    with pytest.raises(RedactionError):
        SecretGuard([" twelve-chars\n"]).check(b"key=twelve-chars;")
