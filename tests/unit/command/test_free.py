"""A free shell: whatever is no call of the control plane is one text for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.command import FREE_GRAMMARS, GRAMMARS, parse
from harness.schema.command import GrammarContext


@pytest.fixture
def shell(context: GrammarContext) -> GrammarContext:
    return replace(context, profile="sandboxed-shell")


def test_only_the_shell_is_free() -> None:
    assert sorted(FREE_GRAMMARS) == ["sandboxed-shell"]
    assert FREE_GRAMMARS < GRAMMARS


@pytest.mark.parametrize(
    "text",
    [
        "cat data/lane.json",
        "rm -rf / && echo done > x | tee y &",
        "cat <<'EOF' > note\nit isn't\nEOF",
        "for i in 1 2; do echo $i; done",
        "echo 'open",
        "git push --force",
        "cat /etc/passwd",
    ],
)
def test_a_command_is_one_text_for_the_shell(shell: GrammarContext, text: str) -> None:
    found = parse(f"  {text}\n", shell)
    assert found.call is None
    assert found.reads is not None
    (segment,) = found.reads.segments
    assert (segment.argv, segment.free, segment.target) == (("sh", "-c", text), True, None)
    assert (found.reads.role, found.reads.refused) == ("other", None)


@pytest.mark.parametrize("text", ["loopx status", "loopx status; rm -rf x", "cd data && loopx quota should-run"])
def test_a_call_of_the_control_plane_is_one_whatever_stands_around_it(
    shell: GrammarContext, context: GrammarContext, text: str
) -> None:
    found = parse(text, shell)
    assert found.reads is None
    assert found.call is not None
    assert found.call == parse(text, context).call


@pytest.mark.parametrize("text", ["echo \0", "echo 'open \0", "\ud800", "x" * 65_537])
def test_what_no_shell_can_be_given_is_not_run(shell: GrammarContext, text: str) -> None:
    assert parse(text, shell).reads is None


def test_a_question_for_the_time_can_be_answered_by_the_scenario(shell: GrammarContext) -> None:
    found = parse("date -u", shell)
    assert found.clock is not None
    assert found.reads is not None
