from __future__ import annotations

import base64
import gzip
import json
import zlib

import pytest

from harness.errors import RecordingError
from harness.recording import Dress
from harness.recording.exchanging import BODY_MAX, body_bytes
from harness.redaction import MASK, Scrubber
from harness.schema.recording import RecordedResponse

SECRET = "sk-canary-0123456789"
PLAIN = Dress()
DRESS = Dress(
    hide=lambda text: text.replace("/w/run-1", "{project_root}"),
    show=lambda text: text.replace("{project_root}", "/w/run-2"),
    scrubber=Scrubber([SECRET]),
)


def answer(body: bytes, headers: dict[str, str] | None = None, dress: Dress = DRESS) -> RecordedResponse:
    return dress.response(200, headers or {}, body)


def test_only_harmless_headers_are_kept() -> None:
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {SECRET}",
        "X-Harness-Rehearsal": "scenario=a",
        "Cookie": "a=b",
        "Host": "h",
    }
    assert DRESS.request("POST", "/v1", headers, b"{}").headers == {"content-type": "application/json"}
    back = {"content-type": "text/plain", "retry-after": "3", "x-request-id": "r1", "set-cookie": "a=b", "date": "d"}
    assert answer(b"x", back).headers == {"content-type": "text/plain", "retry-after": "3"}


def test_the_rehearsal_header_is_no_part_of_the_key() -> None:
    with_it = DRESS.request("POST", "/v1", {"x-harness-rehearsal": "turn=1"}, b"{}")
    assert DRESS.key(with_it) == DRESS.key(DRESS.request("POST", "/v1", {}, b"{}"))


def test_paths_and_secrets_leave_bodies_headers_and_path() -> None:
    body = json.dumps({"a": f"/w/run-1/x {SECRET}", SECRET: 1}).encode()
    kept = DRESS.request("POST", f"/v1/{SECRET}", {"content-type": SECRET}, body)
    assert kept.body == {"a": f"{{project_root}}/x {MASK}", MASK: 1}
    assert (kept.path, kept.headers) == (f"/v1/{MASK}", {"content-type": MASK})


def test_a_recorded_path_becomes_the_one_of_this_run() -> None:
    kept = answer(b'{"/w/run-1": ["/w/run-1/a", 1, null]}')
    assert json.loads(DRESS.answer(kept)) == {"/w/run-2": ["/w/run-2/a", 1, None]}


def test_a_text_answer_goes_both_ways() -> None:
    kept = answer("<html>/w/run-1 ü</html>".encode())
    assert (kept.encoding, kept.body) == ("utf-8", "<html>{project_root} ü</html>")
    assert DRESS.answer(kept) == "<html>/w/run-2 ü</html>".encode()


def test_bytes_that_are_no_text_are_kept_without_the_secret() -> None:
    kept = answer(b"\xff" + SECRET.encode())
    assert (kept.encoding, kept.body) == ("base64", base64.b64encode(b"\xff" + MASK.encode()).decode())
    assert DRESS.answer(kept) == b"\xff" + MASK.encode()


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2}',
        "[" * 101 + "]" * 101,
        "[" * 100_000 + "]" * 100_000,
        '{"a": 1',
        "",
    ],
)
def test_what_json_would_not_give_back_is_kept_as_text(text: str) -> None:
    kept = answer(text.encode())
    assert (kept.encoding, kept.body) == ("utf-8", text)
    assert body_bytes(kept) == text.encode()


def test_json_is_given_back_as_the_same_value() -> None:
    text = '{"a": [1, 1.5, -0.0, 1e300, "\\ud800", "\\u2028", {"b": null}], "n": 12345678901234567890}'
    kept = answer(text.encode())
    assert kept.encoding == "json"
    assert json.loads(body_bytes(kept)) == json.loads(text)


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress(b"[1]")), ("X-GZIP", gzip.compress(b"[1]")), ("deflate", zlib.compress(b"[1]"))],
    ids=["gzip", "X-GZIP", "deflate"],
)
def test_a_compressed_answer_is_kept_as_what_it_holds(encoding: str, packed: bytes) -> None:
    kept = answer(packed, {"content-encoding": encoding})
    assert (kept.body, kept.headers) == ([1], {})


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("br", b"noise"), ("gzip", b"no gzip"), ("gzip", gzip.compress(bytes(BODY_MAX + 1), compresslevel=1))],
    ids=["br", "no gzip", "bomb"],
)
def test_an_answer_that_cannot_be_decoded_leaves_its_encoding_and_no_noise(encoding: str, packed: bytes) -> None:
    kept = answer(packed, {"content-encoding": encoding})
    assert (kept.body, kept.encoding, kept.headers) == ("", "base64", {"content-encoding": encoding})
    assert PLAIN.answer(kept) == b""


def test_a_damaged_base64_body_is_one_clear_line() -> None:
    with pytest.raises(RecordingError, match="not the base64"):
        body_bytes(RecordedResponse(status=200, headers={}, body="?", encoding="base64"))


def test_a_path_in_arguments_is_escaped_as_they_are() -> None:
    odd = Dress(show=lambda text: text.replace("{project_root}", '/w/"odd"'))
    kept = answer(json.dumps({"arguments": '{"command": "cd {project_root}"}'}).encode())
    shown = json.loads(odd.answer(kept))
    assert json.loads(shown["arguments"]) == {"command": 'cd /w/"odd"'}
    plain = json.loads(DRESS.answer(kept))
    assert plain == {"arguments": '{"command": "cd /w/run-2"}'}
