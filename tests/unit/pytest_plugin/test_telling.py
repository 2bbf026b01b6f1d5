from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.pytest_plugin.telling import differing, near, quoted, stale
from harness.receipt import canonical
from harness.schema.actor import ActorIdentity
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Boundary, Counters, Finding, Receipt, RedactedText, Step
from harness.schema.recording import RerecordSpec

RECEIPT = Receipt.model_validate(
    {
        "scenario": "team/look",
        "scenario_digest": "sha256:s",
        "definition_digest": "sha256:d",
        "classifier_version": 1,
        "actor": ActorIdentity(ref="script:reference", kind="script", digest="sha256:a"),
        "plane": PlaneIdentity(name="loopx", version="0.4.8", wheel_sha256="ab"),
        "trial": 1,
        "attempt": 1,
        "outcome": Outcome(status="completed", reason="scenario_satisfied"),
        "verdict": "pass",
        "cause": None,
        "failure_code": None,
        "findings": (),
        "facts": ("seen",),
        "steps": tuple(
            Step(
                ordinal=number,
                turn=number,
                tool=RedactedText("exec"),
                kind="look",
                result="succeeded",
                executed=True,
            )
            for number in (1, 2)
        ),
        "turns": (),
        "counters": Counters(model_turns=1, tool_calls=2, executed_calls=2, refused_calls=0),
        "boundary": Boundary(measured=False),
    }
)


def changed(**change: object) -> Receipt:
    return RECEIPT.model_copy(update=change)


def told(got: Receipt, expected: Receipt = RECEIPT, problem: str | None = None) -> list[str]:
    lines = differing(canonical(expected).encode(), got, problem=problem)
    assert lines[0] == "scenario team/look, actor script:reference"
    assert all(len(line) <= 80 for line in lines)
    return list(lines[1:])


def test_only_the_first_step_that_differs_is_told_whole() -> None:
    steps = [replace(step, kind=None, code="lost") for step in RECEIPT.steps]
    assert told(changed(steps=tuple(steps))) == [
        "step 1: expected look, no code, succeeded",
        "step 1: got no kind, lost, succeeded",
        "steps that differ besides: 1",
        "differs at /steps/0/code, /steps/0/kind, /steps/1/code, /steps/1/kind",
    ]


def test_a_step_that_came_or_went_is_told() -> None:
    assert told(changed(steps=RECEIPT.steps[:1]))[:2] == [
        "step 2: expected look, no code, succeeded",
        "step 2: got no step",
    ]
    assert "number of steps: expected 1, got 2" in told(RECEIPT, changed(steps=RECEIPT.steps[:1]))


def test_a_step_whose_answer_alone_differs_says_so() -> None:
    step = replace(RECEIPT.steps[1], answer_digest="sha256:x", executed=False)
    lines = told(changed(steps=(RECEIPT.steps[0], step)))
    assert lines[0] == "step 2, look: another is the control plane's answer, whether it ran"


def test_findings_are_told_with_pointer_and_both_sides() -> None:
    finding = Finding.model_validate(
        {"code": "wrong", "step": 2, "check": "answer", "pointer": "/a/b", "expected": "true", "got": "false"}
    )
    whole = "step 2, answer, wrong at /a/b; expected true; got false"
    assert f"found now: {whole}" in told(changed(findings=(finding,)))
    assert f"no longer found: {whole}" in told(RECEIPT, changed(findings=(finding,)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scenario_digest": "sha256:t", "definition_digest": "sha256:e"}, "the scenario changed"),
        ({"definition_digest": "sha256:e"}, "the prompt is another, although the scenario is the same"),
        ({"classifier_version": 2}, "the classifiers are another version"),
        (
            {"plane": PlaneIdentity(name="loopx", version="0.5", wheel_sha256="ab")},
            "the control plane is another version",
        ),
        ({"facts": ()}, "facts: expected seen, got none"),
        ({"verdict": "not_judged"}, "verdict: expected pass (completed/scenario_satisfied), got not_judged"),
    ],
)
def test_each_part_of_a_receipt_has_words(change: dict[str, object], words: str) -> None:
    assert any(line.startswith(words) for line in told(changed(**change)))


def test_a_part_without_words_is_named_by_its_pointer() -> None:
    assert told(changed(attempt=2)) == ["differs at /attempt"]
    assert told(changed(counters=Counters(model_turns=9, tool_calls=9, executed_calls=9, refused_calls=9))) == [
        "differs at /counters/executed_calls, /counters/model_turns,",
        "  /counters/refused_calls, /counters/tool_calls",
    ]


def test_the_same_content_in_another_layout_is_told() -> None:
    kept = canonical(RECEIPT).replace("\n", "").encode()
    assert differing(kept, RECEIPT, problem=None)[1:] == ("differs in layout only",)


def test_the_problem_of_an_episode_comes_first() -> None:
    assert told(changed(verdict="not_judged"), problem="the plane is down")[0] == "problem: the plane is down"


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (b"{}", "the snapshot is no receipt of this version of harness: /scenario"),
        (b"[", "the snapshot is no strict JSON: it cannot be read"),
        (b"\xff", "the snapshot is no strict JSON: it cannot be read"),
        (b'{"trial": -Infinity}', "the snapshot is no strict JSON: it holds -Infinity"),
    ],
)
def test_a_snapshot_that_is_no_receipt_is_told(kept: bytes, said: str) -> None:
    assert differing(kept, RECEIPT, problem=None)[1:] == (said, "got pass (completed/scenario_satisfied)")


def test_a_missing_snapshot_shows_what_would_be_in_it() -> None:
    assert differing(None, RECEIPT, problem=None)[1:] == (
        "there is no snapshot yet; got pass (completed/scenario_satisfied)",
        "step 1: look, no code, succeeded",
        "step 2: look, no code, succeeded",
    )


def test_every_cause_of_a_stale_recording_is_told_and_nothing_else() -> None:
    drifts = [
        {
            "code": "stale_request",
            "check": "drift",
            "step": None,
            "pointer": "/messages/1/content",
            "expected": "1",
            "got": "2",
        },
        {"code": "stale_plane_answer", "check": "drift", "step": 2, "pointer": "/a"},
        {"code": "wrong", "check": "answer", "step": 2, "pointer": "/secondary"},
    ]
    again = RerecordSpec(scenario="team/look", actor="openai/m")
    lines = stale(changed(findings=tuple(Finding.model_validate(drift) for drift in drifts)), (), again)
    assert lines[-1] == "to record anew: harness record team/look --actor openai/m --stale-only --yes-spend"
    assert "the model was asked something else" in lines
    assert "  at        /messages/1/content" in lines
    assert "the control plane answered differently, step 2" in lines
    assert not any("/secondary" in line for line in lines)
    assert all(len(line) <= 80 for line in lines[:-1])


def test_the_parts_that_changed_are_named_and_no_others() -> None:
    got = changed(scenario_digest="sha256:t", definition_digest="sha256:e")
    lines = differing(canonical(RECEIPT).encode(), got, problem=None, parts=("limits.model_turns",))
    assert "the scenario changed: limits.model_turns" in lines
    assert not any(word in line for line in lines for word in ("world", "prompt", "tools"))


def test_a_digest_is_never_broken_at_the_end_of_a_line() -> None:
    step = replace(RECEIPT.steps[0], kind="k" * 79)
    for width in (40, 80, 140):
        lines = differing(
            canonical(RECEIPT).encode(), changed(steps=(step,)), problem="x " * 30 + "d" * 71, width=width
        )
        assert any("d" * 71 in line for line in lines)
        assert any("k" * 79 in line for line in lines)


def test_names_act_on_no_terminal_and_no_shell() -> None:
    assert near(Path("/a/b\x1b[2J"), Path("/a")) == "b\ufffd[2J"
    assert near(Path("/c/d"), Path("/a")) == "/c/d"
    assert quoted("a.toml::script:x; rm y") == "'a.toml::script:x; rm y'"
