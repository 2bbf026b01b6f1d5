"""A live model over real HTTP drives the real control plane through the same loop."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import pytest
from chat_server import call, serving, text
from command_line import CommandLine
from pydantic import JsonValue

from harness import wiring
from harness.schema.limits import Limits

pytestmark = pytest.mark.plane


def last_message(body: dict[str, JsonValue]) -> tuple[str, str]:
    """Role and text of the newest message."""
    messages = body["messages"]
    assert isinstance(messages, list)
    newest = messages[-1]
    assert isinstance(newest, dict)
    return str(newest["role"]), str(newest["content"])


class Follower:
    """Does what a model that follows the projection does, from nothing but what it is shown."""

    def __init__(self) -> None:
        self.reentry: list[str] = []

    def __call__(self, body: dict[str, JsonValue]) -> dict[str, JsonValue]:
        role, shown = last_message(body)
        messages = body["messages"]
        assert isinstance(messages, list)
        name = f"call-{len(messages)}"
        if role == "user":
            found = re.search(r"loopx [^`\n]*quota should-run[^`\n]*", shown)
            assert found is not None
            return call(found[0], name)
        if '"next_task_action"' in shown:
            contract = json.loads(shown)["interaction_contract"]
            self.reentry = contract["cli_channel"]["next_cli_actions"]
            return call(f"cat {contract['agent_channel']['next_task_action']['target_ref']}", name)
        return call(self.reentry[0], name)


def run(line: CommandLine, url: str, *more: str, says: str = "") -> tuple[int, dict[str, JsonValue], Path]:
    """Exit code, receipt and run folder; ``says`` is how the one line on standard error begins, if there is one."""
    out = line.folder / "out"
    done = line.run(
        "run",
        "loopx/capability-repair",
        "--actor",
        f"openai-compatible/toy-1@{url}",
        "--yes-spend",
        "--retries",
        "0",
        "--format",
        "jsonl",
        "--out",
        str(out),
        *more,
    )
    assert done.stderr.startswith(says.encode()), done.stderr
    assert done.stderr.count(b"\n") == bool(says), done.stderr
    return done.returncode, json.loads(done.stdout), out


def test_a_model_that_follows_the_projection_passes(line: CommandLine) -> None:
    with serving(Follower()) as server:
        code, receipt, out = run(line, server.url, "--set", "temperature=0", "--set", "max_output_tokens=500")
    assert (code, receipt["verdict"], receipt["failure_code"]) == (0, "pass", None)
    assert server.bodies[0]["temperature"] == 0
    assert server.bodies[0]["max_tokens"] == 500
    log = json.loads((out / "run.jsonl").read_text(encoding="utf-8"))
    assert [row["usage"]["input_tokens"] for row in log["attempts"]] == [7, 7, 7]
    assert log["attempts"][0]["model"] == "toy-1"
    assert "127.0.0.1" not in (out / "receipts.jsonl").read_text(encoding="utf-8")


def test_a_model_that_only_talks_fails_and_the_run_itself_is_fine(line: CommandLine) -> None:
    with serving(lambda _: text("All done!")) as server:
        code, receipt, _ = run(line, server.url)
    assert (code, receipt["verdict"], receipt["failure_code"]) == (0, "fail", "model_returned_without_tool_call")


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        ((401, b'{"error": {"message": "no"}}'), "auth"),
        # these are tried again for a while
        pytest.param((429, b'{"error": {"message": "slow down"}}'), "rate_limited", marks=pytest.mark.slow),
        pytest.param((503, b"<html>busy</html>"), "server", marks=pytest.mark.slow),
        ((200, b"<!doctype html><title>login</title>"), "protocol"),
        ((200, b""), "protocol"),
    ],
    ids=["401", "429", "503", "html", "nothing"],
)
def test_an_outage_is_one_receipt_and_not_judged(line: CommandLine, answer: tuple[int, bytes], detail: str) -> None:
    with serving(lambda _: answer) as server:
        slowed = "harness: provider openai-compatible refused 4 calls for its limits" if answer[0] == 429 else ""
        code, receipt, _ = run(line, server.url, says=slowed)
    assert (code, receipt["verdict"], receipt["cause"]) == (2, "not_judged", "provider")
    outcome = receipt["outcome"]
    assert isinstance(outcome, dict)
    assert (outcome["reason"], outcome["detail"]) == ("model_error", detail)


@pytest.mark.slow
def test_a_refused_port_is_one_receipt_and_not_judged(line: CommandLine) -> None:
    with serving(lambda _: text("")) as server:
        url = server.url
    code, receipt, _ = run(line, url)
    outcome = receipt["outcome"]
    assert isinstance(outcome, dict)
    assert (code, outcome["detail"]) == (2, "transport")
    counters = receipt["counters"]
    assert isinstance(counters, dict)
    assert counters["model_turns"] == 0


@pytest.mark.slow
def test_a_model_that_never_answers_leaves_it_open_what_it_cost(line: CommandLine) -> None:
    """The episode's own bound ends the call before the transport's: nobody knows what the provider did."""
    place = wiring.settings()
    text_ = wiring.scenarios(place)["loopx/selected-todo"].read_text(encoding="utf-8")
    folder = line.cwd / "scenarios" / "loopx"
    folder.mkdir(parents=True)
    limited = text_.replace("[limits]\n", "[limits]\nmodel_call_s = 1.0\n", 1)
    (folder / "selected-todo.toml").write_text(limited, encoding="utf-8")
    release = threading.Event()

    def hang(_: dict[str, JsonValue]) -> dict[str, JsonValue]:
        release.wait(60)
        return text("too late")

    with serving(hang) as server:
        actor = f"openai-compatible/toy-1@{server.url}"
        out = line.folder / "out"
        done = line.run(
            "run", "loopx/selected-todo", "--actor", actor, "--yes-spend", "--format", "jsonl", "--out", str(out)
        )
        release.set()
    receipt = json.loads(done.stdout)
    assert (receipt["verdict"], receipt["cause"]) == ("pending", "provider")
    assert receipt["outcome"]["reason"] == "reconciliation_required"
    log = json.loads((out / "run.jsonl").read_text(encoding="utf-8"))
    assert [row["status"] for row in log["attempts"]] == ["unknown"]


@pytest.mark.slow
def test_an_outage_is_tried_again_and_both_conversations_are_kept(line: CommandLine) -> None:
    follower, asked = Follower(), 0

    def answer(body: dict[str, JsonValue]) -> dict[str, JsonValue] | tuple[int, bytes]:
        nonlocal asked
        asked += 1
        # as long as one call is tried again, and no longer
        return (503, b"<html>busy</html>") if 2 <= asked < 2 + Limits().model_attempts else follower(body)

    with serving(answer) as server:
        done = line.run(
            *("run", "loopx/capability-repair", "--actor", f"openai-compatible/toy-1@{server.url}"),
            *("--yes-spend", "--keep", "all", "--format", "jsonl", "--out", str(line.folder / "out")),
        )
    receipts = [json.loads(row) for row in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [(receipt["attempt"], receipt["verdict"]) for receipt in receipts] == [(1, "not_judged"), (2, "pass")]
    kept = sorted(path.name for path in (line.folder / "out/recordings").rglob("*.jsonl"))
    assert [re.sub(r"-[0-9a-f]{8}", "", name) for name in kept] == [
        "openai-compatible--toy-1-a2.jsonl",
        "openai-compatible--toy-1.jsonl",
    ]
    assert not (line.folder / "out/episodes").exists()
    shown = line.run("show", f"{line.folder}/out/2", "--transcript")
    assert shown.returncode == 0, shown.stderr
