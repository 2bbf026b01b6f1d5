"""Who looks on sees every answer in order, and what differs makes an episode prove nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from numbered import case
from toy import ReplyActor, Stage, answer, completed

from harness.errors import ReplayMismatchError
from harness.ports import TurnContext
from harness.redaction import missing
from harness.schema.base import Digest
from harness.schema.message import ModelRequest, Reply
from harness.schema.process import Completed
from harness.schema.recording import Drift, PlaneAnswer
from harness.workspace import Workspace


@dataclass
class Onlooker:
    """Keeps what it is shown; says what it is told to say."""

    at_open: tuple[Drift, ...] = ()
    at_answer: tuple[Drift, ...] = ()
    at_close: tuple[Drift, ...] = ()
    frozen: list[tuple[Digest, Digest]] = field(default_factory=list)
    answers: list[PlaneAnswer] = field(default_factory=list)

    def opened(self, prompt: Digest, tools: Digest) -> tuple[Drift, ...]:
        """The world stands."""
        self.frozen.append((prompt, tools))
        return self.at_open

    def answered(self, answer: PlaneAnswer) -> tuple[Drift, ...]:
        """An answer."""
        self.answers.append(answer)
        return self.at_answer

    def closed(self) -> tuple[Drift, ...]:
        """The end."""
        return self.at_close


def test_a_witness_that_finds_nothing_changes_nothing(stage: Stage) -> None:
    assert stage.play(witness=Onlooker()).receipt == stage.play().receipt


def test_answers_are_shown_without_volatile_values_and_paths(stage: Stage) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        return completed(f'{{"target": "notes/a.json", "stamp": 4, "at": "{workspace.roots["project"]}/x"}}')

    onlooker = Onlooker()
    stage.play(says=says, witness=onlooker)
    (told,) = onlooker.answers
    assert (told.step, told.kind, told.exit_code) == (1, "ask", 0)
    assert told.answer == {"target": "notes/a.json", "at": "{project_root}/x"}


def test_an_answer_that_is_no_json_is_shown_as_its_text(stage: Stage) -> None:
    onlooker = Onlooker()
    stage.play(
        says=lambda w, args: answer(w, args) if args == ("greet",) else completed("broken", 3, stderr="why"),
        witness=onlooker,
    )
    assert (onlooker.answers[0].answer, onlooker.answers[0].exit_code) == ("brokenwhy[exit code 3]\n", 3)


def test_prompt_and_tools_are_the_same_in_any_place(stage: Stage) -> None:
    one, other = Onlooker(), Onlooker()
    stage.play(witness=one)
    stage.play(witness=other)
    assert one.frozen == other.frozen


def test_an_episode_that_passed_proves_nothing_where_something_differs(stage: Stage) -> None:
    drift = Drift(stale="plane_answer", step=1, pointer="/target", recorded=missing(), now=missing())
    for onlooker in (Onlooker(at_open=(drift,)), Onlooker(at_answer=(drift,)), Onlooker(at_close=(drift,))):
        receipt = stage.play(witness=onlooker).receipt
        assert (receipt.verdict, receipt.failure_code, receipt.cause) == (
            "not_judged",
            "stale_plane_answer",
            "control_plane",
        )
        found = receipt.findings[0]
        assert (found.check, found.code, found.step, found.pointer) == ("drift", "stale_plane_answer", 1, "/target")
        assert receipt.outcome.name == "completed/scenario_satisfied"


def test_the_first_difference_names_the_code_and_rules_that_broke_are_told_too(stage: Stage) -> None:
    onlooker = Onlooker(at_open=(Drift(stale="prompt"),), at_close=(Drift(stale="not_asked", exchange=2),))
    receipt = stage.play(("touch x",), witness=onlooker).receipt
    assert (receipt.failure_code, receipt.cause) == ("stale_prompt", "scenario")
    assert [found.code for found in receipt.findings] == ["stale_prompt", "stale_not_asked", "unexpected_command"]


@case(201)
def test_a_request_without_a_recorded_answer_ends_the_episode(stage: Stage) -> None:
    def unrecorded(_: ModelRequest, __: TurnContext) -> Reply:
        raise ReplayMismatchError(2)

    played = stage.play(actor=ReplyActor([unrecorded], kind="recorded"))
    assert played.receipt.outcome.name == "failed/replay_mismatch"
    assert (played.receipt.outcome.detail, played.receipt.verdict) == ("turn_1", "not_judged")
    assert played.result.log.attempts[0].error == "replay_mismatch"
