"""An episode whose journal cannot be read to its end: nothing is asked again unsaid, and its bill is a lower bound."""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from driving import REPLIES, Driving, Killed, Provider, kill_when
from numbered import case
from toy import Played, Stage

from harness.episode.durable import DurablePlace
from harness.schema.message import ModelRequest, Usage
from harness.schema.price import Price
from harness.schema.spending import Entry


class Account:
    """A host's quota that admits everything, and knows what earlier drivers paid."""

    def __init__(self, known: dict[str, Entry]) -> None:
        self.known = known

    def admits(self) -> bool:
        return True

    def before(self, attempt: str) -> Entry | None:
        return self.known.get(attempt)

    def reserve(self, attempt: str, request: ModelRequest, *, seconds: float, stopped: Callable[[], bool]) -> bool:
        return bool(attempt and request.messages) and seconds > 0 and not stopped()

    def settle(self, attempt: str, usage: Usage | None, *, billed: bool) -> None:
        assert attempt, (usage, billed)


PRICE = Price(input=Decimal(2), output=Decimal(8), source="test")


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


def drive(driving: Driving, **known: Entry) -> Played:
    place = DurablePlace(driving.folder, "again", sync=False)
    gate = Account({f"{name.replace('_', '-')}/main:attempt:1": entry for name, entry in known.items()})
    return driving.stage.play(actor=driving.provider.actor(), durable=place, quota=gate, price=PRICE)


def cut(text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    return b"".join([*lines[:6], b"x" + lines[6], *lines[7:]])


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a line": cut,
    "the first line": lambda text: b"?" + text,
    "emptied": lambda _: b"",
    "zeros": lambda text: b"\0" * len(text) + b"\n",
}


@case(14)
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_was_paid_is_on_the_bill_as_a_lower_bound_and_nobody_is_asked(killed: Driving, damage: str) -> None:
    path = killed.folder / "journal.jsonl"
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    left = path.read_bytes()
    played = drive(killed)
    log = played.result.log
    assert (played.receipt.outcome.name, played.receipt.verdict) == (
        "rejected/journal_integrity_mismatch",
        "not_judged",
    )
    assert (log.resumable, log.recovery_class, log.at_least) == (True, "reconciliation_required", True)
    assert [(row.operation, row.usage) for row in log.attempts] == [
        (f"turn-{turn}/main", REPLIES[turn - 1].usage) for turn in (1, 2)
    ]
    assert all(row.cost_micro_usd for row in log.attempts)
    assert killed.provider.asked == [1, 2]
    assert path.read_bytes() == left


def test_the_damaged_line_is_named_with_the_digest_of_what_stands_there(killed: Driving) -> None:
    path = killed.folder / "journal.jsonl"
    path.write_bytes(cut(path.read_bytes()))
    problem = drive(killed).result.log.problem
    assert problem is not None
    assert problem.startswith("journal_integrity_mismatch: line 7 of its journal is not what was written (sha256:")


def test_where_the_texts_are_gone_too_the_run_s_own_account_counts(killed: Driving) -> None:
    for path in (killed.folder / "spool").iterdir():
        path.unlink()
    (killed.folder / "journal.jsonl").unlink()
    settled = Entry(attempt="a", event="settled", micro_usd=Decimal(17))
    reserved = Entry(attempt="b", event="reserved", micro_usd=Decimal(99))
    log = drive(killed, turn_1=settled, turn_2=reserved).result.log
    assert [(row.operation, row.status, row.cost_micro_usd) for row in log.attempts] == [
        ("turn-1/main", "unknown", Decimal(17)),
        ("turn-2/main", "unknown", None),
    ]
    assert (log.at_least, killed.provider.asked) == (True, [1, 2])


@case(14)
@pytest.mark.slow
def test_a_cut_journal_is_refused_wherever_going_on_would_ask_again(stage: Stage, tmp_path: Path) -> None:
    for number in range(40):
        driving = Driving(stage, tmp_path / f"episode-{number}")
        with pytest.MonkeyPatch.context() as patch:
            kill_when(patch, "op_receipt", operation="turn-3/main", after=False)
            with pytest.raises(Killed):
                driving.drive()
        path = driving.folder / "journal.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        if number == len(lines):
            break
        path.write_bytes(b"".join(lines[: len(lines) - number]))
        left = path.read_bytes()
        played = drive(driving)
        assert driving.provider.asked == [1, 2, 3], number
        if played.receipt.verdict != "pass":
            assert played.receipt.outcome.name == "rejected/journal_integrity_mismatch", number
            assert (played.result.log.at_least, len(played.result.log.attempts)) == (True, 3), number
            assert path.read_bytes() == left
    else:
        raise AssertionError("not every cut was tried")


def cut_before(driving: Driving, text: bytes) -> None:
    path = driving.folder / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: next(at for at, line in enumerate(lines) if text in line)]))


@case(14)
def test_a_journal_that_was_cut_is_refused_by_the_replies_that_are_kept(killed: Driving) -> None:
    cut_before(killed, b'"op_started","operation":"turn-2/main"')
    played = drive(killed)
    assert played.receipt.outcome.name == "rejected/journal_integrity_mismatch"
    assert played.result.log.problem == (
        "journal_integrity_mismatch: its journal was cut: a model was asked more often than it tells"
    )
    assert [row.usage for row in played.result.log.attempts] == [reply.usage for reply in REPLIES[:2]]
    assert killed.provider.asked == [1, 2]


def test_a_journal_that_was_cut_is_refused_by_what_the_run_has_settled(killed: Driving) -> None:
    cut_before(killed, b'"op_started","operation":"turn-2/main"')
    (killed.folder / "spool" / "turn-2.main.1.reply").unlink()
    log = drive(killed, turn_2=Entry(attempt="b", event="settled", micro_usd=Decimal(17))).result.log
    assert (log.recovery_class, log.at_least) == ("reconciliation_required", True)
    assert [(row.operation, row.cost_micro_usd) for row in log.attempts][1:] == [("turn-2/main", Decimal(17))]
    assert killed.provider.asked == [1, 2]


def test_what_was_reserved_for_a_call_that_was_not_made_yet_proves_nothing(killed: Driving) -> None:
    reserved = Entry(attempt="b", event="reserved", micro_usd=Decimal(99))
    assert drive(killed, turn_3=reserved).receipt.verdict == "pass"
    assert killed.provider.asked == [1, 2, 3]


class Cancels(Account):
    """Somebody asks to stop, and that is noticed elsewhere, just when the first attempt is admitted."""

    def __init__(self, flag: threading.Event) -> None:
        super().__init__({})
        self.flag, self.settled = flag, list[tuple[str, bool]]()

    def reserve(self, attempt: str, request: ModelRequest, *, seconds: float, stopped: Callable[[], bool]) -> bool:
        admitted = super().reserve(attempt, request, seconds=seconds, stopped=stopped)
        self.flag.set()
        return admitted and stopped()

    def settle(self, attempt: str, usage: Usage | None, *, billed: bool) -> None:
        super().settle(attempt, usage, billed=billed)
        self.settled.append((attempt, billed))


def test_a_call_that_the_journal_does_not_know_of_is_not_made(stage: Stage, tmp_path: Path) -> None:
    driving, flag = Driving(stage, tmp_path / "episode"), threading.Event()
    quota, place = Cancels(flag), DurablePlace(driving.folder, "first", sync=False)
    played = stage.play(actor=driving.provider.actor(), durable=place, quota=quota, cancelled=flag.is_set)
    assert played.receipt.outcome.status == "cancelled"
    assert (quota.settled, driving.provider.asked) == ([("turn-1/main:attempt:1", False)], [])
    settled = Entry(attempt="a", event="settled", micro_usd=Decimal(0))
    assert (drive(driving, turn_1=settled).receipt.verdict, driving.provider.asked) == ("pass", [1, 2, 3])


@pytest.mark.parametrize("left", ["place.json", "spool", "journal.jsonl"])
def test_what_was_paid_is_told_whatever_keeps_the_episode_from_being_gone_on_with(killed: Driving, left: str) -> None:
    """The journal tells of the second call, and the run's account what the reply that is gone cost."""
    path = killed.folder / left
    if left == "spool":
        for reply in path.iterdir():
            reply.unlink()
    elif left == "place.json":
        path.write_bytes(b"[")
        (killed.folder / "spool" / "turn-2.main.1.reply").unlink()
    else:
        path.unlink()
        path.mkdir()
    settled = [Entry(attempt=name, event="settled", micro_usd=Decimal(cost)) for name, cost in (("a", 17), ("b", 18))]
    played = drive(killed, turn_1=settled[0], turn_2=settled[1])
    log = played.result.log
    assert (played.receipt.verdict, log.recovery_class) == ("not_judged", "reconciliation_required")
    assert [row.operation for row in log.attempts] == ["turn-1/main", "turn-2/main"]
    assert all(row.cost_micro_usd for row in log.attempts)
    assert (log.at_least, killed.provider.asked) == (left != "place.json", [1, 2])


def test_a_journal_that_was_put_right_is_gone_on_with(killed: Driving) -> None:
    path = killed.folder / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(cut(whole))
    assert drive(killed).receipt.verdict == "not_judged"
    path.write_bytes(whole)
    assert drive(killed).receipt.verdict == "pass"
    assert killed.provider.asked == [1, 2, 3]


def test_an_attempt_that_pays_for_a_damaged_one_again_says_so(stage: Stage, tmp_path: Path) -> None:
    driving = Driving(stage, tmp_path / "episode")
    place = DurablePlace(driving.folder, "anew", sync=False)
    played = driving.stage.play(actor=driving.provider.actor(), durable=place, pays_again=True)
    assert (played.receipt.verdict, played.result.log.recovery) == ("pass", ("duplicate_risk",))


@pytest.mark.parametrize("name", ["journal.jsonl", "spool", "lease.json", "lease.lock"])
def test_what_another_file_or_folder_stands_in_the_place_of_ends_the_episode_in_one_line(
    stage: Stage, tmp_path: Path, name: str
) -> None:
    driving = Driving(stage, tmp_path / "episode")
    driving.folder.mkdir()
    if name == "spool":
        (driving.folder / name).touch()
    else:
        (driving.folder / name).mkdir()
    played = driving.drive()
    assert (played.receipt.verdict, played.result.log.resumable) == ("not_judged", True)
    assert "\n" not in (played.result.log.problem or "\n")
    assert driving.provider == Provider()
