from __future__ import annotations

import pytest

from harness.command.expansion import expands, substitutes, uses_dollar
from harness.command.lexer import Word, split_words


def word(text: str) -> Word:
    found = split_words(text)
    assert found is not None
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("text", ["$X", '"${X:?}"', "a`date`", '"`pwd`"', "$((1+1))", "$'x'", '"\\$X"', "$"])
def test_dollar_is_used_when_a_shell_would_replace_it(text: str) -> None:
    assert uses_dollar(word(text))
    assert expands(word(text))


@pytest.mark.parametrize(
    "text", ["'$X'", "\\$X", '"5 $ each"', "plain", "'`'", "'*'", '"~"', "\\*", "a~b", "{a}", "'{a,b}'"]
)
def test_word_is_literal_when_a_shell_would_leave_it(text: str) -> None:
    assert not expands(word(text))


@pytest.mark.parametrize("text", ["~/x", "*.json", "a?", "[P1]", "{a,b}", "x{1..3}"])
def test_pattern_expands_without_a_dollar(text: str) -> None:
    assert expands(word(text))
    assert not uses_dollar(word(text))


@pytest.mark.parametrize(
    "text", ["$X", '"${X:?}"', '"$(pwd)/x"', '"$(date +%s)"', '"$( date -u )"', "'$(rm -rf x)'", "$(uuidgen)", "plain"]
)
def test_substitution_is_harmless_when_it_only_asks(text: str) -> None:
    assert not substitutes(word(text), ("pwd", "uuidgen"))


@pytest.mark.parametrize(
    "text",
    [
        '"$(rm -rf x)"',
        '"`date`"',
        '"$(date +%s;rm)"',
        '"$(pwd)$(id)"',
        '"$(date $(id))"',
        '"$(unclosed"',
        '"$(\'open)"',
        '"$()"',
    ],
)
def test_substitution_counts_when_it_could_run_anything(text: str) -> None:
    assert substitutes(word(text), ("pwd",))
