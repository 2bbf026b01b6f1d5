"""A journal of another version is told from a damaged one, by the first word that this version does not know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewritten import Payload, lacks, rewrite

from harness.errors import OpeningRefusedError
from harness.journal import Journal, JournalFile, as_kept, intact, journal_damage
from harness.schema.message import Reply
from harness.schema.outcome import Outcome
from harness.schema.record import Closed, Metered, Resumed, TurnCommitted, TurnOpened

PAYLOADS = (
    TurnOpened(turn=1),
    TurnCommitted(turn=1, finish="stop", said_text=True, calls=0),
    Metered(active_ms=4),
    Closed(outcome=Outcome(status="completed", reason="final_response")),
    Resumed(credited_s=2.0),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal that is whole."""
    file = JournalFile(tmp_path / "journal.jsonl")
    journal = Journal(keep=file.write)
    for payload in PAYLOADS:
        journal.append(payload)
    file.close()
    return tmp_path / "journal.jsonl"


def says(**words: object) -> Callable[[Payload], None]:
    def change(payload: Payload) -> None:
        payload.update(words)  # type: ignore[arg-type]

    return change


def later_outcome(payload: Payload) -> None:
    payload["outcome"] = {"status": "completed", "reason": "final_response"}


@pytest.mark.parametrize(
    ("seq", "change", "told"),
    [
        (2, says(kind="turn_weighed"), "is of the kind 'turn_weighed', which this version of harness does not know"),
        (2, says(kind="/home/canary"), "is of the kind 'another', which this version of harness does not know"),
        (2, lacks("calls"), "(turn_committed) lacks 'calls', which this version of harness needs"),
        (2, lacks("prose"), "(turn_committed) lacks 'prose', which this version of harness writes"),
        (2, says(weight=3), "(turn_committed) has 'weight', which this version of harness does not know"),
        (
            2,
            says(finish="bored"),
            "(turn_committed) says something of 'finish' that this version of harness does not know",
        ),
        (4, later_outcome, "(closed) lacks 'outcome.detail', which this version of harness writes"),
        (5, says(credited_s=2), "(resumed) is spelled in another way than this version of harness spells it"),
        (1, says(**{"9": 1}), "(turn_opened) has something, which this version of harness does not know"),
        (1, says(kind="began"), "is of the kind 'began', which this version of harness does not know"),
    ],
)
def test_another_version_is_named_by_its_first_unknown_word_and_nothing_is_touched(
    path: Path, seq: int, change: Callable[[Payload], None], told: str
) -> None:
    before = intact(path)
    rewrite(path, seq, change)
    left = path.read_bytes()
    with pytest.raises(OpeningRefusedError) as caught:
        JournalFile(path)
    assert caught.value.reason == "journal_version_unsupported"
    assert str(caught.value) == f"journal_version_unsupported: line {seq + 1} of its journal {told}"
    assert intact(path) == before[: seq - 1]
    assert path.read_bytes() == left
    damage = journal_damage(path)
    assert damage is not None
    assert (damage.is_foreign, damage.problem) == (True, f"line {seq + 1} of its journal {told}")


def test_a_rewritten_journal_with_the_same_words_is_the_same(path: Path) -> None:
    left = path.read_bytes()
    rewrite(path, 1, lambda _: None)
    assert path.read_bytes() == left


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"kind":"turn_committed"', b'"kind":"turn_weighed"'),
        (b'"calls":0,', b""),
        (b'{"seq":2,', b'{"seq":2,"more":1,'),
        (b'{"seq":2,"payload":{', b'{"seq":2,"payload":{"kind":"turn_weighed","a":{"b":['),
    ],
)
def test_other_words_that_the_chain_does_not_hold_are_damage(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))
    damage = journal_damage(path)
    assert damage is not None
    assert not damage.is_foreign
    assert damage.problem.startswith("line 3 of its journal is not what was written (sha256:")


@given(st.binary(max_size=200))
def test_no_line_whatever_is_taken_for_one_of_another_version(
    tmp_path_factory: pytest.TempPathFactory, line: bytes
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    path.write_bytes(b'{"format": "harness-journal", "version": 1}\n' + line.replace(b"\n", b" ") + b"\n")
    damage = journal_damage(path)
    assert damage is not None
    assert not damage.is_foreign


def test_a_kept_text_of_another_version_is_told_as_that() -> None:
    with pytest.raises(OpeningRefusedError) as caught:
        as_kept(Reply, b'{"finish":"stop","text":"canary","mood":"canary"}', "a reply")
    assert caught.value.reason == "journal_version_unsupported"
    assert str(caught.value).endswith("a reply that is kept has 'mood', which this version of harness does not know")
