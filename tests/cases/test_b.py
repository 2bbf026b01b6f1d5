"""Recordings, replay and redaction, as they went wrong elsewhere; each test is named by its case."""

from __future__ import annotations

import base64
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from urllib.parse import unquote

import httpx
import pytest
import recorded as rec
from machine import PATIENCE_S

from harness.errors import ProviderError, RecordingError, ReplayMismatchError, StoreError
from harness.providers._http import HttpTransport
from harness.recording import Dress, RecordingWriter, load, write
from harness.recording.transport import RecordingTransport, ReplayTransport
from harness.redaction import MASK, Scrubber, SecretGuard
from harness.schema.recording import Exchange

SECRET = "sk-FAKE4nR8vT1testWq0"
BASIC = base64.b64encode(f"user:{SECRET}".encode()).decode()
ENCODED = base64.b64encode(SECRET.encode()).decode()
GUARD = SecretGuard([SECRET])
DRESS = Dress(scrubber=Scrubber([SECRET]))
JSON = {"content-type": "application/json"}


def test_b002_a_pruned_recording_is_written_as_clean_as_the_first(tmp_path: Path) -> None:
    headers = {"x-api-key": SECRET, "authorization": f"Bearer {SECRET}"}
    answers = [(200, JSON, b"{}")] * 3
    bodies = [f'{{"m":{n},"note":"{SECRET}"}}'.encode() for n in (1, 2, 3)]
    first, second, third = rec.recorded(answers, bodies, dress=DRESS, headers=headers)
    path = tmp_path / "a.jsonl"
    written = write(path, rec.recording([first, second]), GUARD)
    kept = rec.resealed(written, [written.exchanges[0], third])
    files = [path.read_bytes()]
    again = write(path, kept, GUARD, replace=True)
    files.append(path.read_bytes())
    assert len(again.exchanges) == 2
    assert all(SECRET.encode() not in data and b"x-api-key" not in data for data in files)


B004 = [
    f"Authorization: Basic {BASIC}",
    f"Proxy-Authorization: Basic {BASIC}",
    f"standard {ENCODED}",
    f"urlsafe {base64.urlsafe_b64encode(SECRET.encode()).decode()}",
    f"percent {SECRET.replace('-', '%2D')}",
    "json-escaped " + SECRET.replace("-", "\\u002d"),
    f"https://{SECRET}@git.example.test/r.git",
    f"redis://:{SECRET}@db.example.test:6379",
]


@pytest.mark.parametrize("text", B004)
def test_b004_no_encoded_form_survives(text: str) -> None:
    clean = Scrubber([SECRET]).text(text)
    assert MASK in clean
    for form in (SECRET, BASIC, ENCODED):
        assert form not in clean
    for token in re.findall(r"[A-Za-z0-9+/_=%\\.-]+", clean):
        readings = [unquote(token), token.encode().decode("unicode_escape")]
        if len(token) % 4 == 0:
            readings.append(base64.b64decode(token, altchars=b"-_").decode("latin-1"))
        assert all(SECRET not in reading for reading in readings)


@pytest.mark.parametrize("text", [B004[0], B004[1], B004[6], B004[7], "cookie: session=abcdef; theme=dark"])
def test_b004_credentials_in_headers_and_urls_need_not_be_known(text: str) -> None:
    clean = Scrubber().text(text)
    assert clean == Scrubber().text(clean)
    assert MASK in clean
    assert all(form not in clean for form in (SECRET, BASIC, "abcdef"))


def test_b006_one_placeholder_and_never_one_inside_another() -> None:
    secrets = {"password": "superhidden-one", "type": "hidden-one", "tag": MASK + "xx", "mask": "[masked]"}
    scrubber = Scrubber(secrets)
    first = scrubber.text("leaked superhidden-one token")
    second = scrubber.text("key=hidden-one-ish [masked]")
    assert first == f"leaked {MASK} token"
    assert second == f"key={MASK}-ish {MASK}"
    assert [scrubber.text(text) for text in (first, second)] == [first, second]


def test_b008_secrets_cut_by_chunks_leave_no_half_behind() -> None:
    halves = SECRET[:9], SECRET[9:]
    scrubber = Scrubber([SECRET])

    def event(text: str, index: int = 0) -> str:
        return "data: " + json.dumps({"choices": [{"index": index, "delta": {"content": text}}]})

    lines = [event("your key is " + halves[0]), "", event(halves[1] + " ok"), "", "data: [DONE]", ""]
    clean = scrubber.text("\n".join(lines))
    deltas = [json.loads(line[6:]) for line in clean.split("\n") if line.startswith("data: {")]
    assert "".join(d["choices"][0]["delta"]["content"] for d in deltas) == f"your key is {MASK} ok"
    between = [event(halves[0]), event("other choice", 1), event(halves[1])]
    assert halves[1] not in scrubber.text("\n".join(between))
    chunks = scrubber.json(["...padding...token=" + halves[0], halves[1] + "\n"])
    assert chunks == [f"...padding...token={MASK}", "\n"]


def test_b010_only_declared_parts_may_differ() -> None:
    def asked(root: str, name: str, event: str) -> bytes:
        answer = json.dumps({"event": {"id": event, "at": event}, "wrote": f"{root}/{name}"})
        return json.dumps({"messages": [{"role": "tool", "content": answer}]}).encode()

    def dress(root: str, *volatile: str) -> Dress:
        return Dress(
            hide=lambda text: text.replace(root, "{project_root}"),
            show=lambda text: text.replace("{project_root}", root),
            volatile=volatile,
        )

    then, now = "/private/var/folders/zz/T/run-ab12", "/tmp/run-zz99"  # noqa: S108  (a path in a text)
    volatile = ("/event/id", "/event/at")
    for places, same_matches in ((volatile, True), ((), False)):
        kept = rec.recorded(
            [(200, JSON, b'{"a":"{project_root}"}')],
            [asked(then, "out.txt", "6f1e")],
            dress=dress(then, *places),
        )
        made = rec.recording(kept, volatile=places)
        for name, matches in (("out.txt", same_matches), ("other.txt", False)):
            _, ask = rec.replayed(made, dress(now, *places))
            body = json.loads(asked(now, name, "0b9d"))
            if matches:
                assert json.loads(ask(body)) == {"a": now}
            else:
                with pytest.raises(ReplayMismatchError):
                    ask(body)


def test_b012_equal_requests_are_answered_in_recorded_order_each_once() -> None:
    asked = b'{"q":1}'
    kept = rec.recorded([(429, {"retry-after": "0"}, b"first"), (200, {}, b"second"), (200, {}, b"third")], [asked] * 3)
    transport = ReplayTransport(rec.recording(kept), Dress())
    with httpx.Client(transport=transport) as client:
        answers = [client.post(rec.URL, content=asked, headers=JSON) for _ in range(3)]
        assert [answer.text for answer in answers] == ["first", "second", "third"]
        assert [answer.status_code for answer in answers] == [429, 200, 200]
        assert answers[0].headers["retry-after"] == "0"
        assert transport.replayer.unplayed == ()
        with pytest.raises(ReplayMismatchError, match="more often than it was recorded"):
            client.post(rec.URL, content=asked, headers=JSON)


def test_b014_concurrent_episodes_get_their_own_answers_in_their_own_order() -> None:
    episodes = {
        task: rec.recording([rec.exchange(n, {"task": task, "turn": n}, f"{task}{n}") for n in (1, 2)]) for task in "AB"
    }
    together = Barrier(2, timeout=PATIENCE_S)

    def play(task: str) -> list[str]:
        _, ask = rec.replayed(episodes[task])
        answers = []
        for turn in (1, 2):
            together.wait()
            answers.append(json.loads(ask({"task": task, "turn": turn})))
        return answers

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(play, "BA")) == [["B1", "B2"], ["A1", "A2"]]
    _, ask = rec.replayed(episodes["A"])
    with pytest.raises(ReplayMismatchError, match="not at this point"):
        ask({"task": "A", "turn": 2})


def test_b016_no_encoding_is_offered_that_cannot_be_read_and_none_is_stored_as_text() -> None:
    noise = b"\x8b\x05\x80secret-shaped noise\x03"
    offered: list[str] = []
    kept: list[Exchange] = []

    def serve(request: httpx.Request) -> httpx.Response:
        offered.append(request.headers["accept-encoding"])
        return httpx.Response(200, headers=JSON | {"content-encoding": "br"}, stream=httpx.ByteStream(noise))

    def post(transport: httpx.BaseTransport) -> None:
        http = HttpTransport(transport=transport)
        try:
            http.send(rec.URL, headers=JSON, body=b"{}", deadline_s=5, cancelled=lambda: False)
        finally:
            http.close()

    with pytest.raises(ProviderError, match=r"^bad_response: .* br\b"):
        post(RecordingTransport(httpx.MockTransport(serve), kept.append, Dress()))
    assert offered == ["identity"]
    # the reader refused before it read the body, so there was no whole exchange
    assert kept == []
    exchange = rec.recorded([(200, {"content-encoding": "br"}, b"")], [b"{}"])[0]
    assert (exchange.response.body, exchange.response.headers) == ("", {"content-encoding": "br"})
    with pytest.raises(ProviderError, match=r"^bad_response: .* br\b"):
        post(ReplayTransport(rec.recording([exchange]), Dress()))


B018 = {
    "old_version.jsonl": (b'{"version": 1, "http_interactions": []}', "no recording"),
    "newer_version.jsonl": (b'{"format": 999, "interactions": []}', "format 999 was found, which is newer"),
    "bad_utf8.jsonl": (b'{"format": 1, "x": "\xff"}', "no recording"),
    "empty.jsonl": (b"", "empty"),
    "foreign_tag.jsonl": (b"a: !!python/object/new:x.Y {}", "no recording"),
}


@pytest.mark.parametrize("name", B018)
def test_b018_what_cannot_be_read_is_an_error_and_stays(name: str, tmp_path: Path) -> None:
    data, problem = B018[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=f"{name}.*recording_unreadable: .*{problem}") as caught:
        load(path)
    assert "\n" not in str(caught.value)
    # an empty file is of no format: what is read is told where another one may be the problem
    assert ("recordings of format 1 are read" in str(caught.value)) == bool(data)
    assert caught.value.exit_code == 4
    with pytest.raises(StoreError, match="already"):
        RecordingWriter(path, rec.header(), GUARD)
    with pytest.raises(StoreError, match="already"):
        write(path, rec.recording([]), GUARD)
    assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


def test_b020_characters_that_look_like_line_ends_do_not_cut_a_line() -> None:
    text = "a\u2028b\u2029c\u0085d\u000be\u000ff\u001cg\r\nh"
    made = rec.recording([rec.exchange(1, {"trial": 1, "text": text}, text)])
    from harness.recording import dump

    data = dump(made.header, made.exchanges, made.answers)
    assert len(data.splitlines()) == len(data.decode().splitlines()) == data.count(b"\n") == 3
    assert load(data).exchanges[0].request.body == {"trial": 1, "text": text}
