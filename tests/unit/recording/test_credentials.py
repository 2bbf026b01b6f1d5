from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
from cassettes import CHAT, exchange, written

from harness.recording.cassette import read_cassette
from harness.recording.credentials import credentials_in

KEY = "sk-canary-0123456789"


def found(tmp_path: Path, url: str = CHAT, sent: dict[str, str] | None = None) -> tuple[str, ...]:
    return credentials_in(read_cassette(written(tmp_path / "a.yaml", exchange(url, sent=sent))))


@pytest.mark.parametrize(
    "name",
    [
        *("authorization", "Authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "apikey"),
        *("x-auth", "x-amz-security-token", "x-access-token", "Ocp-Apim-Subscription-Key", "x-client-secret"),
    ],
)
@pytest.mark.parametrize("scheme", ["", "Bearer ", "bearer  "])
def test_headers_that_open_something_are_known_by_their_names(tmp_path: Path, name: str, scheme: str) -> None:
    assert found(tmp_path, sent={name: f"{scheme}{KEY}"}) == (KEY,)


@pytest.mark.parametrize("name", ["content-type", "x-request-id", "anthropic-version", "x-ratelimit-remaining-tokens"])
def test_other_headers_are_no_secrets(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, sent={name: KEY}) == ()


def test_a_name_and_a_password_are_both_kept_out(tmp_path: Path) -> None:
    both = b64encode(f"me:{KEY}".encode()).decode()
    assert found(tmp_path, sent={"authorization": f"Basic {both}"}) == (both, KEY)
    assert found(tmp_path, sent={"authorization": "Basic a"}) == ("a",)


def test_cookies_are_known_by_their_value(tmp_path: Path) -> None:
    assert found(tmp_path, sent={"cookie": f"session={KEY}; path=/"}) == (KEY,)


def test_addresses_are_looked_into(tmp_path: Path) -> None:
    assert found(tmp_path, f"{CHAT}?alt=sse&key={KEY}&api_key=other-key&a=b") == (KEY, "other-key")
    assert found(tmp_path, f"https://me:{KEY}@host.example/v1/messages") == (KEY,)
    assert found(tmp_path, f"https://[broken?key={KEY}") == ()


def test_each_is_given_once_and_empty_ones_are_not(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.yaml", exchange(sent={"x-api-key": KEY}), exchange(f"{CHAT}?key={KEY}", sent={"api-key": ""})
    )
    assert credentials_in(read_cassette(path)) == (KEY,)
