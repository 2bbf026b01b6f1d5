"""What harness reads of a workspace itself stays in it, whatever who is kept to it has linked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy import ReplyActor, Stage, answer, called, said

from harness.schema.base import JsonValue
from harness.schema.process import Completed
from harness.workspace import Workspace

WHEN: dict[str, JsonValue] = {"file": "runtime/log/task.json", "at": "/status", "value": "done"}


@pytest.mark.parametrize("linked", ["file", "folder"])
@pytest.mark.parametrize("inside", [True, False], ids=("inside", "outside"))
def test_a_file_is_read_through_links_of_the_workspace_alone(
    stage: Stage, tmp_path: Path, linked: str, inside: bool
) -> None:
    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args[:1] != ("ask",):
            return answer(workspace, args)
        log = workspace.roots["runtime"] / "log"
        target = workspace.roots["project"] / "kept" if inside else tmp_path / "elsewhere"
        target.mkdir()
        (target / "task.json").write_text(json.dumps({"status": "done"}), encoding="utf-8")
        if linked == "file":
            log.mkdir(parents=True, exist_ok=True)
            (log / "task.json").symlink_to(target / "task.json")
        else:
            log.parent.mkdir(exist_ok=True)
            log.symlink_to(target)
        return answer(workspace, args)

    actor = ReplyActor([said("", called("toy ask plane")), said("Bye.")])
    played = stage.play(actor=actor, says=says, change={"control": {"completed_when": WHEN}})
    ending = "completed/external_completion" if inside else "completed/final_response"
    assert played.receipt.outcome.name == ending
