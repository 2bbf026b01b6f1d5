"""``--answer`` and ``--decide``: all of them are checked before anything is recorded, and all or none are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from harness.errors import DecisionRefusedError, OpeningRefusedError
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
        (("--answer", "1=Yes.", "pack/a"), "--resume takes scenarios, actors, trials and settings from the run"),
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
