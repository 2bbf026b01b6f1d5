"""Recordings: nothing secret survives, no byte can change unseen, and what replays is what was recorded."""

from __future__ import annotations

import base64
import gzip
import html
import json
import random
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
import recorded as rec
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import JsonValue

from harness.errors import RecordingError, ReplayMismatchError
from harness.recording import Dress, differences, dump, load, reseal
from harness.redaction import Scrubber, SecretGuard
from harness.redaction.breaks import Unwrapped, unwrapped, unwrapped_bytes

CANARY = "kanari-\"7/ö<&'+z\\x"

Form = Callable[[str], str]

FORMS: dict[str, Form] = {
    "raw": lambda s: s,
    "json": json.dumps,
    "json, UTF-8": lambda s: json.dumps(s, ensure_ascii=False),
    "json in json": lambda s: json.dumps({"a": json.dumps({"b": s})}),
    "json, slashes": lambda s: json.dumps(s).replace("/", "\\/"),
    "every character escaped": lambda s: "".join(f"\\u{ord(c):04x}" for c in s if ord(c) < 0x10000),
    "html": html.escape,
    "html, numbers": lambda s: "".join(f"&#{ord(c)};" for c in s),
    "url": lambda s: quote(s, safe=""),
    "url, lower": lambda s: quote(s, safe="").lower(),
    "form": quote_plus,
    "hex": lambda s: s.encode().hex(),
    "HEX": lambda s: s.encode().hex().upper(),
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64, shifted": lambda s: base64.b64encode(b"u:" + s.encode() + b"tail").decode(),
    "base64, shifted twice": lambda s: base64.urlsafe_b64encode(b"u" + s.encode() + b"tail").decode(),
    "base64 in lines": lambda s: base64.encodebytes(b"x" * 50 + s.encode()).decode(),
    "gzip in base64": lambda s: base64.b64encode(gzip.compress(b"some text " + s.encode())).decode(),
}

secrets = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=24).filter(
    lambda s: len(s.strip()) >= 8
)
around = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
values: st.SearchStrategy[JsonValue] = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8
)
bodies = st.dictionaries(words, values, max_size=3)


@given(secrets, st.sampled_from(sorted(FORMS)), around, around)
def test_no_form_of_a_secret_survives_and_scrubbing_twice_changes_nothing(
    secret: str, form: str, before: str, after: str
) -> None:
    scrubber, guard = Scrubber([secret]), SecretGuard([secret])
    text = before + FORMS[form](secret.strip()) + after
    clean = scrubber.text(text)
    guard.check(clean.encode())
    guard.check(json.dumps({"k": clean}).encode())
    assert secret.strip() not in clean
    assert scrubber.text(clean) == clean
    value: JsonValue = {"a": [text, {text: text}]}
    scrubbed = scrubber.json(value)
    guard.check(json.dumps(scrubbed).encode())
    assert scrubber.json(scrubbed) == scrubbed


BREAKS = {
    "line feed": "\n",
    "carriage return": "\r\n",
    "folded header": "\r\n\t ",
    "blank": " ",
    "line separator": "\u2028",
    "zero width": "\u200b",
    "continued line": "\\\n",
    "quoted printable": "=\r\n",
    "json": "\\n",
    "json in json": "\\\\r\\\\n    ",
    "json, numbered": "\\u000a",
    "continued line in json": "\\\\\\n",
    "url": "%0D%0A",
    "url in url": "%250a",
    "html": "&#10;",
    "html, hexadecimal": "&#xA;",
}
tokens = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=30).filter(
    lambda s: len(unwrapped(s)) >= 8
)


@given(tokens, st.sampled_from(sorted(FORMS)), st.sampled_from(sorted(BREAKS)), st.integers(1, 40), st.integers(0, 9))
def test_no_break_inside_a_secret_hides_it_whatever_its_form(
    secret: str, form: str, name: str, width: int, offset: int
) -> None:
    encoded = FORMS[form](secret)
    broken = BREAKS[name].join(
        [encoded[:offset], *(encoded[at : at + width] for at in range(offset, len(encoded), width))]
    )
    scrubber, guard = Scrubber([secret]), SecretGuard([secret])
    clean = scrubber.text(f"say: {broken} end")
    assert encoded not in clean.replace(BREAKS[name], "")
    assert clean.startswith("say: ")
    assert clean.endswith(" end")
    assert len(clean) < len(f"say: {broken} end")
    guard.check(clean.encode())
    assert scrubber.text(clean) == clean
    value = scrubber.json({"a": [broken, 1], broken: {}})
    guard.check(json.dumps(value).encode())
    assert encoded not in json.dumps(value, ensure_ascii=False).replace(json.dumps(BREAKS[name])[1:-1], "")


@given(tokens, st.sampled_from(sorted(BREAKS)), st.lists(st.integers(0, 60), min_size=1, max_size=4))
def test_no_break_hides_a_secret_that_is_cut_over_strings_too(secret: str, name: str, cuts: list[int]) -> None:
    text = BREAKS[name].join(secret)
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces: list[JsonValue] = [{"text": text[start:end]} for start, end in pairwise(edges)]
    parts = Scrubber([secret]).json(pieces)
    assert isinstance(parts, list)
    joined = "".join(str(part["text"]) for part in parts if isinstance(part, dict))
    assert secret not in joined.replace(BREAKS[name], "")
    SecretGuard([secret]).check(joined.encode())


@given(st.text(st.sampled_from(" \\nrt=%25u0aA&#x;1\n"), max_size=60))
def test_a_text_without_its_breaks_says_where_its_parts_stood(text: str) -> None:
    bare = Unwrapped(text)
    assert bare.text == unwrapped(text)
    for at, letter in enumerate(bare.text):
        start, end = bare.span(at, at + 1)
        assert text[start:end].lstrip("\\") == letter
    assert unwrapped_bytes(text.encode()) == bare.text.encode()


@given(st.lists(secrets, min_size=1, max_size=3), st.lists(st.integers(0, 2) | around, max_size=6))
def test_several_secrets_that_overlap_leave_nothing(known: list[str], parts: list[int | str]) -> None:
    text = "".join(part if isinstance(part, str) else known[part % len(known)] for part in parts)
    clean = Scrubber(known).text(text)
    SecretGuard(known).check(clean.encode())
    assert Scrubber(known).text(clean) == clean


@given(st.sampled_from(sorted(FORMS)), st.lists(st.integers(0, 200), min_size=1, max_size=3), st.booleans())
def test_no_cut_of_a_secret_over_strings_leaves_the_whole_when_joined(form: str, cuts: list[int], stream: bool) -> None:
    assume(form != "json in json")  # cut through, its halves are no JSON: the text between quotes is what is joined
    text = "say " + FORMS[form](CANARY) + " end"
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    scrubber, guard = Scrubber([CANARY]), SecretGuard([CANARY])
    if stream:
        lines = "\n\n".join("data: " + json.dumps({"choices": [{"delta": {"content": piece}}]}) for piece in pieces)
        events = [json.loads(line[6:]) for line in scrubber.text(lines).split("\n") if line]
        joined = "".join(event["choices"][0]["delta"]["content"] for event in events)
    else:
        parts = scrubber.json([{"type": "text", "text": piece} for piece in pieces])
        assert isinstance(parts, list)
        joined = "".join(str(part["text"]) for part in parts if isinstance(part, dict))
    guard.check(joined.encode())
    assert joined.startswith("say ")
    assert joined.endswith(" end") or form.startswith("base64")


@given(values)
def test_what_holds_no_secret_is_not_changed(value: JsonValue) -> None:
    assert Scrubber(["a secret nobody says"]).json(value) == value


@given(bodies, bodies)
def test_a_recording_is_read_as_it_was_written(asked: JsonValue, answered: JsonValue) -> None:
    made = rec.recording([rec.exchange(1, asked, answered)])
    data = dump(made.header, made.exchanges, made.answers)
    assert load(data) == made == reseal(made)
    assert data.isascii()
    assert data.count(b"\n") == 3


SAMPLE = dump(
    rec.header(["/event/id"]),
    [rec.exchange(1, {"a": "é\u2028 1.0", "b": [1, True, None]}, {"reply": "wörd"}), rec.exchange(2, {"a": 2})],
    [],
)


@given(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255))
def test_any_changed_byte_is_found(at: int, byte: int) -> None:
    assume(SAMPLE[at] != byte)
    with pytest.raises(RecordingError):
        load(SAMPLE[:at] + bytes([byte]) + SAMPLE[at + 1 :])


def test_any_flipped_bit_and_any_cut_is_found() -> None:
    for at in range(0, len(SAMPLE), 3):
        with pytest.raises(RecordingError):
            load(SAMPLE[:at] + bytes([SAMPLE[at] ^ 0x20]) + SAMPLE[at + 1 :])
        with pytest.raises(RecordingError):
            load(SAMPLE[:at])


@given(bodies, bodies)
def test_differences_are_empty_for_equal_bodies_only(one: dict[str, JsonValue], other: dict[str, JsonValue]) -> None:
    assert differences(one, one) == ()
    alike = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (differences(one, other) == ()) == alike


def _mutants(value: JsonValue) -> list[JsonValue]:
    """Each leaf changed, each element and member removed, each element doubled."""
    if isinstance(value, dict):
        found: list[JsonValue] = []
        for key, item in value.items():
            rest = {name: other for name, other in value.items() if name != key}
            found += [rest, *({**value, key: mutant} for mutant in _mutants(item))]
        return found
    if isinstance(value, list):
        found = []
        for at, item in enumerate(value):
            found += [[*value[:at], *value[at + 1 :]], [*value[:at], item, *value[at:]]]
            found += [[*value[:at], mutant, *value[at + 1 :]] for mutant in _mutants(item)]
        return found
    return [f"not {value}", None if value is not None else 0]


@given(bodies, st.integers(0, 1000))
def test_every_mutant_of_a_recorded_request_is_refused_and_placed(body: dict[str, JsonValue], seed: int) -> None:
    made = rec.recording([rec.exchange(1, {"fixed": body, "n": 1})])
    mutants = _mutants(made.exchanges[0].request.body)
    for mutant in random.Random(seed).sample(mutants, min(4, len(mutants))):  # noqa: S311  (a choice of examples)
        first = made.exchanges[0]
        request = first.request.model_copy(update={"body": mutant})
        changed = rec.resealed(made, [first.model_copy(update={"request": request})])
        transport, ask = rec.replayed(changed)
        with pytest.raises(ReplayMismatchError, match="nearest is exchange 1"):
            ask({"fixed": body, "n": 1})
        assert transport.replayer.drifts
        assert all(drift.pointer is not None and drift.exchange == 1 for drift in transport.replayer.drifts)


def _replacing(old: str, new: str) -> Form:
    return lambda text: text.replace(old, new)


@given(words, words)
def test_paths_go_both_ways_through_json_in_json(left: str, name: str) -> None:
    assume("{project_root}" not in left + name and "/w" not in left + name)
    for root in ("/w/there", '/w/o"d\\d/ü'):
        dress = Dress(hide=_replacing("/w/here", "{project_root}"), show=_replacing("{project_root}", root))
        arguments = {"command": f"{left} /w/here/{name}"}
        body = {"calls": [{"arguments": json.dumps(arguments)}]}
        kept = dress.response(200, {}, json.dumps(body).encode())
        assert "/w/here" not in json.dumps(kept.model_dump(mode="json"))
        shown = json.loads(dress.answer(kept))
        assert json.loads(shown["calls"][0]["arguments"]) == {"command": f"{left} {root}/{name}"}
