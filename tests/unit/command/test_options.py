from __future__ import annotations

from pathlib import Path

import pytest

from harness.command.lexer import split_words
from harness.command.options import RefusedError, rebuild
from harness.command.places import Places


def rebuilt(text: str, places: Places) -> tuple[str, tuple[str, ...]]:
    words, spec = split_words(text), places.context.call
    assert words is not None
    assert spec is not None
    return rebuild(words, spec, places)


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("quota should-run", ["quota", "should-run"]),
        ("--format json quota should-run", ["--format", "json", "quota", "should-run"]),
        ("quota should-run --goal-id g --quiet", ["quota", "should-run", "--goal-id", "g", "--quiet"]),
        ("quota should-run --goal-id=a=b", ["quota", "should-run", "--goal-id=a=b"]),
        ("quota should-run --goal-id ''", ["quota", "should-run", "--goal-id", ""]),
        ("quota should-run --goal-id -5", ["quota", "should-run", "--goal-id", "-5"]),
        ("quota should-run --goal-id 'a b;$c|d'", ["quota", "should-run", "--goal-id", "a b;$c|d"]),
        (
            "quota should-run --capability a --capability b",
            ["quota", "should-run", "--capability", "a", "--capability", "b"],
        ),
        ('--registry "$HOME/x" quota should-run', ["--registry", "/the/registry.json", "quota", "should-run"]),
        ("--registry=/other quota should-run", ["--registry=/the/registry.json", "quota", "should-run"]),
        ('quota should-run --turn-instance-id "${T:?}"', ["quota", "should-run", "--turn-instance-id", "turn-1"]),
        ('quota should-run --turn-instance-id "$(date +%s)"', ["quota", "should-run", "--turn-instance-id", "turn-1"]),
    ],
)
def test_arguments_are_rebuilt_in_the_order_and_form_typed(places: Places, text: str, argv: list[str]) -> None:
    assert rebuilt(text, places) == ("quota should-run", tuple(argv))


def test_path_inside_is_settled(places: Places, top: Path) -> None:
    settled = str(top / "runtime/x")
    assert rebuilt(f"quota should-run --runtime-root {top}/home/../runtime/x", places)[1][-1] == settled
    assert rebuilt("quota should-run --runtime-root=../runtime/x", places)[1][-1] == f"--runtime-root={settled}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unknown_path"),
        ("quota", "unknown_path"),
        ("quota should-run extra", "unknown_path"),
        ("quota monitor-poll", "unknown_path"),
        ("quota should-run --nope", "unknown_option"),
        ("quota should-run -q", "unknown_option"),
        ("quota should-run --", "unknown_option"),
        ("quota should-run --goal g", "unknown_option"),
        ("quota should-run --quiet=1", "unknown_option"),
        ("status --goal-id g", "unknown_option"),
        ("quota should-run --goal-id g --goal-id g", "repeated_option"),
        ("quota should-run --goal-id g --goal-id=h", "repeated_option"),
        ("quota should-run --quiet --quiet", "repeated_option"),
        ("--registry a quota should-run --registry b", "repeated_option"),
        ("quota should-run --goal-id", "missing_value"),
        ("quota should-run --goal-id --quiet", "missing_value"),
        ("quota should-run --goal-id=--quiet", "missing_value"),
        ("quota should-run --turn-instance-id --format json", "missing_value"),
        ("quota should-run --goal-id $G", "expansion"),
        ("quota should-run --goal-id=`id`", "expansion"),
        ("quota should-run --goal-id *", "expansion"),
        ("quota should-run --runtime-root ~/x", "expansion"),
        ("$A quota should-run", "expansion"),
        ("quota should-run --quiet$X", "unknown_option"),
        ('quota should-run --quiet"$("', "unknown_option"),
        ('quota should-run --turn-instance-id "$(rm -rf x)"', "expansion"),
        ("quota should-run --runtime-root /elsewhere", "path_outside"),
        ("quota should-run --runtime-root ..", "path_outside"),
        ("quota should-run --runtime-root out/x", "path_outside"),
    ],
)
def test_arguments_are_refused_when_one_is_not_allowed(places: Places, text: str, reason: str) -> None:
    with pytest.raises(RefusedError) as caught:
        rebuilt(text, places)
    assert caught.value.reason == reason
