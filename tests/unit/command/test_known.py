"""How many texts are remembered, and of which length."""

from __future__ import annotations

from harness.command import known, parse
from harness.schema.command import GrammarContext


def test_the_text_that_was_first_kept_is_the_first_to_be_forgotten(context: GrammarContext) -> None:
    texts, read = known.KnownTexts(), parse("date -u", context)
    for number in range(known._MOST + 1):
        texts.keep(f"date {number}", context, read)
    assert texts.find("date 0", context) is None
    assert texts.find("date 1", context) is read
    assert texts.find(f"date {known._MOST}", context) is read


def test_a_long_text_comes_once_and_is_not_kept(context: GrammarContext) -> None:
    texts, read = known.KnownTexts(), parse("date -u", context)
    for length in (known._SHORT, known._SHORT + 1):
        texts.keep("x" * length, context, read)
    assert texts.find("x" * known._SHORT, context) is read
    assert texts.find("x" * (known._SHORT + 1), context) is None
