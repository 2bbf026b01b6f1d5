from __future__ import annotations

import base64
import gzip
import json
import time

import pytest
from pydantic import JsonValue

from harness.errors import RedactionError
from harness.redaction import MASK, Scrubber, SecretGuard, changed
from harness.redaction.guard import SECRET_MIN

SECRET = "sk-canary-4nR8vT1testWq0"
SCRUBBER = Scrubber([SECRET])


def test_the_mask_is_shorter_than_any_secret_so_that_none_can_be_in_it() -> None:
    assert len(MASK) < SECRET_MIN


def test_a_secret_is_replaced_where_it_stands_and_nothing_else_is() -> None:
    assert SCRUBBER.text(f"key={SECRET}; rest") == f"key={MASK}; rest"
    assert SCRUBBER.text(f"{SECRET}{SECRET}") == MASK
    assert SCRUBBER.text("nothing to see") == "nothing to see"


def test_a_mapping_gives_its_values() -> None:
    assert Scrubber({"API_KEY": SECRET}).text(f"API_KEY is {SECRET}") == f"API_KEY is {MASK}"


def test_short_secrets_are_left_alone_as_the_guard_leaves_them() -> None:
    assert Scrubber(["none", " seven77 "]).text("none seven77") == "none seven77"


def test_a_scrubber_never_shows_its_secrets() -> None:
    assert repr(SCRUBBER) == "Scrubber(1 secrets)"


def test_what_a_cut_puts_together_is_looked_at_again() -> None:
    scrubber = Scrubber(["abcdefgh", f"xx{MASK}yy"])
    assert scrubber.text("xxabcdefghyy") == MASK


def test_the_whole_run_of_base64_goes_for_its_edges_hold_bits_of_the_secret() -> None:
    run = base64.b64encode(b"user:" + SECRET.encode() + b":more").decode()
    assert SCRUBBER.text(f"({run})") == f"({MASK})"


def test_keys_and_values_of_json_are_scrubbed_and_the_rest_keeps_its_sort() -> None:
    given: JsonValue = {f"k {SECRET}": [SECRET, 1, True, None, 1.5], "b": {"c": f"x{SECRET}"}}
    assert SCRUBBER.json(given) == {f"k {MASK}": [MASK, 1, True, None, 1.5], "b": {"c": f"x{MASK}"}}


def test_a_secret_cut_over_neighbouring_parts_is_found_in_text_that_is_json() -> None:
    text = json.dumps({"parts": [{"text": f"a{SECRET[:7]}"}, {"text": SECRET[7:] + "b"}]}, indent=1)
    assert json.loads(SCRUBBER.text(text)) == {"parts": [{"text": f"a{MASK}"}, {"text": "b"}]}


def test_a_secret_cut_over_three_strings_empties_the_one_between() -> None:
    assert SCRUBBER.json([SECRET[:5], SECRET[5:9], SECRET[9:]]) == [MASK, "", ""]


def test_events_of_a_stream_are_joined_by_their_own_index() -> None:
    events = [
        {"index": 0, "delta": {"text": SECRET[:8]}},
        {"index": 1, "delta": {"text": "between"}},
        {"index": 0, "delta": {"text": SECRET[8:]}},
    ]
    text = "\r\n".join(f"data: {json.dumps(event)}\r\n" for event in events)
    lines = SCRUBBER.text(text).split("\r\n")
    said = [json.loads(line[6:])["delta"]["text"] for line in lines if line]
    assert said == [MASK, "between", ""]


def test_an_event_stream_without_secrets_keeps_every_byte() -> None:
    text = 'event: x\ndata:  {"a" : 1}\n\ndata: [DONE]\ndata: {"broken\n'
    assert SCRUBBER.text(text) == text


def test_gzip_is_looked_into_and_packed_again_only_if_it_changed() -> None:
    dirty, clean = gzip.compress(f"a {SECRET} b".encode()), gzip.compress(b"innocent")
    assert gzip.decompress(SCRUBBER.data(dirty)) == f"a {MASK} b".encode()
    assert SCRUBBER.data(clean) == clean
    assert SCRUBBER.data(b"\x1f\x8b no gzip") == b"\x1f\x8b no gzip"


def test_gzip_in_base64_is_taken_out_whole() -> None:
    packed = base64.b64encode(gzip.compress(SECRET.encode())).decode()
    innocent = base64.b64encode(gzip.compress(b"innocent text")).decode()
    assert SCRUBBER.text(f"data={packed}&x={innocent}") == f"data={MASK}&x={innocent}"
    assert SCRUBBER.text("H4sIAAAAAAAAAAAAA no gzip") == "H4sIAAAAAAAAAAAAA no gzip"


def test_bytes_that_are_no_text_are_kept_but_for_the_secret() -> None:
    assert SCRUBBER.data(b"\xff\xfe" + SECRET.encode() + b"\x00") == b"\xff\xfe" + MASK.encode() + b"\x00"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {MASK}"),
        ('{"authorization": "Basic Zm9v"}', f'{{"authorization": "Basic {MASK}"}}'),
        ("curl -H 'x-api-key: abc' url", f"curl -H 'x-api-key: {MASK}' url"),
        ("Set-Cookie: a=b; Path=/\r\nDate: x", f"Set-Cookie: {MASK}\r\nDate: x"),
        ("see https://user:pw@host/x?y@z", f"see https://{MASK}@host/x?y@z"),
        (r"in json https:\/\/tok@host\/x", rf"in json https:\/\/{MASK}@host\/x"),
        ("https://host/a@b mail@host", "https://host/a@b mail@host"),
        ("the authorization of a cookie", "the authorization of a cookie"),
    ],
)
def test_credentials_are_known_by_where_they_stand(text: str, clean: str) -> None:
    assert Scrubber().text(text) == clean
    assert Scrubber().text(clean) == clean
    assert SCRUBBER.text(text) == clean
    assert Scrubber().json({"a": [text]}) == {"a": [clean]}


def test_json_that_nests_deep_is_searched_as_text() -> None:
    for depth in (70, 100_000):
        text = "[" * depth + f'"{SECRET}"' + "]" * depth
        assert SCRUBBER.text(text) == "[" * depth + f'"{MASK}"' + "]" * depth


def test_backslashes_without_end_do_not_slow_the_search_down() -> None:
    scrubber = Scrubber(['a"\\\\"b/secret', SECRET])
    start = time.perf_counter()
    for text in ("\\" * 20_000, "c2st" + "\\n" * 10_000, '"\\' * 10_000, "%" * 20_000):
        assert scrubber.text(text) == text
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("broken", "clean"),
    [
        (f"key: {SECRET[:9]}\n    {SECRET[9:]} end", f"key: {MASK} end"),
        (" ".join(SECRET), MASK),
        (f"{SECRET[:5]}\\\n{SECRET[5:]}", MASK),
        (f"{SECRET[:5]}\\r\\n{SECRET[5:]}", MASK),
        (f"{SECRET[:5]}=\n{SECRET[5:]}=\n", f"{MASK}=\n"),
        ("\n".join(SECRET.encode().hex(" ").split()), MASK),
        (json.dumps({"a": f"{SECRET[:4]}\n\n{SECRET[4:]}"}), f'{{"a": "{MASK}"}}'),
        (
            f"the words around\n{SECRET[:9]}\n{SECRET[9:]}\nstay as they are",
            f"the words around\n{MASK}\nstay as they are",
        ),
    ],
)
def test_a_secret_that_is_cut_by_white_space_or_its_escapes_is_found(broken: str, clean: str) -> None:
    assert SCRUBBER.text(broken) == clean
    with pytest.raises(RedactionError):
        SecretGuard([SECRET]).check(broken.encode())


def test_base64_in_lines_goes_and_the_lines_around_it_stay() -> None:
    lines = base64.encodebytes(SECRET.encode() * 4).decode().strip()
    packed = base64.b64encode(gzip.compress(SECRET.encode())).decode()
    wrapped = "\n".join(packed[at : at + 20] for at in range(0, len(packed), 20))
    assert SCRUBBER.text(f"first line\n{lines}\nlast line") == f"first line\n{MASK}\nlast line"
    assert SCRUBBER.text(f"first line\n{wrapped}\nlast line") == f"first line\n{MASK}\nlast line"
    innocent = f"first line\n{base64.encodebytes(b'innocent words ' * 9).decode()}last line"
    assert SCRUBBER.text(innocent) == innocent


def test_a_secret_with_white_space_of_its_own_is_found_wrapped_elsewhere() -> None:
    scrubber = Scrubber(["correct horse battery"])
    assert scrubber.text("correct\nhorse\n  battery") == MASK
    assert Scrubber(["a       b"]).text("a b") == "a b"


def test_breaks_without_end_do_not_slow_the_search_down() -> None:
    scrubber = Scrubber(["\\" * 12 + "x=" * 8, SECRET, "aaaaaaaaaaaaaaab=="])
    guard = SecretGuard([SECRET])
    start = time.perf_counter()
    for part in ("\\", "a \n", "s\\n", "%25", "&#0", "= \r", "sk\n-", "\\u00", "H4sI "):
        text = part * (60_000 // len(part))
        assert scrubber.text(text) == text
        guard.check(text.encode())
    assert time.perf_counter() - start < 5


def test_a_guard_lets_pass_what_was_scrubbed() -> None:
    text = f"{SECRET} {SECRET.encode().hex()} {base64.b64encode(SECRET.encode()).decode()}"
    clean = SCRUBBER.text(text)
    SecretGuard([SECRET]).check(clean.encode())
    assert clean == f"{MASK} {MASK} {MASK}"


def test_a_changed_text_is_told_with_the_line_from_which_it_differs() -> None:
    told = changed("a\nb\nc", "a\nb\nd", frozenset())
    assert told.startswith("text of 5 characters, sha256:")
    assert told.endswith(", from line 3")
    assert changed("a\nb", "a\nb\nc", frozenset()).endswith(", from line 3")
    assert changed("one", "two", frozenset({"two"})) == '"two"'
    assert changed(1, "a\nb", frozenset()) == changed("a\nb", "a\nb", frozenset())
