"""Drivers of one episode on disk, one after the other; each may be killed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pytest
from toy import Answer, Played, ReplyActor, Stage, answer, called, completed, said

from harness.episode.durable import DurablePlace
from harness.journal import JournalFile
from harness.ports import Actor, TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply
from harness.schema.process import Completed
from harness.schema.record import OpReceipt, Payload, Record, Resumed
from harness.schema.run import EpisodeOptions
from harness.workspace import Workspace

REPLIES = (
    said("Asking.", called("toy ask plane", id_="1")),
    said("Looking.", called("ls runtime", id_="2")),
    said("Reading.", called("cat notes/a.json", id_="3")),
)


class Killed(BaseException):
    """As if the process had ended here; nothing after it is done."""


@dataclass
class Provider:
    """A live model that counts what it was asked; every answer was paid for. ``replies`` are its answers by turn."""

    asked: list[int] = field(default_factory=list)
    replies: tuple[Reply, ...] = REPLIES

    def actor(self) -> ReplyActor:
        """A driver's handle on it."""

        def reply(request: ModelRequest, context: TurnContext) -> Reply:
            self.asked.append(context.turn)
            return self.replies[context.turn - 1]

        return ReplyActor([reply] * 9)


def writes(workspace: Workspace, args: tuple[str, ...]) -> Completed:
    """A plane whose every call adds a line: one that is made twice is seen in the workspace."""
    if args == ("greet",):
        return answer(workspace, args)
    log = workspace.roots["runtime"] / "log" / "calls"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        file.write("called\n")
    return completed(json.dumps({"target": "notes/a.json", "calls": len(log.read_text().splitlines())}))


class Driving:
    """Drivers of one episode, one after the other."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage, self.folder = stage, folder
        self.provider = Provider()
        self._tokens = (f"driver{number}" for number in itertools.count())

    def drive(
        self,
        *,
        actor: Actor | None = None,
        change: dict[str, JsonValue] | None = None,
        says: Answer = writes,
        options: EpisodeOptions | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        expects: Literal["any", "new", "begun"] = "any",
    ) -> Played:
        """Open the episode and run it to its end."""
        place = DurablePlace(self.folder, next(self._tokens), sync=False, expects=expects)
        return self.stage.play(
            actor=self.provider.actor() if actor is None else actor,
            says=says,
            change=change,
            options=options or EpisodeOptions(),
            cancelled=cancelled,
            durable=place,
        )

    def records(self) -> tuple[Record, ...]:
        """What is on disk."""
        file = JournalFile(self.folder / "journal.jsonl")
        file.close()
        return file.records


def told(driving: Driving) -> list[Payload]:
    """What the journal says, but for resumptions, and for results that name the place of a workspace."""
    payloads = (record.payload for record in driving.records())
    return [
        replace(payload, spool=None) if isinstance(payload, OpReceipt) else payload
        for payload in payloads
        if not isinstance(payload, Resumed)
    ]


def kill_when(monkeypatch: pytest.MonkeyPatch, kind: str, *, operation: str | None = None, after: bool = True) -> None:
    """The next driver is killed before or after it writes the first record of a kind (of an operation)."""
    write = JournalFile.write

    def killing(self: JournalFile, record: Record) -> None:
        hit = record.payload.kind == kind and operation in {None, getattr(record.payload, "operation", None)}
        if hit and not after:
            raise Killed
        write(self, record)
        if hit:
            raise Killed

    monkeypatch.setattr(JournalFile, "write", killing)
