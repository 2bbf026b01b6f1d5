from __future__ import annotations

from pathlib import Path

import pytest

from harness.command.call import read_call
from harness.command.lexer import split_shell, split_words
from harness.command.places import Places
from harness.schema.command import CallPlan, CallSpec

GUARD = 'loopx quota should-run --goal-id g --turn-instance-id "${LOOPX_TURN:?}"'
ARGV = ("quota", "should-run", "--goal-id", "g", "--turn-instance-id", "turn-1")


def call(text: str, places: Places) -> CallPlan | None:
    spec = places.context.call
    assert spec is not None
    return found_in(text, spec, places)


def found_in(text: str, spec: CallSpec, places: Places) -> CallPlan | None:
    words, shell = split_words(text), split_shell(text)
    assert words is not None
    assert shell is not None
    return read_call(words, shell, spec, places)


def test_tokens_are_what_a_reader_finds_after_the_program(places: Places) -> None:
    found = call("sudo /opt/loopx quota 'should-run' x", places)
    assert found is not None
    assert found.tokens == ("quota", "should-run", "x")


@pytest.mark.parametrize(
    "text",
    ["", "ls", "loopx-dev status", "bash -lc 'loopx status'", "python -m loopx.cli status"]
    + [f"{GUARD} {operator} ls" for operator in (";", "&&", "||", "|")],
)
def test_text_is_no_call_when_a_reader_finds_none(places: Places, text: str) -> None:
    assert call(text, places) is None


@pytest.mark.parametrize(
    "before",
    [
        "",
        " \n\n ",
        "LOOPX_TURN=x ",
        "A=1 B='2 3' ",
        "A=1; ",
        'A="$(date -u +%s)" && ',
        "A=$B ",
        "export LOOPX_TURN=x && ",
        "export LOOPX_TURN=x; ",
        "export LOOPX_TURN=x\n",
        "export A=1 B=2 &&\n",
        "cd . && ",
        "cd {project} && export A=1; B=2 ",
    ],
)
def test_call_runs_when_only_admitted_text_stands_before_it(places: Places, top: Path, before: str) -> None:
    found = call(before.replace("{project}", str(top / "project")) + GUARD + "\n", places)
    assert found is not None
    assert (found.path, found.argv, found.refused) == ("quota should-run", ARGV, None)


@pytest.mark.parametrize(
    "before",
    [
        "echo ",
        "ls && ",
        "ls\n",
        "rm -rf x ; ",
        "env A=1 ",
        "A=1 env ",
        "A=1 | ",
        "A=1 & ",
        "A=1 ;; ",
        "A=1\n; ",
        "'A'=1 ",
        "A\\==1 ",
        "HOME=/x ",
        "LOOPX_REGISTRY=/x ",
        'A="$(rm x)" ',
        "A=$(rm x) ",
        "export && ",
        "export A && ",
        "export A=1 ",
        "cd && ",
        "cd .. && ",
        "cd data && ",
        "cd . ",
        "; ",
        "X=/bin/loopx ",
        "cd none/.. && ",
        "A=( ",
        "X=${UNSET:?} ",
        "export A=${X?} && ",
        "X=$[1/0] ",
        "CODEX_HOME=/x ",
        "XDG_CONFIG_HOME=/x ",
        "TMPDIR=/x ",
    ],
)
def test_call_is_refused_when_other_text_stands_before_it(places: Places, before: str) -> None:
    found = call(before + GUARD, places)
    assert found is not None
    assert (found.path, found.argv, found.refused) == ("quota should-run", None, "text_before")


@pytest.mark.parametrize("folder", ["/srv/evil/", "./", "../", "none/"])
def test_call_is_refused_when_its_program_lies_elsewhere(places: Places, folder: str) -> None:
    found = call(folder + GUARD, places)
    assert found is not None
    assert (found.argv, found.refused) == (None, "path_outside")
    assert (call(f"/usr/bin/{GUARD}", places) or found).argv == ARGV


BEGUN = "loopx quota should-run --goal-id g --turn-instance-id"


@pytest.mark.parametrize(
    "value", ["#x", "-x", "'-x'", "{a,b}", "*", "[a]", "a?", "$UNSET", "~", "$[1/0]", "a(b", "`x`"]
)
def test_a_value_that_is_replaced_must_be_one_word_to_a_shell(places: Places, value: str) -> None:
    found = call(f"{BEGUN} {value}", places)
    assert found is not None
    assert found.argv is None


@pytest.mark.parametrize("value", ['"$TURN"', '"${TURN:?}"', "$(uuidgen)", "'{a,b}'", "-", "-5", "'a # b'", "x#y"])
def test_a_value_that_is_one_word_is_replaced(places: Places, value: str) -> None:
    found = call(f"{BEGUN} {value}", places)
    assert found is not None
    assert found.argv == ARGV


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ("|head", "operator_in_value"),
        (";ls", "operator_in_value"),
        (" ;ls", "text_after"),
        (" &", "text_after"),
        (" 2>/dev/null", "operator_in_value"),
        (" > out", "text_after"),
        ("\nls", "text_after"),
        (" 2", "unknown_path"),
        (" # note", "unknown_path"),
        (" --verbose", "unknown_option"),
        (" \\\n --quiet", "unparseable"),
        (" \0", "unparseable"),
    ],
)
def test_call_is_refused_when_text_stands_after_it(places: Places, after: str, reason: str) -> None:
    found = call(GUARD + after, places)
    assert found is not None
    assert (found.argv, found.refused) == (None, reason)


@pytest.mark.parametrize("text", ["X=/bin/loopx", "X=/bin/loopx B=1;\n", "X=/bin/loopx B=1;"])
def test_call_is_refused_when_there_are_only_assignments(places: Places, text: str) -> None:
    found = call(text, places)
    assert found is not None
    assert found.refused == "text_before"


def test_path_is_none_when_no_allowed_words_stand_side_by_side(places: Places) -> None:
    found = call("loopx quota --goal-id g monitor-poll", places)
    assert found is not None
    assert (found.path, found.refused) == (None, "unknown_path")


def test_path_is_the_longest_one_when_a_refused_call_names_several(places: Places) -> None:
    spec = places.context.call
    assert spec is not None
    nested = spec.model_copy(update={"allow": {"quota": (), **spec.allow}})
    found = found_in("echo loopx quota should-run", nested, places)
    assert found is not None
    assert found.path == "quota should-run"


def test_program_is_the_one_that_the_scenario_names(places: Places) -> None:
    spec = places.context.call
    assert spec is not None
    other = spec.model_copy(update={"program": "ctl"})
    text = "ctl status --format json"
    found = found_in(text, other, places)
    assert found is not None
    assert found.argv == ("status", "--format", "json")
