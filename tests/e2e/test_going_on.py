"""A simulated model against the real control plane: an answer, a result that somebody tells, and a long one kept."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import CommandLine
from machine import PATIENCE_S

pytestmark = [pytest.mark.plane, pytest.mark.slow]

SCENARIO = "loopx/selected-todo"
REPOSITORY = Path(__file__).resolve().parents[2]


def changed(line: CommandLine, script: str, *changes: tuple[str, str]) -> None:
    """The scenario with a right script ``mine``, and with these texts in the place of others."""
    text = (REPOSITORY / "scenarios" / f"{SCENARIO}.toml").read_text("utf-8")
    for old, new in (("[script.right]\n", f"[script.right]\nmine = {script}\n"), *changes):
        assert old in text
        text = text.replace(old, new, 1)
    path = line.cwd / "scenarios" / f"{SCENARIO}.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")


@contextmanager
def rehearsed(line: CommandLine) -> Iterator[tuple[str, Path]]:
    """The words that name a model which plays ``mine``, and the log of what it was asked."""
    policies, log = line.folder / "policies.toml", line.folder / "paid.jsonl"
    policies.write_text(
        'schema = 1\n[policy.mine]\nscript = "right:mine"\n[model.mine]\npolicies = ["mine"]\nlatency_ms = [150, 250]\n'
    )
    served = line.start("wire", "rehearse", SCENARIO, "--policies", str(policies), "--log", str(log))
    assert served.stdout is not None
    try:
        yield f"openai-compatible/mine@{json.loads(served.stdout.readline())['url']}", log
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE_S)


def asked(log: Path) -> int:
    """How many calls were paid for."""
    return log.read_bytes().count(b"\n") if log.exists() else 0


def receipt(line: CommandLine, out: str) -> bytes:
    return (line.cwd / out / "receipts.jsonl").read_bytes()


def test_an_episode_that_waits_is_answered_by_another_process(line: CommandLine) -> None:
    ask = '{ calls = [{ name = "request_user_input", arguments = { code = "decision_required", text = "Go?" } }] }'
    offer = ("[script]\n", '[control]\noffer = ["request_user_input"]\n\n[script]\n')
    changed(line, f'["{{quota_guard_command}}", {ask}, "cat {{source}}"]', offer)
    with rehearsed(line) as (actor, log):
        first = line.run("run", SCENARIO, "--actor", actor, "--yes-spend", "--out", "run")
        assert (first.returncode, asked(log)) == (3, 2), first.stderr
        assert json.loads(receipt(line, "run"))["outcome"]["reason"] == "needs_user_input"
        journal = next((line.cwd / "run/episodes").glob("*/journal.jsonl"))
        before = journal.read_bytes()
        for more in ((), ("--max-cost", "1"), ("--yes-spend", "--decide", "1=abort"), ("--yes-spend", "x/y")):
            refused = line.run("run", "--resume", "run", "--answer", "1=Go.", *more)
            assert (refused.returncode, refused.stderr.count(b"\n")) == (4, 1), refused.stderr
            assert journal.read_bytes() == before
        done = line.run("run", "--resume", "run", "--answer", "1=Go.", "--yes-spend")
        assert (done.returncode, asked(log)) == (0, 3), done.stderr
    assert json.loads(receipt(line, "run"))["verdict"] == "pass"


def test_a_run_with_a_long_result_that_is_killed_leaves_the_receipt_of_an_undisturbed_one(line: CommandLine) -> None:
    words = "word " * 20_000
    notes = f'[[workspace.file]]\nat = ["project/notes.md"]\ntext = "{words}"\n\n[[workspace.file]]\n'
    changed(
        line,
        '["{quota_guard_command}", "cat notes.md", "cat {source}"]',
        ("[[workspace.file]]\n", notes),
        ("metadata = [", 'metadata = ["project/notes.md", '),
        ("[script]\n", "[observe]\nspill = true\n\n[script]\n"),
    )
    with rehearsed(line) as (actor, log):
        whole = line.run("run", SCENARIO, "--actor", actor, "--yes-spend", "--out", "whole")
        assert (whole.returncode, asked(log)) == (0, 3), whole.stderr
        entry = json.loads((line.cwd / "whole/run.jsonl").read_bytes())
        assert entry["spilled"] == 1
        process, waiting = (
            line.start("run", SCENARIO, "--actor", actor, "--yes-spend", "--out", "killed"),
            threading.Event(),
        )
        while asked(log) < 6 and process.poll() is None:
            waiting.wait(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == -signal.SIGKILL
        done = line.run("run", "--resume", "killed", "--yes-spend")
        assert done.returncode == 0, done.stderr
        assert asked(log) <= 7
    assert receipt(line, "killed") == receipt(line, "whole")
    assert json.loads((line.cwd / "killed/run.jsonl").read_bytes())["spilled"] == 1


def test_a_result_that_somebody_tells_is_taken_for_what_the_control_plane_printed(line: CommandLine) -> None:
    """No call of the control plane is over in time, but what it would have printed is known."""
    recorded = next((REPOSITORY / "recordings" / SCENARIO).glob("*--good-*.jsonl")).read_text("utf-8")
    rows = [json.loads(row)["entry"] for row in recorded.splitlines()]
    (printed,) = (row for row in rows if row["line"] == "answer" and row["step"] == 1)
    (line.cwd / "printed.json").write_text(json.dumps(printed["answer"]), "utf-8")
    command = (
        "loopx --format json quota should-run --goal-id {goal} --agent-id {agent} --codex-app --turn-instance-id 1"
    )
    text = (REPOSITORY / "scenarios" / f"{SCENARIO}.toml").read_text("utf-8")
    late = next(row for row in text.splitlines() if row.startswith("heartbeat = "))
    changed(
        line,
        '["{quota_guard_command}", "cat {source}"]',
        ("[limits]\n", "[limits]\ntool_call_s = 0.02\n"),
        (f"{late}\n", ""),
        ("\n{heartbeat}\n", f"\nRun {command}\n"),
    )
    with rehearsed(line) as (actor, log):
        words = ("--actor", actor, "--yes-spend", "--executor", "cold", "--out", "run")
        first = line.run("run", SCENARIO, *words)
        outcome = json.loads(receipt(line, "run"))["outcome"]
        assert (outcome["reason"], outcome["detail"]) == ("reconciliation_required", "tool_effect"), first.stderr
        go_on = ("run", "--resume", "run", "--yes-spend", "--executor", "cold", "--decide")
        done = line.run(*go_on, "1=replay_success:printed.json")
        assert (done.returncode, asked(log)) == (0, 2), done.stderr
    assert json.loads(receipt(line, "run"))["verdict"] == "pass"
