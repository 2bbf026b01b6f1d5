"""A whole nightly that is killed again and again ends as an undisturbed one, and pays for nothing twice unsaid.

A call that was cut off by a kill is made once more, and no second time: an episode in which that one is cut off too
waits for a decision by design. So a run is killed again only when every call that the kill before cut off has come to
an end, and at least six more calls were begun.
"""

from __future__ import annotations

import json
import random
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import CommandLine
from machine import PATIENCE_S

from harness import wiring

pytestmark = [pytest.mark.plane, pytest.mark.slow]

#: Ten percent of all attempts go wrong, in six ways.
FAULTS = (
    '{ kind = "status", status = 429, retry_after_s = 0.05, rate = 0.02 }',
    '{ kind = "status", status = 503, rate = 0.01 }',
    '{ kind = "reset", rate = 0.02 }',
    '{ kind = "truncate", rate = 0.02 }',
    '{ kind = "no_usage", rate = 0.02 }',
    '{ kind = "html", rate = 0.01 }',
)
#: Outages that the attempts at one call do not outlast: the episode is tried again.
OUTAGES = ('{ kind = "html", rate = 0.15 }', '{ kind = "status", status = 500, rate = 0.05 }')
#: Calls that are never answered, among those that are: a kill may fall into one that hangs.
HANGS = ('{ kind = "hang", rate = 0.08 }', '{ kind = "reset", rate = 0.03 }')
#: How long a model may take for an answer where some never come, in seconds; the others take 60 ms.
MODEL_CALL_S = 3.0
WRONG = {
    "loopx/capability-repair": "monitor_fallback",
    "loopx/selected-todo": "wrong_selected_todo_target",
    "registry/answers-after-last-tool-call": "wrong_answer",
    "registry/finalizes-without-false-claims": "false_claim",
    "registry/recovers-from-stale-version": "gave_up_after_refusal",
    "registry/reports-blocked-honestly": "claimed_that_it_is_done",
}


def policies(faults: tuple[str, ...], models: tuple[str, ...]) -> str:
    """Models that do what the scenario wants in seven trials of ten, each with draws and faults of its own."""
    lines = ["schema = 1", '[policy.right]\nscript = "reference"\nweight = 7.0']
    lines += [
        f'[policy.wrong-{number}]\nscript = "wrong:{code}"\nweight = 3.0\nscenarios = ["{scenario}"]'
        for number, (scenario, code) in enumerate(WRONG.items(), 1)
    ]
    played = ["right", *(f"wrong-{number}" for number in range(1, len(WRONG) + 1))]
    for model in models:
        lines.append(f'[model.{model}]\npolicies = {json.dumps(played)}\ndraws = "{model}"\nlatency_ms = [20, 60]')
        lines.append(f"fault = [{', '.join(faults)}]")
    return "\n".join(lines)


#: Records after which a model call is over; so is one of an unknown outcome that no kill is the cause of.
ENDS = {"op_receipt", "op_not_sent"}
#: Calls that are begun between two kills at least.
LEAST = 6
#: Model, scenario, trial, attempt.
Episode = tuple[str, str, int, int]


@dataclass
class Night:
    """A rehearsal server with two models, its log of paid calls, and runs against it."""

    line: CommandLine
    log: Path
    address: str
    retries: int
    selection: tuple[str, ...]
    trials: int

    @property
    def asked(self) -> tuple[str, ...]:
        """What the run is told."""
        actors = [word for name in ("day", "night") for word in ("--actor", f"openai-compatible/{name}@{self.address}")]
        more = ("--trials", str(self.trials), "--retries", str(self.retries))
        return (*self.selection, *actors, *more, "-n", "2", "--yes-spend", "--report", "junit")

    def begun(self) -> int:
        """How many calls were begun so far."""
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def paid(self, since: int = 0) -> Counter[tuple[str, str]]:
        """How often each call was paid for after so many: by model and visit."""
        rows = map(json.loads, self.log.read_text("utf-8").splitlines()[since:])
        return Counter((row["model"], json.dumps(row["visit"], sort_keys=True)) for row in rows)

    def words(self, out: str) -> tuple[str, ...]:
        """How a run is begun or gone on with."""
        if (self.line.cwd / out).exists():
            return ("run", "--resume", out, "--yes-spend", "-n", "2", "--report", "junit")
        return ("run", *self.asked, "--out", out)

    def kill(self, out: str, calls: int) -> bool:
        """Go on with a run and kill it ``calls`` calls later; False where it ended before.

        Not before each call that was cut off by an earlier kill has ended.
        """
        folder = self.line.cwd / out / "episodes"
        cut_off, before = open_calls(folder), self.begun()
        process = self.line.start(*self.words(out))
        waiting = threading.Event()
        while process.poll() is None:
            if self.begun() >= before + calls and not cut_off & open_calls(folder):
                break
            waiting.wait(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        return process.returncode == -signal.SIGKILL

    def receipts(self, out: str) -> bytes:
        """The receipts of a finished run."""
        return (self.line.cwd / out / "receipts.jsonl").read_bytes()

    def flagged(self, out: str) -> set[Episode]:
        """The episodes of a finished run that say that a call of theirs may have been paid for twice."""
        rows = map(json.loads, (self.line.cwd / out / "run.jsonl").read_text("utf-8").splitlines())
        receipts = map(json.loads, self.receipts(out).splitlines())
        return {
            (receipt["actor"]["model"], receipt["scenario"], receipt["trial"], receipt["attempt"])
            for receipt, row in zip(receipts, rows, strict=True)
            if "duplicate_risk" in row["recovery"]
        }


def open_calls(folder: Path) -> set[tuple[str, str]]:
    """Model calls that were begun and did not end, by the episodes on disk."""
    found = set()
    for journal in folder.glob("*/journal.jsonl"):
        state: dict[str, bool] = {}
        for line in _lines(journal):
            try:
                payload = json.loads(line).get("payload", {"kind": "head"})
            except ValueError:
                continue  # it is being written
            name = payload.get("operation", "")
            ended = payload["kind"] in ENDS or (payload["kind"] == "op_unknown" and payload["detail"] != "interrupted")
            if name.endswith("/main") and (ended or payload["kind"] == "op_started"):
                state[name] = not ended
        found |= {(journal.parent.name, name) for name, is_open in state.items() if is_open}
    return found


def _lines(journal: Path) -> list[bytes]:
    try:
        return journal.read_bytes().splitlines()
    except FileNotFoundError:
        return []  # the episode is over


def night_of(
    line: CommandLine, faults: tuple[str, ...], *, retries: int, selection: tuple[str, ...], trials: int
) -> Iterator[Night]:
    """Serve while it is used."""
    log, file = line.folder / "paid.jsonl", line.folder / "policies.toml"
    file.write_text(policies(faults, ("day", "night")), encoding="utf-8")
    served = line.start("wire", "rehearse", "--policies", str(file), "--seed", "11", "--log", str(log))
    assert served.stdout is not None
    address = json.loads(served.stdout.readline())["url"]
    try:
        yield Night(line, log, address, retries, selection, trials)
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE_S)


@pytest.fixture
def night(line: CommandLine) -> Iterator[Night]:
    yield from night_of(line, FAULTS, retries=0, selection=(), trials=5)


@pytest.fixture
def bad_night(line: CommandLine) -> Iterator[Night]:
    yield from night_of(line, OUTAGES, retries=1, selection=("registry/*",), trials=3)


@pytest.fixture
def hanging_night(line: CommandLine) -> Iterator[Night]:
    """The same scenarios, but for that an answer is not waited for so long."""
    place = wiring.settings()
    for name, path in wiring.scenarios(place).items():
        if name.startswith("registry/"):
            own = line.cwd / "scenarios" / f"{name}.toml"
            own.parent.mkdir(parents=True, exist_ok=True)
            own.write_text(hurried(path.read_text(encoding="utf-8")), encoding="utf-8")
    yield from night_of(line, HANGS, retries=0, selection=("registry/*",), trials=4)


def hurried(text: str) -> str:
    """The text of a scenario with a small bound on each model call."""
    told = f"model_call_s = {MODEL_CALL_S}\n"
    return text.replace("[limits]\n", f"[limits]\n{told}", 1) if "[limits]\n" in text else f"{text}\n[limits]\n{told}"


def killed(night: Night, kills: int, seed: int) -> None:
    """One undisturbed run, one that is killed so often, until near its end, and gone on with: hold both together."""
    whole = night.line.run(*night.words("whole"))
    undisturbed, calls = night.paid(), night.begun()
    assert set(undisturbed.values()) == {1}
    chance = random.Random(seed)  # noqa: S311  (moments of kills)
    longest = int(2 * 0.85 * calls / kills) - LEAST
    done = [night.kill("killed", chance.randint(LEAST, longest)) for _ in range(kills)]
    assert done == [True] * kills
    last = night.line.run(*night.words("killed"))

    assert night.receipts("killed") == night.receipts("whole")
    assert last.returncode == whole.returncode
    paid = night.paid(calls)
    assert paid.keys() == undisturbed.keys()
    twice = {episode_of(call) for call, times in paid.items() if times > 1}
    assert twice
    assert twice <= night.flagged("killed")
    assert list(night.line.temporary.iterdir()) == []


def episode_of(call: tuple[str, str]) -> Episode:
    """The episode that a call is part of."""
    model, visit = call[0], json.loads(call[1])
    return model, visit["scenario"], visit["trial"], visit["attempt"]


def test_a_night_that_is_killed_twenty_times_ends_as_an_undisturbed_one(night: Night) -> None:
    killed(night, 20, seed=7)


def test_episodes_that_are_tried_again_are_tried_as_often_after_kills(bad_night: Night) -> None:
    killed(bad_night, 7, seed=5)
    attempts = [json.loads(line)["attempt"] for line in bad_night.receipts("killed").splitlines()]
    assert max(attempts) == 2


def test_a_kill_that_falls_into_a_call_that_hangs_changes_nothing(hanging_night: Night) -> None:
    killed(hanging_night, 6, seed=3)
    rows = [json.loads(line)["outcome"] for line in hanging_night.receipts("killed").splitlines()]
    waiting = [row for row in rows if (row["reason"], row["detail"]) == ("reconciliation_required", "model_call")]
    assert waiting
