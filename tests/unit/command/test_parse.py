from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from harness.command import GRAMMARS, parse
from harness.schema.command import CommandShape, GrammarContext


def shape(text: str, context: GrammarContext) -> CommandShape:
    return parse(text, context).shape


def test_grammars_name_the_profiles_there_are() -> None:
    assert frozenset({"loopx-0.4", "sandboxed-shell"}) == GRAMMARS


def test_all_readings_that_apply_are_given(context: GrammarContext) -> None:
    both = parse("cat loopx", context)
    assert both.call is not None
    assert both.call.refused == "text_before"
    assert both.reads is not None
    assert both.reads.role == "other"
    assert both.clock is None
    assert parse("date -u", context).clock is not None


def test_no_call_is_found_when_the_scenario_has_none(context: GrammarContext) -> None:
    assert parse("loopx status", replace(context, call=None)).call is None


@pytest.mark.parametrize("text", ["loopx status --format json", "date -u", "no such thing"])
def test_text_that_no_root_has_a_say_in_is_read_once_for_all_workspaces(context: GrammarContext, text: str) -> None:
    elsewhere = {name: f"/elsewhere/{name}" for name in context.roots}
    assert parse(text, replace(context, roots=elsewhere)) is parse(text, context)
    other = replace(context, call=None, content=(), roots=elsewhere)
    assert parse(text, other) is not parse(text, context)


def test_text_that_names_a_place_is_read_anew_as_the_place_is_now(context: GrammarContext, top: Path) -> None:
    text = "loopx quota should-run --runtime-root runtime"
    first = parse(text, context).call
    assert first is not None
    assert first.argv == ("quota", "should-run", "--runtime-root", str(top / "project/runtime"))
    (top / "project/runtime").symlink_to(top / "secret")
    again = parse(text, context).call
    assert again is not None
    assert again.refused == "path_outside"


@pytest.mark.parametrize(
    "text", ["\ud800", "cat \udc80", "x" * 65_537, "é" * 40_000, "'" * 1_000_000, "a/" * 500_000, "loopx " * 200_000]
)
def test_text_is_not_read_when_it_is_no_bounded_text(context: GrammarContext, text: str) -> None:
    parsed = parse(text, context)
    assert (parsed.call, parsed.clock, parsed.reads) == (None, None, None)
    assert parsed.shape.parseable is False


def test_text_is_not_read_when_the_grammar_is_unknown(context: GrammarContext) -> None:
    parsed = parse("ls", replace(context, profile="nope"))
    assert parsed.reads is None
    assert parsed.shape.parseable is False


def test_text_with_a_nul_is_never_run(context: GrammarContext) -> None:
    assert [parse(text, context).reads for text in ("cat a\0b", "echo a\0b", "find . -name '\0'")] == [None] * 3
    refused = parse("loopx status\0", context).call
    assert refused is not None
    assert refused.argv is None


@pytest.mark.parametrize(
    "unit", ["'", "\\", "a ", "a/", "../", "loopx ", ";", "=$(", "out/", "A=1 ", "A=1; ", "cd .;", "`", "#\n", "[", "²"]
)
def test_longest_text_is_read_in_bounded_time(context: GrammarContext, unit: str) -> None:
    text = (unit * 65_536)[:20_000]
    began = time.process_time()
    for form in (
        text,
        f"cat {text}",
        f"loopx status --format {text}",
        f"find . -name {text}",
        f'A="{text}" loopx status',
    ):
        parse(form, context)
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"tokens": 0, "segments": 0, "family": "unknown"}),
        ("ls", {"tokens": 1, "segments": 1, "family": "metadata"}),
        ("cat data/lane.json", {"tokens": 2, "segments": 1, "family": "content", "names_content_target": True}),
        ("cat x", {"tokens": 2, "segments": 1, "family": "other"}),
        ("cat '/w/data/lane.json'", {"tokens": 2, "segments": 1, "family": "unknown", "names_content_target": True}),
        ("date -u", {"tokens": 2, "segments": 1, "family": "clock"}),
        ("loopx status $X", {"tokens": 3, "segments": 1, "family": "call", "expansion": True}),
        ("cat loopx", {"tokens": 2, "segments": 1, "family": "call"}),
        ("a 1 2 3 4 5 6 7 8 9", {"tokens": 8, "segments": 1, "family": "unknown"}),
        ("ls;" * 12, {"tokens": 1, "segments": 9, "family": "unknown"}),
        ("\nls\npwd\n", {"tokens": 2, "segments": 2, "family": "metadata", "multiline": True}),
        ("ls &", {"tokens": 2, "segments": 1, "family": "unknown"}),
        ("cat x | head -5", {"tokens": 5, "segments": 2, "family": "other", "pipe": True}),
        ("ls || pwd", {"tokens": 3, "segments": 2, "family": "metadata", "conditional": True}),
        ("ls && pwd", {"tokens": 3, "segments": 2, "family": "metadata", "conditional": True}),
        ("cat x >| y 2>&1", {"tokens": 5, "segments": 1, "family": "unknown", "redirect": True}),
        ("echo 'a | b && $c > d'", {"tokens": 2, "segments": 1, "family": "metadata"}),
        ("ls `x`", {"tokens": 2, "segments": 1, "family": "metadata", "expansion": True}),
    ],
)
def test_shape_counts_what_stands_unquoted(
    context: GrammarContext, text: str, expected: dict[str, str | int | bool]
) -> None:
    plain = {"parseable": True, "multiline": False, "pipe": False, "redirect": False, "conditional": False}
    rest = {"expansion": False, "names_content_target": False}
    assert asdict(shape(text, context)) == {**plain, **rest, **expected}


def test_shape_of_an_open_quote_tells_only_its_lines(context: GrammarContext) -> None:
    found = shape("cat 'a\nb", context)
    assert (found.parseable, found.tokens, found.multiline) == (False, 0, True)


@pytest.mark.parametrize("text", ["loopx\rstatus", "loopx status\r", "cd .\r\nloopx status", "A=1\r loopx status"])
def test_a_carriage_return_is_a_letter_to_a_shell(context: GrammarContext, text: str) -> None:
    found = parse(text, context)
    assert found.reads is None or found.reads.refused == "ambiguous"
    assert found.call is None or (found.call.argv, found.call.refused is None) == (None, False)


@pytest.mark.parametrize("blank", ["\xa0", "\u3000", "\x0b", "\x1f"])
def test_only_what_a_shell_takes_for_blanks_is_left_out_at_the_ends(context: GrammarContext, blank: str) -> None:
    assert parse(" \n\tcat data/lane.json \n", context).reads == parse("cat data/lane.json", context).reads
    read = parse(f"cat data/lane.json{blank}", context).reads
    assert read is not None
    assert read.role == "other"
