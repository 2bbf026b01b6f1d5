from __future__ import annotations

import pytest

from harness.command.clock import read_clock
from harness.command.lexer import split_words


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("date", False),
        ("/bin/date +%s", False),
        ("date '+%Y-%m-%d %H:%M'", False),
        ("date -u", True),
        ("date -uR", True),
        ("date --utc -Iseconds", True),
        ("date -R --universal", True),
        ("date -s +1day", False),
        ("date --set=2020-01-01", False),
        ("date\n", False),
    ],
)
def test_date_is_a_question_for_the_time(text: str, utc: bool) -> None:
    found = read_clock(split_words(text) or ())
    assert found is not None
    assert found.utc is utc


@pytest.mark.parametrize(
    "text",
    [
        "",
        "'",
        "DATE",
        "date -d now",
        "date x",
        "date; ls",
        "date && pwd",
        "date\nls",
        "TZ=UTC date",
        "date -u -u -u -u",
    ],
)
def test_other_text_is_no_question_for_the_time(text: str) -> None:
    assert read_clock(split_words(text) or ()) is None
