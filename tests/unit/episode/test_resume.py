"""A killed episode is gone on with: the same receipt, and nothing asked, paid or done twice."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest
from toy import Answer, Played, ReplyActor, Stage, answer, called, completed, said

from harness.episode.durable import DurableEpisode, DurablePlace
from harness.journal import DiskSpool, JournalFile
from harness.ports import TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply
from harness.schema.process import Completed
from harness.schema.record import OpReceipt, Payload, Record, Resumed
from harness.workspace import Workspace

REPLIES = (
    said("Asking.", called("toy ask plane", id_="1")),
    said("Looking.", called("ls runtime", id_="2")),
    said("Reading.", called("cat notes/a.json", id_="3")),
)


P = ParamSpec("P")
R = TypeVar("R")


class Killed(BaseException):
    """As if the process had ended here; nothing after it is done."""


@dataclass
class Provider:
    """A live model that counts what it was asked; every answer was paid for."""

    asked: list[int] = field(default_factory=list)

    def actor(self) -> ReplyActor:
        """A driver's handle on it."""

        def reply(request: ModelRequest, context: TurnContext) -> Reply:
            self.asked.append(context.turn)
            return REPLIES[context.turn - 1]

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

    def drive(self, *, change: dict[str, JsonValue] | None = None, says: Answer = writes) -> Played:
        """Open the episode and run it to its end."""
        place = DurablePlace(self.folder, next(self._tokens), sync=False)
        return self.stage.play(actor=self.provider.actor(), says=says, change=change, durable=place)

    def records(self) -> tuple[Record, ...]:
        """What is on disk."""
        file = JournalFile(self.folder / "journal.jsonl")
        file.close()
        return file.records


@pytest.fixture
def driving(stage: Stage, tmp_path: Path) -> Driving:
    return Driving(stage, tmp_path / "episode")


def told(driving: Driving) -> list[Payload]:
    """What the journal says, but for resumptions, and for results that name the place of a workspace."""
    payloads = (record.payload for record in driving.records())
    return [
        payload.model_copy(update={"spool": None}) if isinstance(payload, OpReceipt) else payload
        for payload in payloads
        if not isinstance(payload, Resumed)
    ]


#: Everything that is put on disk while an episode runs.
WRITES = ((JournalFile, "write"), (DiskSpool, "put"), (DiskSpool, "put_reply"), (DurableEpisode, "keep_state"))


def kill_at(monkeypatch: pytest.MonkeyPatch, number: int, *, after: bool) -> list[str]:
    """The next driver is killed before or after its ``number``-th write (from 1). Returns what was written."""
    written: list[str] = []

    def killing(write: Callable[P, R], name: str) -> Callable[P, R]:
        def one(*args: P.args, **kwargs: P.kwargs) -> R:
            written.append(name)
            at = len(written)
            if at == number and not after:
                raise Killed
            made = write(*args, **kwargs)
            if at == number:
                raise Killed
            return made

        return one

    for kind, name in WRITES:
        monkeypatch.setattr(kind, name, killing(getattr(kind, name), name))
    return written


def test_an_undisturbed_episode_leaves_its_receipt_and_no_text(driving: Driving) -> None:
    played = driving.drive()
    assert played.ending == ("completed/scenario_satisfied", "pass", None)
    assert driving.provider.asked == [1, 2, 3]
    assert played.result.log.recovery == ()
    left = [path for path in driving.folder.rglob("*") if path.is_file()]
    assert [path for path in left if b"Reading." in path.read_bytes() or b'"a": 1' in path.read_bytes()] == []
    assert driving.folder.stat().st_mode & 0o777 == 0o700


def test_a_closed_episode_is_read_and_nothing_is_asked(driving: Driving) -> None:
    first = driving.drive()
    again = driving.drive(change={"prompt": {"system": "Be long."}})
    assert again.receipt == first.receipt
    assert (driving.provider.asked, again.plane) == ([1, 2, 3], [])


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_any_write_it_ends_with_the_same_receipt(
    after: bool, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = Driving(stage, tmp_path / "undisturbed")
    with monkeypatch.context() as patch:
        writes_of = kill_at(patch, 0, after=after)
        receipt = undisturbed.drive().receipt
    assert [name for _, name in WRITES if writes_of.count(name) < 2] == []
    for number in range(1, len(writes_of) + 1):
        driving = Driving(stage, tmp_path / f"killed-{number}")
        with monkeypatch.context() as patch:
            kill_at(patch, number, after=after)
            with pytest.raises(Killed):
                driving.drive()
        resumed = driving.drive()
        place = (number, writes_of[number - 1])
        assert resumed.receipt == receipt, place
        flags = resumed.result.log.recovery
        assert len(driving.provider.asked) - 3 <= ("duplicate_risk" in flags), place
        if "duplicate_risk" not in flags:
            assert told(driving) == told(undisturbed), place
