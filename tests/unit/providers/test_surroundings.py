"""Variables of the environment that no request can be made with are named, and never shown."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from harness.errors import EnvironmentProblem
from harness.providers import _http
from harness.providers._surroundings import bundle_of, problem_of


@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
@pytest.mark.parametrize(
    "value",
    [
        "socks5://u:canary@h:1",
        "ftp://canary",
        "http://[",
        "http://",
        "h:99999999",
        "http://canary h:1",
        "h\u00e9",
        "h:0",
    ],
)
def test_a_proxy_that_cannot_be_used_is_named_and_not_shown(name: str, value: str) -> None:
    told = problem_of({name: value})
    assert told is not None
    assert f"variable {name} names no proxy" in told
    assert "canary" not in told


@pytest.mark.parametrize("value", ["", "http://h:1", "https://u:p@h", "h", "127.0.0.1:8080", "http://[::1]:8080"])
def test_a_proxy_that_can_be_used_is_no_problem(value: str) -> None:
    assert problem_of({"all_proxy": value, "ALL_PROXY": "ftp://not-looked-at"}) is None


def test_certificates_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("none")
    for variables in (
        {"SSL_CERT_FILE": str(tmp_path / "none")},
        {"SSL_CERT_FILE": str(tmp_path / "no.pem")},
        {"SSL_CERT_FILE": str(tmp_path)},
        {"SSL_CERT_DIR": str(tmp_path / "none")},
        {"REQUESTS_CA_BUNDLE": str(tmp_path / "none")},
        {"CURL_CA_BUNDLE": str(tmp_path / "no.pem")},
    ):
        assert f"variable {next(iter(variables))} names no" in (problem_of(variables) or "")
    assert problem_of({"SSL_CERT_DIR": str(tmp_path)}) is None
    assert problem_of({}) is None
    # another one goes before it, so it is not read
    assert problem_of({"SSL_CERT_DIR": str(tmp_path), "REQUESTS_CA_BUNDLE": str(tmp_path / "none")}) is None


def test_the_bundle_of_other_tools_is_read_where_nothing_goes_before_it(tmp_path: Path) -> None:
    requests, curl = {"REQUESTS_CA_BUNDLE": "a"}, {"CURL_CA_BUNDLE": "b"}
    assert bundle_of({}) is None
    assert bundle_of({"REQUESTS_CA_BUNDLE": "", **curl}) == "b"
    assert bundle_of({**requests, **curl}) == "a"
    assert bundle_of({**requests, "SSL_CERT_FILE": "c"}) is None
    assert bundle_of({**curl, "SSL_CERT_DIR": "d"}) is None
    assert problem_of({"REQUESTS_CA_BUNDLE": str(tmp_path)}) is None


@pytest.mark.parametrize(
    "error", [ValueError("canary"), ImportError("canary"), OSError("canary"), httpx.InvalidURL("canary")]
)
def test_a_client_that_cannot_be_made_is_no_bug(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(httpx.Client, "__init__", broken)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    with pytest.raises(EnvironmentProblem, match="proxies or certificates of the environment") as caught:
        _http.HttpTransport()
    assert "canary" not in str(caught.value)
