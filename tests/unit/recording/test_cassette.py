from __future__ import annotations

import gzip
import json
import sys
import zlib
from base64 import b64encode
from pathlib import Path

import brotli
import pytest
from cassettes import CHAT, exchange, written

from harness.documents import DocumentError
from harness.documents.yaml_values import YamlValue
from harness.recording.cassette import SIZE_MAX, Captured, read_cassette
from harness.recording.inflating import BODY_MAX

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SAID = b'{"choices":[]}'
RAW_DEFLATE = zlib.compressobj(wbits=-zlib.MAX_WBITS)


def packed(data: bytes) -> bytes:
    """The same bytes whenever it is called."""
    return gzip.compress(data, mtime=0)


def one(path: Path) -> Captured:
    (captured,) = read_cassette(path)
    return captured


def answering(tmp_path: Path, response: YamlValue, name: str = "a.yaml") -> Captured:
    return one(written(tmp_path / name, {**exchange(), "response": response}))


def refusal(path: Path) -> str:
    with pytest.raises(DocumentError) as raised:
        read_cassette(path)
    return str(raised.value)


@pytest.mark.parametrize("name", ["a.yaml", "a.yml", "a.json", "a"])
def test_an_exchange_is_read_from_yaml_and_from_json(tmp_path: Path, name: str) -> None:
    path = written(
        tmp_path / name,
        exchange(f"{CHAT}?a=b", {"model": "m"}, {"choices": []}, sent={"X-Api-Key": "k"}, came={"Retry-After": "3"}),
        exchange(method="get", status=429),
    )
    first, second = read_cassette(path)
    assert (first.number, first.method, first.path, first.query) == (1, "POST", "/v1/chat/completions", "a=b")
    assert (json.loads(first.asked), first.asked_headers) == ({"model": "m"}, {"x-api-key": "k"})
    assert (first.status, first.headers, json.loads(first.body)) == (200, {"retry-after": "3"}, {"choices": []})
    assert (second.number, second.method, second.status, second.body, second.unread) == (2, "GET", 429, b"", None)


@pytest.mark.parametrize(
    "body",
    [
        {"body": {"string": SAID.decode()}},
        {"body": {"string": SAID}},
        {"body": {"base64_string": b64encode(SAID).decode()}},
        {"body": SAID.decode()},
        {"body": [SAID[:5], SAID[5:]]},
        {"content": SAID.decode()},
        {"parsed_body": {"choices": []}},
        {"parsed_body": {"choices": []}, "body": {"string": "another"}},
    ],
    ids="-".join,
)
def test_a_body_is_read_in_every_way_it_is_kept(tmp_path: Path, body: dict[str, YamlValue]) -> None:
    kept = answering(tmp_path, {**body, "headers": {}, "status": {"code": 200}})
    assert kept.body == SAID


def test_a_request_is_read_from_what_it_was_parsed_to(tmp_path: Path) -> None:
    request: YamlValue = {"method": "POST", "uri": CHAT, "headers": {}, "parsed_body": {"b": "é", "a": [1, None]}}
    kept = one(written(tmp_path / "a.yaml", {**exchange(), "request": request}))
    assert kept.asked == '{"b":"é","a":[1,null]}'.encode()


@pytest.mark.parametrize("status", [{"code": 201, "message": "x"}, 201], ids=["object", "number"])
def test_a_status_is_an_object_or_a_number(tmp_path: Path, status: YamlValue) -> None:
    assert answering(tmp_path, {"status": status}).status == 201
    assert answering(tmp_path, {"status_code": 201}).status == 201


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", packed(SAID)),
        ("x-gzip", packed(SAID)),
        ("deflate", zlib.compress(SAID)),
        ("Deflate", RAW_DEFLATE.compress(SAID) + RAW_DEFLATE.flush()),
        ("", packed(SAID)),
        ("identity", SAID),
        ("gzip", SAID),
        ("br", brotli.compress(SAID)),
        ("br", SAID),
        ("ZSTD", zstd.compress(SAID)),
        ("zstd", zstd.compress(SAID[:5]) + zstd.compress(SAID[5:])),
        ("zstd", b"data: {}\n\n"),
        ("br", b""),
    ],
    ids=range(13),
)
def test_a_body_is_decompressed_where_that_was_not_done_before(tmp_path: Path, encoding: str, body: bytes) -> None:
    path = written(tmp_path / "a.yaml", exchange(answered=body, came={"Content-Encoding": encoding}))
    kept = one(path)
    assert kept.unread is None
    assert kept.body == (SAID if body and b"data" not in body else body)


def test_a_request_is_decompressed_too(tmp_path: Path) -> None:
    path = written(tmp_path / "a.yaml", exchange(asked=packed(SAID), sent={"content-encoding": "gzip"}))
    assert one(path).asked == SAID


def test_a_request_that_cannot_be_read_is_told_as_that(tmp_path: Path) -> None:
    path = written(tmp_path / "a.yaml", exchange(asked=b"\xff\xfe", sent={"content-encoding": "compress"}))
    assert one(path).unread == "the body of its request is compressed (compress), which is not read"


@pytest.mark.parametrize(
    ("encoding", "body", "why"),
    [
        ("compress", b"\x1f\x9d\x90", "its body is compressed (compress), which is not read"),
        ("br", brotli.compress(SAID * 9)[:-1], "its body is no whole br"),
        ("br", b"\xff\xff", "its body is no whole br"),
        ("br", brotli.compress(bytes(BODY_MAX + 1), quality=0), f"its body is larger than {BODY_MAX} bytes"),
        ("zstd", zstd.compress(SAID * 9)[:-1], "its body is no whole zstd"),
        ("zstd", b"\xff\xff", "its body is no whole zstd"),
        ("zstd", zstd.compress(bytes(BODY_MAX)) + zstd.compress(b"0"), f"its body is larger than {BODY_MAX} bytes"),
        ("gzip", packed(SAID)[:-9], "its body is no whole gzip"),
        ("gzip", b"\xffno gzip", "its body is no whole gzip"),
        ("gzip", packed(bytes(BODY_MAX + 1)), f"its body is larger than {BODY_MAX} bytes"),
    ],
    ids=range(10),
)
def test_a_body_that_cannot_be_read_says_why(tmp_path: Path, encoding: str, body: bytes, why: str) -> None:
    kept = one(written(tmp_path / "a.yaml", exchange(answered=body, came={"content-encoding": encoding})))
    assert (kept.body, kept.unread) == (b"", why)


@pytest.mark.parametrize("encoding", ["br", "zstd"])
def test_without_what_decompresses_it_a_body_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    for name in ("brotli", "backports", "backports.zstd", "compression", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    kept = one(written(tmp_path / "a.yaml", exchange(answered=b"\xff", came={"content-encoding": encoding})))
    told = f"its body is compressed ({encoding}); to read it type: pip install 'behavior-harness[cassettes]'"
    assert kept.unread == told


def test_headers_are_lists_texts_bytes_or_nothing(tmp_path: Path) -> None:
    headers: YamlValue = {"A": ["1", "2"], "B": "3", "C": [b"\xe9"], "D": [], "E": None, "F": 7, "a": ["later"]}
    kept = answering(tmp_path, {"status": {"code": 200}, "headers": headers})
    assert kept.headers == {"a": "1", "b": "3", "c": "é", "d": "", "e": "", "f": "7"}


def test_an_address_that_is_none_has_a_path_without_its_query(tmp_path: Path) -> None:
    kept = one(written(tmp_path / "a.yaml", exchange("https://[broken/v1/messages?key=secret")))
    assert (kept.path, kept.query) == ("https://[broken/v1/messages", "")


def test_no_key_is_shown_by_what_was_read(tmp_path: Path) -> None:
    key = "sk-canary-0123456789"
    path = written(tmp_path / "a.yaml", exchange(f"{CHAT}?key={key}", key, key, sent={"a": key}, came={"b": key}))
    assert key not in repr(one(path))


WRONG: list[tuple[YamlValue, str]] = [
    (None, "interaction 1 holds no request"),
    ({"request": {}}, "interaction 1 holds no response"),
    ({**exchange(), "request": {"uri": CHAT}}, "the method of interaction 1 is no text"),
    ({**exchange(), "request": {"method": "POST", "uri": 5}}, "the uri of interaction 1 is no text"),
    ({**exchange(), "response": {"status": {"code": "200"}}}, "the status of interaction 1 is no HTTP status"),
    ({**exchange(), "response": {"status": {"code": 7}}}, "the status of interaction 1 is no HTTP status"),
    ({**exchange(), "response": {"status": True}}, "the status of interaction 1 is no HTTP status"),
    ({**exchange(), "response": {"status": 200, "body": 5}}, "a body of interaction 1 is neither text nor bytes"),
    (
        {**exchange(), "response": {"status": 200, "parsed_body": [b"a"]}},
        "the parsed_body of interaction 1 holds bytes",
    ),
    (
        {**exchange(), "response": {"status": 200, "body": {"base64_string": "a"}}},
        "base64_string of interaction 1 is no",
    ),
]


@pytest.mark.parametrize(("interaction", "problem"), WRONG)
def test_what_is_no_exchange_is_told_with_its_place(tmp_path: Path, interaction: YamlValue, problem: str) -> None:
    told = refusal(written(tmp_path / "a.yaml", interaction))
    assert told.startswith("is no vcrpy cassette: ")
    assert problem in told


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no vcrpy cassette: it holds no list of interactions"),
        ("a: 1", "is no vcrpy cassette: it holds no list of interactions"),
        ("[]", "is no vcrpy cassette: it holds no list of interactions"),
        ("interactions: 5", "is no vcrpy cassette: it holds no list of interactions"),
        ("- request: {}\n  response: {}", "is a cassette of vcrpy before 1.0, which is not read; record it anew"),
        ("interactions: []\ninteractions: []", "the key 'interactions' is given twice"),
        ('{"interactions": [], "interactions": []}', "the key 'interactions' is given twice"),
        ('{"interactions": [', "is no JSON: Expecting value"),
    ],
)
def test_what_is_no_cassette_is_told(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    assert refusal(path) == problem


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    assert refusal(tmp_path / "gone").startswith("cannot be read: ")
    (tmp_path / "odd").write_bytes(b"a: \xff")
    assert refusal(tmp_path / "odd") == "is no UTF-8 text"
    with (tmp_path / "large").open("wb") as file:
        file.truncate(SIZE_MAX + 1)
    assert refusal(tmp_path / "large") == "is too large"


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    for name in ("a.yaml", "a.json"):
        path = written(tmp_path / name, exchange())
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        assert one(path).url == CHAT


def test_a_cassette_without_exchanges_holds_none(tmp_path: Path) -> None:
    assert read_cassette(written(tmp_path / "a.yaml")) == ()
