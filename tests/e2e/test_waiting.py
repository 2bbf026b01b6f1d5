"""A live model that asks a person is answered at the command line, and goes on where it was."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from chat_server import call, serving, text
from command_line import CommandLine
from numbered import case
from pydantic import JsonValue

pytestmark = pytest.mark.plane

SCENARIO = "loopx/selected-todo"
REPOSITORY = Path(__file__).parents[2]


def asks() -> dict[str, JsonValue]:
    """A choice that asks the user."""
    choice = call("", "ask-1")
    message = choice["message"]
    assert isinstance(message, dict)
    arguments = json.dumps({"code": "decision_required", "text": "Which one first?"})
    function: dict[str, JsonValue] = {"name": "request_user_input", "arguments": arguments}
    message["tool_calls"] = [{"id": "ask-1", "type": "function", "function": function}]
    return choice


@pytest.mark.slow
@case(78)
def test_an_answer_goes_to_the_model_and_nothing_is_asked_twice(line: CommandLine) -> None:
    folder = line.cwd / "scenarios" / "loopx"
    shutil.copytree(REPOSITORY / "scenarios" / "loopx", folder)
    path = folder / "selected-todo.toml"
    offered = path.read_text("utf-8").replace(
        "[script]\n", '[control]\noffer = ["request_user_input"]\n\n[script]\n', 1
    )
    path.write_text(offered, "utf-8")

    def answer(body: dict[str, JsonValue]) -> dict[str, JsonValue]:
        messages = body["messages"]
        assert isinstance(messages, list)
        return text("I stop here. " * 6_000) if len(messages) > 2 else asks()

    with serving(answer) as server:
        actor = ("--actor", f"openai-compatible/toy-1@{server.url}", "--yes-spend")
        waits = line.run("run", SCENARIO, *actor, "--out", "run")
        assert waits.returncode == 3, waits.stderr
        assert b"episode 1 waits for a person (decision_required)" in waits.stderr
        assert b'(decision_required): "Which one first?"; answer with: ' in waits.stderr
        assert waits.stderr.count(b"\n") == 1
        assert b"   Which one first?\n" in line.run("show", "run/1").stdout
        (receipt,) = map(json.loads, (line.cwd / "run/receipts.jsonl").read_text("utf-8").splitlines())
        assert (receipt["outcome"]["reason"], receipt["verdict"]) == ("needs_user_input", "pending")
        again = line.run("run", "--resume", "run", "--yes-spend")
        assert (again.returncode, len(server.bodies)) == (3, 1), again.stderr
        for wrong in ("1", "x=Yes", "2=Yes.", "1= "):
            refused = line.run("run", "--resume", "run", "--answer", wrong, "--yes-spend")
            assert (refused.returncode, refused.stderr.count(b"\n")) == (4, 1), refused.stderr
        unasked = line.run("run", SCENARIO, "--answer", "1=Yes.")
        assert (unasked.returncode, unasked.stderr.count(b"\n")) == (4, 1)

        done = line.run("run", "--resume", "run", "--answer", "1=The first = one.", "--yes-spend")
        assert done.returncode == 0, done.stderr
        assert b"waits for a person" not in done.stderr
        assert len(server.bodies) == 2
        messages = server.bodies[1]["messages"]
        assert isinstance(messages, list)
        assert messages[-1] == {"role": "tool", "tool_call_id": "ask-1", "content": "The first = one."}
        (receipt,) = map(json.loads, (line.cwd / "run/receipts.jsonl").read_text("utf-8").splitlines())
        assert (receipt["outcome"]["reason"], receipt["counters"]["model_turns"]) == ("final_response", 2)
        assert not (line.cwd / "run/episodes").exists()
        late = line.run("run", "--resume", "run", "--answer", "1=Yes.", "--yes-spend")
        assert (late.returncode, late.stderr.count(b"\n")) == (4, 1), late.stderr
        assert b"takes no answer" in late.stderr
    told = [
        path for path in (line.cwd / "run").iterdir() if path.is_file() and b"The first = one." in path.read_bytes()
    ]
    assert told == []
