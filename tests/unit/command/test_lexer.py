from __future__ import annotations

import pytest

from harness.command.lexer import Word, program_name, split_plan, split_shell, split_words, trim_lines, whole_number


def texts(words: tuple[Word, ...] | None) -> list[str]:
    assert words is not None
    return [word.text for word in words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a  b\tc\r\nd", ["a", "b", "c", "d"]),
        ("a'b c'\"d e\"f", ["ab cd ef"]),
        ("'' \"\"", ["", ""]),
        (r"a\ b \' \\", ["a b", "'", "\\"]),
        (r'"\a\"\\\$"', ['\\a"\\\\$']),
        ("'\\n'", ["\\n"]),
        ("a;b|c #d", ["a;b|c", "#d"]),
        ("", []),
        ("a\xa0b\x0bc", ["a\xa0b\x0bc"]),
    ],
)
def test_words_are_split_as_posix_shlex_does(text: str, expected: list[str]) -> None:
    assert texts(split_words(text)) == expected


@pytest.mark.parametrize("text", ["'a", '"a', "a\\", '"a\\"', "'" * 100_001])
def test_text_is_unreadable_when_a_quote_or_an_escape_stays_open(text: str) -> None:
    assert split_words(text) is None
    assert split_plan(text) is None


def test_operator_runs_are_words_when_they_stand_unquoted() -> None:
    assert texts(split_shell("a&&b ;;c\n\n'd;'>&1 \\;")) == ["a", "&&", "b", ";;", "c", "\n\n", "d;", ">&", "1", ";"]
    found = split_shell("a '&' &")
    assert found is not None
    assert [word.operator for word in found] == [False, False, True]


def test_glued_tells_words_without_a_blank_between() -> None:
    found = split_shell("a|b | 2>x")
    assert found is not None
    assert [(word.text, word.glued) for word in found] == [
        ("a", False),
        ("|", True),
        ("b", True),
        ("|", False),
        ("2", False),
        (">", True),
        ("x", True),
    ]


@pytest.mark.parametrize(("text", "kept"), [("\n \na\nb\n", ["a", "\n", "b"]), ("\n", []), ("", []), (";\n", [";\n"])])
def test_lines_are_trimmed_at_both_ends_only(text: str, kept: list[str]) -> None:
    assert texts(tuple(trim_lines(split_shell(text) or ()))) == kept


def test_comment_takes_the_line_end_when_a_plan_is_split() -> None:
    assert texts(split_plan("ls a#b\nc ;#d\ne '#f' \\#g ''#")) == ["ls", "a", "c", ";", "e", "#f", "#g", ""]
    assert texts(split_shell("ls a#b\nc")) == ["ls", "a#b", "\n", "c"]


def test_word_remembers_what_a_shell_would_still_see() -> None:
    found = split_words(r"""x'$A'"$B"\$C$D "\$E\"" """)
    assert found is not None
    assert [(word.text, word.bare, word.active) for word in found] == [
        ("x$A$B$C$D", "xC$D", "x$BC$D"),
        ('\\$E"', "", "\\$E"),
    ]


@pytest.mark.parametrize(
    ("text", "continued"), [("a\\\nb", True), ('"a\\\nb"', True), ("'a\\\nb'", False), ('"a\\\\\nb"', False)]
)
def test_continued_tells_a_backslash_before_a_line_end(text: str, continued: bool) -> None:
    found = split_words(text)
    assert found is not None
    assert [word.continued for word in found] == [continued]


@pytest.mark.parametrize(
    ("text", "name"), [("/bin/cat", "cat"), ("./cat", "cat"), ("cat/", "cat"), ("", ""), ("/", "")]
)
def test_program_is_known_by_the_last_part_of_its_path(text: str, name: str) -> None:
    assert program_name(text) == name


@pytest.mark.parametrize(
    ("text", "number"),
    [("5", 5), ("05", 5), ("٣", 3), ("²", None), ("-1", None), ("", None), ("11", None), ("9" * 5000, None)],
)
def test_whole_number_is_read_when_it_is_within_bounds(text: str, number: int | None) -> None:
    assert whole_number(text, 0, 10) == number
