"""An episode that another version of harness began: refused in one line, billed, and nothing of it is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from driving import REPLIES, Driving, Killed, kill_when
from numbered import case
from rewritten import Payload, lacks, rewrite
from toy import Stage

from harness.journal import DiskSpool
from harness.schema.base import digest_bytes


@pytest.fixture
def killed(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driving:
    """An episode whose driver was killed with two replies paid for."""
    driving = Driving(stage, tmp_path / "episode")
    with monkeypatch.context() as patch:
        kill_when(patch, "op_receipt", operation="turn-2/main")
        with pytest.raises(Killed):
            driving.drive()
    assert driving.provider.asked == [1, 2]
    return driving


def unknown(payload: Payload) -> None:
    payload["kind"] = "weighed"


def more(payload: Payload) -> None:
    payload["weight"] = 3


@case(16)
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (unknown, "is of the kind 'weighed', which this version of harness does not know"),
        (more, "has 'weight', which this version of harness does not know"),
        (lacks("digest"), "lacks 'digest', which this version of harness "),
    ],
)
def test_what_is_unknown_is_named_nobody_is_asked_and_the_episode_stays(
    killed: Driving, change: Callable[[Payload], None], told: str
) -> None:
    path = killed.folder / "journal.jsonl"
    whole = path.read_bytes()
    seq = next(record.seq for record in killed.records() if record.payload.kind == "input_delivered")
    rewrite(path, seq, change)
    left = {one: one.read_bytes() for one in killed.folder.rglob("*") if one.is_file()}
    played = killed.drive()
    log = played.result.log
    assert (played.receipt.outcome.name, played.receipt.verdict) == (
        "rejected/journal_version_unsupported",
        "not_judged",
    )
    assert log.problem is not None
    assert log.problem.startswith(f"journal_version_unsupported: line {seq + 1} of its journal ")
    assert told in log.problem
    assert (log.resumable, log.recovery_class, log.at_least) == (True, "reconciliation_required", True)
    assert [(row.operation, row.usage) for row in log.attempts] == [
        (f"turn-{turn}/main", REPLIES[turn - 1].usage) for turn in (1, 2)
    ]
    assert killed.provider.asked == [1, 2]
    assert {one: one.read_bytes() for one in left} == left

    path.write_bytes(whole)  # the version that wrote it
    assert killed.drive().receipt.verdict == "pass"
    assert killed.provider.asked == [1, 2, 3]


def renamed(killed: Driving, operation: str, change: Callable[[Payload], None]) -> None:
    """The result of an operation in other words, and its record with the name that they have then."""
    spool = DiskSpool(killed.folder / "spool")
    (seq,) = (
        record.seq
        for record in killed.records()
        if record.payload.kind == "op_receipt" and record.payload.operation == operation
    )

    def point(payload: Payload) -> None:
        kept = json.loads(spool.get(str(payload["spool"])))
        change(kept)
        payload["spool"] = spool.put(json.dumps(kept).encode())

    rewrite(killed.folder / "journal.jsonl", seq, point)


def test_a_result_in_other_words_is_refused_as_that(killed: Driving) -> None:
    operations = [
        record.payload.operation
        for record in killed.records()
        if record.payload.kind == "op_receipt" and record.payload.spool is not None
    ]
    calls = [name for name in operations if "call" in name]

    def later(kept: Payload) -> None:
        assert isinstance(kept["value"], dict)
        kept["value"]["weight"] = 3

    renamed(killed, calls[0], later)
    log = killed.drive().result.log
    assert log.problem is not None
    assert log.problem == (
        "journal_version_unsupported: a result that is kept has 'weight', which this version of harness does not know"
    )
    assert (log.resumable, killed.provider.asked) == (True, [1, 2])


def test_a_reply_in_other_words_is_refused_and_its_cost_is_unknown(killed: Driving) -> None:
    path = killed.folder / "spool" / "turn-2.main.1.reply"
    data = json.dumps({**json.loads(path.read_bytes().partition(b"\n")[2]), "mood": "good"}).encode()
    path.write_bytes(b"harness-reply 1 %d %s\n" % (len(data), digest_bytes(data).encode()) + data)
    log = killed.drive().result.log
    assert log.problem == (
        "journal_version_unsupported: a reply that is kept has 'mood', which this version of harness does not know"
    )
    assert [(row.operation, row.usage) for row in log.attempts] == [
        ("turn-1/main", REPLIES[0].usage),
        ("turn-2/main", None),
    ]
    assert (log.at_least, killed.provider.asked) == (True, [1, 2])
