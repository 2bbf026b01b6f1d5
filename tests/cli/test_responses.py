"""``--answer`` and ``--decide``: all of them are checked before anything is recorded, and all or none are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from harness.errors import DecisionRefusedError, OpeningRefusedError
from harness.receipt import RunStore, read_run
from harness.redaction import SecretGuard
from harness.schema.outcome import Outcome
from harness.schema.run import EpisodeJob, EpisodeResult

LIVE = ("pack/a", "--actor", "openai-compatible/priced-bounded", "--trials", "3", "--yes-spend", "--out", "out")
ON = ("run", "--resume", "out", "--yes-spend")


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    jobs: list[EpisodeJob]
    changed: dict[str, str]
    episode: Callable[[EpisodeJob], EpisodeResult] | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


class Desk:
    """Episodes 1 and 2 wait, one for an answer and one for a decision; what was recorded, and who is held now."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, object]] = []
        self.held: set[str] = set()
        self.at_play: list[tuple[int, set[str]]] = []

    @contextmanager
    def answer(self, _: Path, key: str, text: str) -> Iterator[Callable[[], object]]:
        if not text.strip():
            raise ValueError("an answer is not blank")
        if "|1|" not in key:
            raise OpeningRefusedError("key_conflict", "it waits for no answer")
        with self._hold(key, text) as record:
            yield record

    @contextmanager
    def decide(self, _: Path, key: str, decision: str, printed: bytes | None) -> Iterator[Callable[[], object]]:
        if "|2|" not in key:
            raise DecisionRefusedError("it waits for no decision")
        with self._hold(key, (decision, printed)) as record:
            yield record

    @contextmanager
    def _hold(self, key: str, what: object) -> Iterator[Callable[[], object]]:
        self.held.add(key)
        try:
            yield lambda: self.recorded.append((key.split("|")[-2], what))
        finally:
            self.held.discard(key)


@pytest.fixture
def desk(harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A run whose first two episodes wait, and whose third is over."""
    made = Desk()
    monkeypatch.setattr("harness.wiring.waiting.held_for_answer", made.answer)
    monkeypatch.setattr("harness.wiring.waiting.held_for_decision", made.decide)

    def waits(job: EpisodeJob) -> EpisodeResult:
        result = world.result(job)
        if job.trial > 2:
            return result
        outcome = Outcome(status="suspended", reason="reconciliation_required", detail="tool_effect")
        receipt = result.receipt.model_copy(update={"outcome": outcome, "verdict": "pending"})
        return EpisodeResult(receipt=receipt, log=result.log.model_copy(update={"resumable": True}))

    def goes_on(job: EpisodeJob) -> EpisodeResult:
        made.at_play.append((len(made.recorded), set(made.held)))
        return world.result(job)

    world.episode = waits
    assert harness("run", *LIVE)[0] == 3
    world.episode = goes_on
    world.jobs.clear()
    return made


def test_all_is_recorded_and_let_go_before_anything_is_played(harness: Harness, desk: Desk) -> None:
    Path("printed").write_bytes(b"{}")
    code, _, err = harness(*ON, "--answer", "1=Yes = yes.", "--decide", "2=replay_success:printed")
    assert (code, err) == (0, "harness: 1 of 3 episodes is finished; 2 are played now\n")
    assert desk.recorded == [("1", "Yes = yes."), ("2", ("replay_success", b"{}"))]
    assert desk.at_play == [(2, set()), (2, set())]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            ("--answer", "1=Yes.", "--answer", "3=Yes."),
            "--answer 3: the episode takes no answer: key_conflict",
        ),
        (("--answer", "1=Yes.", "--decide", "3=abort"), "--decide 3: it waits for no decision"),
        (("--answer", "2=Yes.", "--decide", "1=abort"), "no answer; --decide 1: it waits for no decision"),
        (("--answer", "1=Yes.", "--decide", "2=maybe"), "--decide: allowed: NUMBER=DECISION"),
        (("--answer", "1= ", "--decide", "2=abort"), "--answer 1: an answer is not blank"),
        (("--answer", "1=Yes.", "--answer", "1=No."), "episode 1 is spoken to 2 times; say one thing to it"),
        (("--answer", "1=Yes.", "--decide", "1=abort"), "episode 1 is spoken to 2 times; say one thing to it"),
        (("--answer", "1=Yes.", "--decide", "4=abort"), "--decide 4: out has 3 episodes"),
        (("--answer", "1=Yes.", "--decide", "2=replay_success:none"), "--decide 2: none: "),
        (("--answer", "1=Yes.", "pack/a"), "--resume takes scenarios, actors, planes, trials and settings"),
        (("--answer", "1=Yes.", "--report", "none"), "none"),
        (("--answer", "1=Yes.", "--provider-limit", "x"), "--provider-limit"),
    ],
)
def test_where_anything_is_refused_nothing_is_recorded(
    harness: Harness, world: World, desk: Desk, more: tuple[str, ...], told: str
) -> None:
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    code, out, err = harness(*ON, *more)
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert told in err
    assert (desk.recorded, desk.held, world.jobs) == ([], set(), [])
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before


def test_a_run_that_costs_money_without_consent_records_nothing(harness: Harness, desk: Desk) -> None:
    code, _, err = harness("run", "--resume", "out", "--answer", "1=Yes.")
    assert (code, err.count("\n"), desk.recorded) == (4, 1, [])


def test_an_episode_whose_scenario_changed_takes_no_answer(harness: Harness, world: World, desk: Desk) -> None:
    world.changed = {"pack/a": "2"}
    code, _, err = harness(*ON, "--answer", "1=Yes.")
    assert (code, err.count("\n"), desk.recorded) == (4, 1, [])
    assert "--answer 1: the episode is not gone on with, for what it plays changed since" in err


def test_a_plan_that_is_only_printed_checks_them_and_records_nothing(harness: Harness, desk: Desk) -> None:
    assert harness(*ON, "--answer", "1=Yes.", "--dry-run")[0] == 0
    assert harness(*ON, "--answer", "3=Yes.", "--dry-run")[0] == 4
    assert (desk.recorded, desk.held) == ([], set())


@pytest.mark.parametrize("words", [("--answer", "1=Yes."), ("--decide", "1=abort")])
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_nothing_is_said_to_a_run_that_is_not_gone_on_with(
    harness: Harness, world: World, words: tuple[str, ...], more: tuple[str, ...]
) -> None:
    code, _, err = harness("run", "pack/a", *words, *more)
    assert (code, err.count("\n"), world.jobs) == (4, 1, [])
    assert "beside --resume" in err


def test_what_waits_is_told_with_a_command_that_is_accepted_as_it_is(
    harness: Harness, world: World, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    del desk
    monkeypatch.setattr("harness.wiring.waiting.asked_in", lambda *_: "Which\none? " + "x" * 400)
    (first, _), second = WAITING
    world.episode = lambda job: waits_as(world, job, *(first, "") if job.trial == 1 else second)
    _, _, err = harness("run", *LIVE[:-1], "other")
    told = err.splitlines()
    go_on = "harness run --resume other"
    asks, undecided, meaning = told
    assert asks == (
        f'harness: episode 1 waits for a person (decision_required): "Which one? {"x" * 289}…"; answer with: '
        f"{go_on} --answer 1=TEXT --yes-spend"
    )
    assert undecided == (
        "harness: 2 episodes (2, 3) wait for a decision, for nobody knows what came of a call; decide with: "
        f"{go_on} --decide all=retry --yes-spend"
    )
    assert meaning == (
        "harness: decisions are retry (the call is made again, and may be paid twice), replay_success (a reply that "
        "came late is taken; of a control plane say replay_success:FILE), record_failure (it counts as failed), abort "
        "(the episode is given up), defer (it waits on); for one of them: --decide 2=DECISION"
    )
    shown = harness("show", "other/1")[1]
    assert "\nWaits for you\n   Which\n   one?\n   xxx" in shown
    assert "harness run --resume other --answer 1=TEXT --yes-spend" in shown
    assert json.loads(harness("show", "other/1", "--format", "json")[1])["asks"].startswith("Which\none?")
    assert "no recording of this episode was kept" not in shown
    assert "the episode is not over: what is recorded of it is kept, as --keep says, when it ends" in shown
    shown = harness("show", "other/2")[1]
    assert "   harness run --resume other --decide 2=retry --yes-spend\n" in shown
    assert json.loads(harness("show", "other/2", "--format", "json")[1])["asks"] is None


WAITING = (("needs_user_input", "decision_required"), ("reconciliation_required", "model_call"))


def waits_as(world: World, job: EpisodeJob, reason: str, detail: str) -> EpisodeResult:
    result = world.result(job)
    outcome = Outcome.model_validate({"status": "suspended", "reason": reason, "detail": detail or "decision_required"})
    return EpisodeResult(
        receipt=result.receipt.model_copy(update={"outcome": outcome, "verdict": "pending"}),
        log=result.log.model_copy(update={"resumable": True}),
    )


def test_a_secret_in_a_question_is_not_shown(
    harness: Harness, world: World, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    del desk
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    monkeypatch.setattr("harness.wiring.waiting.asked_in", lambda *_: "Is sk-canary-0123456789 yours?\x1b[2J")
    world.episode = lambda job: waits_as(world, job, *WAITING[0])
    _, out, err = harness("run", *LIVE[:-1], "other")
    shown = harness("show", "other/1")[1] + harness("show", "other/1", "--format", "json")[1]
    assert "canary" not in out + err + shown
    assert "[mask]" in err
    assert "\x1b" not in out + err + shown


def test_all_that_wait_for_a_decision_are_decided_about_but_for_those_that_are_named(
    harness: Harness, desk: Desk
) -> None:
    code, _, err = harness(*ON, "--decide", "all=retry")
    assert code == 0, err
    assert "--decide all, episode 1: it waits for no decision; it waits on" in err
    assert desk.recorded == [("2", ("retry", None))]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--decide", "all=retry", "--decide", "all=abort"), "--decide all is given 2 times"),
        (("--answer", "all=Yes."), "--answer: allowed: NUMBER=TEXT"),
        (("--decide", "all=retry", "--decide", "2=abort"), "--decide all, episode 1: it waits for no decision"),
        (
            ("--decide", "all=retry", "--decide", "2=abort", "--answer", "1=Yes."),
            "--decide all: no other episode of out waits for a decision",
        ),
        (("--decide", "pack/a#9@openai-compatible/priced-bounded=abort"), "out has no such episodes"),
    ],
)
def test_all_is_said_once_and_only_where_it_is_somebody(
    harness: Harness, desk: Desk, more: tuple[str, ...], told: str
) -> None:
    code, _, err = harness(*ON, *more)
    if "2=abort" in more and "--answer" not in more:
        assert (code, told in err, desk.recorded) == (0, True, [("2", ("abort", None))])
        return
    assert (code, err.count("\n"), desk.recorded) == (4, 1, [])
    assert told in err


def test_an_episode_is_called_by_its_name_also_where_numbers_moved(harness: Harness, world: World, desk: Desk) -> None:
    name = "pack/a#2@openai-compatible/priced-bounded"
    again = Path("out/run.jsonl")
    assert harness(*ON, "--decide", f"{name}=defer", "--dry-run")[0] == 0
    world.episode = lambda job: waits_as(world, job, *WAITING[1])
    # the first place has another attempt now, so that every number behind it is of another episode
    _with_another_attempt(Path("out"))
    assert again.read_text().count("\n") == 4
    code, _, err = harness(*ON, "--decide", "2=abort")
    assert (code, err.count("\n"), desk.recorded) == (4, 1, [])
    assert "--decide 2: numbers of this run move while episodes are missing or are tried again" in err
    assert "'pack/a#1@openai-compatible/priced-bounded'" in err
    assert harness(*ON, "--decide", f"{name}=defer")[2].count(f"'{name}=") == 0
    assert desk.recorded == [("2", ("defer", None))]


def _with_another_attempt(run: Path) -> None:
    view = read_run(run)
    with RunStore(run, view.manifest, SecretGuard(()), finished=()) as store:
        for place, (receipt, log) in enumerate(zip(view.receipts, view.log, strict=True)):
            if place == 0:
                key = f"{receipt.key.rpartition('|')[0]}|0"
                earlier = receipt.model_copy(update={"attempt": 0, "key": key})
                store.add(0, EpisodeResult(receipt=earlier, log=log.model_copy(update={"key": key})))
            store.add(place, EpisodeResult(receipt=receipt, log=log))
        store.finish("2026-01-01T00:00:00Z")
