"""A question for help: of a path that is listed, and no more of it than its first 200 lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.command import parse
from harness.schema.command import GrammarContext, HelpPlan


@pytest.fixture
def asking(context: GrammarContext) -> GrammarContext:
    call = context.call
    assert call is not None
    return replace(context, call=call.model_copy(update={"help": ("status", "quota should-run")}))


@pytest.mark.parametrize(
    ("text", "path", "lines"),
    [
        ("loopx status --help", "status", 200),
        ("loopx quota should-run --help 2>&1", "quota should-run", 200),
        ("loopx status --help | head", "status", 10),
        ("loopx status --help 2>&1 | head -60", "status", 60),
        ("/usr/bin/loopx status --help | head -n 200", "status", 200),
    ],
)
def test_help_is_asked_for(asking: GrammarContext, text: str, path: str, lines: int) -> None:
    parsed = parse(text, asking)
    assert (parsed.help, parsed.call) == (HelpPlan(path=path, lines=lines), None)


@pytest.mark.parametrize(
    "text",
    [
        "loopx status --help | head -201",
        "loopx status --help | head -n 0",
        "loopx status --help | head -x",
        "loopx status --help | tail -5",
        "loopx status --help | head -5 | head -2",
        "loopx status --help > out",
        "loopx status --help && ls",
        "loopx status --help --all",
        "loopx --help",
        "loopx doctor --help",
        "X=1 loopx status --help",
        "other status --help",
        "./loopx status --help",
        "",
    ],
)
def test_anything_else_is_no_question_for_help(asking: GrammarContext, text: str) -> None:
    assert parse(text, asking).help is None


def test_no_path_is_listed_where_the_scenario_lists_none(context: GrammarContext) -> None:
    assert parse("loopx status --help", context).help is None
