from __future__ import annotations

import json
from pathlib import Path

import pytest
import recorded as rec

from harness.errors import RecordingError
from harness.recording import Dress, answer_key, dump, header_of, load, request_key, reseal
from harness.recording.codec import Lines
from harness.schema.recording import PlaneAnswer, Seal

ANSWER = PlaneAnswer(step=1, kind="quota", exit_code=0, answer={"go": True}, key=answer_key("quota", 0, {"go": True}))
HEADER = rec.header(["/event/id"])
EXCHANGES = [rec.exchange(1, {"q": 1}, {"a": 1}), rec.exchange(2, {"q": 2}, {"a": 2})]
DATA = dump(HEADER, EXCHANGES, [ANSWER])
LINES = DATA.splitlines(keepends=True)


def refused(data: bytes) -> str:
    with pytest.raises(RecordingError) as caught:
        load(data, "r.jsonl")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_recording_is_a_line_each_and_the_seal_is_last() -> None:
    entries = [json.loads(line)["entry"]["line"] for line in LINES]
    assert entries == ["header", "exchange", "exchange", "answer", "seal"]
    assert json.loads(LINES[-1])["entry"]["lines"] == 4


def test_it_is_read_as_it_was_written() -> None:
    made = load(DATA)
    assert (made.header, list(made.exchanges), list(made.answers)) == (HEADER, EXCHANGES, [ANSWER])
    assert made.digest == json.loads(LINES[-1])["entry"]["digest"]


def test_it_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(DATA)
    assert load(path) == load(DATA)


def test_a_lone_surrogate_survives() -> None:
    made = load(dump(HEADER, [rec.exchange(1, {"q": "\ud800"})], []))
    assert made.exchanges[0].request.body == {"q": "\ud800"}


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"none\.jsonl: recording_unreadable: cannot be read: No such file"):
        load(tmp_path / "none.jsonl")


def test_without_its_seal_it_is_an_interrupted_one() -> None:
    assert "r.jsonl: recording_unreadable: there is no seal" in refused(b"".join(LINES[:-1]))
    assert "there is no seal" in refused(LINES[0])


@pytest.mark.parametrize("number", range(1, 6))
def test_a_line_that_is_gone_doubled_or_moved_is_found(number: int) -> None:
    at = number - 1
    refused(b"".join([*LINES[:at], *LINES[number:]]))
    refused(b"".join([*LINES[:number], LINES[at], *LINES[number:]]))
    refused(b"".join([*LINES[:at], *LINES[number : number + 1], LINES[at], *LINES[number + 1 :]]) + b" ")


def test_something_after_the_seal_is_found() -> None:
    assert "r.jsonl:6: recording_unreadable: something follows the seal" in refused(DATA + b"\n")


def test_a_changed_reply_is_found_in_its_line() -> None:
    assert "r.jsonl:3:" in refused(DATA.replace(b'"a":2', b'"a":3'))


def test_another_spelling_of_the_same_value_is_found() -> None:
    assert "r.jsonl:2:" in refused(DATA.replace(b'"q":1', b'"q": 1'))
    assert "r.jsonl:2:" in refused(DATA.replace(b'"number":1', b'"number":"1"'))


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        (b'{"digest":"x","entry":{"line":"header","format":0}}\n', "format 0 was found, which is older"),
        (b'{"digest":"x","entry":{"line":"header","format":2}}\n', "format 2 was found, which is newer"),
        (b'{"digest":"x","entry":{"line":"exchange"}}\n', "the first line is no header"),
        (b'{"entry":{"line":"header","format":1}}\n', "not one of a recording"),
        (b'{"digest":"x","entry":{"line":"header","format":1}}\n', "does not hold what a recording holds"),
        (b"[1]\n", "the first line is no header"),
        (b"[" * 100_000, "not JSON"),
        (b"---\ninteractions: []\n", "not JSON"),
    ],
)
def test_what_is_no_recording_of_ours_is_told_from_a_damaged_one(first: bytes, problem: str) -> None:
    assert problem in refused(first)


def test_a_damaged_later_line_is_called_damaged() -> None:
    assert "r.jsonl:2: recording_unreadable: the line is damaged" in refused(LINES[0] + b"\xff\n")


def test_no_text_of_a_bad_line_is_told() -> None:
    bad = LINES[0] + b'{"digest":"x","entry":{"line":"exchange","secret":"sk-canary-0123"}}\n'
    assert "canary" not in refused(bad)


def chained(*entries: object) -> bytes:
    lines = Lines()
    written = [lines.line(HEADER)]
    written += [lines.line(entry) for entry in entries]  # type: ignore[arg-type]  # entries out of place are the point
    return b"".join([*written, lines.line(lines.seal())])


def test_well_chained_lines_in_a_wrong_order_are_found() -> None:
    assert "numbered 1, 2, 3" in refused(chained(EXCHANGES[1]))
    assert "a second header" in refused(chained(HEADER))
    assert "the seal is not that" in refused(chained(Seal(lines=7, digest="x")))


def test_a_request_or_answer_that_was_changed_and_sealed_but_not_keyed_anew_is_found() -> None:
    request = EXCHANGES[0].request
    for update in ({"body": {"q": 9}}, {"method": "PUT"}, {"path": "/v2"}):
        altered = EXCHANGES[0].model_copy(update={"request": request.model_copy(update=update)})
        assert "r.jsonl:2: recording_unreadable: the key is not that of the request" in refused(chained(altered))
    for changed in ({"answer": {"go": False}}, {"exit_code": 1}, {"kind": None}):
        answer = ANSWER.model_copy(update=changed)
        problem = "r.jsonl:3: recording_unreadable: the key is not that of the answer"
        assert problem in refused(chained(EXCHANGES[0], answer))
    other = EXCHANGES[0].model_copy(update={"key": EXCHANGES[1].key})
    assert "the key is not that of the request" in refused(chained(other))


def test_a_key_does_not_depend_on_volatile_values() -> None:
    asked = rec.exchange(1, {"text": '{"event":{"id":7,"n":1}}'}, dress=Dress(volatile=["/event/id"]))
    assert load(chained(asked)).exchanges == (asked,)
    assert "the key is not that" in refused(chained(rec.exchange(1, {"text": '{"event":{"id":7,"n":1}}'})))


def test_sealing_anew_numbers_and_keys_what_is_there() -> None:
    made = load(DATA)
    turned = made.model_copy(update={"exchanges": made.exchanges[::-1]})
    changed = ANSWER.model_copy(update={"answer": {"go": False}})
    again = reseal(turned.model_copy(update={"answers": (changed,)}))
    assert [exchange.number for exchange in again.exchanges] == [1, 2]
    assert [exchange.request.body for exchange in again.exchanges] == [{"q": 2}, {"q": 1}]
    assert again.exchanges[0].key == request_key("POST", rec.PATH, {"q": 2})
    assert again.answers[0].key == answer_key("quota", 0, {"go": False}) != ANSWER.key
    assert again.digest != made.digest
    assert load(dump(again.header, again.exchanges, again.answers)) == again


def test_sealing_anew_what_was_not_changed_changes_nothing() -> None:
    assert reseal(load(DATA)) == load(DATA)


def test_the_header_alone_is_read_without_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES[0] + b"damaged")
    assert header_of(path) == HEADER
    with pytest.raises(RecordingError, match=r"none\.jsonl: recording_unreadable: cannot be read"):
        header_of(tmp_path / "none.jsonl")
    path.write_bytes(LINES[1])
    with pytest.raises(RecordingError, match=r"a\.jsonl:1: recording_unreadable: .*no header"):
        header_of(path)


NOTHING = dict.fromkeys(("scenario_digest", "plane", "prompt", "tools", "classifier_version"))


def test_only_what_was_imported_is_of_no_scenario() -> None:
    imported = HEADER.model_copy(update={"provenance": "imported", **NOTHING})
    assert load(dump(imported, EXCHANGES, [])).header == imported
    wrongs: list[dict[str, object]] = [{"provenance": "imported"}, {**NOTHING}]
    wrongs += [{name: None} for name in NOTHING]
    wrongs += [{"provenance": "imported", **NOTHING, name: getattr(HEADER, name)} for name in NOTHING]
    for wrong in wrongs:
        told = refused(dump(HEADER.model_copy(update=wrong), EXCHANGES, []))
        assert "the line does not hold what a recording holds there" in told
