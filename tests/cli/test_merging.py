"""The bill of a merged run is that of its shards, and what its rows name lies beside it."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pytest

from harness.receipt import SpendingFile, read_run, verify_run
from harness.receipt.outputs import named
from harness.schema.message import Usage
from harness.schema.run import AttemptRow, EpisodeJob, EpisodeResult, LateRow, OutputRow
from harness.schema.spending import Beyond, Entry, entry_name

ACTOR = ("--actor", "openai-compatible/m@http://127.0.0.1:1", "--yes-spend")
TEXT = b"abc"
LINE = (
    "cost: >= $0.00004 (2 of >= 5 model calls of unknown cost: 1 journal damaged; 2 in episodes without a receipt here)"
)


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    episode: Callable[[EpisodeJob], EpisodeResult] | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


def row(operation: str, cost: int | None) -> AttemptRow:
    usage = None if cost is None else Usage(input_tokens=cost)
    return AttemptRow(
        operation=operation,
        attempt=1,
        status="unknown" if cost is None else "completed",
        usage=usage,
        seconds=0.0,
        cost_micro_usd=None if cost is None else Decimal(cost),
    )


@pytest.fixture
def shards(harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """One with a damaged journal and a call in flight, one with late usage and calls of an episode set aside."""

    def play(job: EpisodeJob) -> EpisodeResult:
        made = world.result(job)
        is_first = job.loaded.scenario.id == "pack/a"
        rows = (row("turn-1/main", 26),) if is_first else (row("turn-1/main", 9), row("turn-2/main", None))
        output = None if is_first else OutputRow(bytes=3, sha256="sha256:x", kept=f"outputs/{named(TEXT)}")
        told = {"attempts": rows, "at_least": is_first, "output": output}
        return EpisodeResult(receipt=made.receipt, log=made.log.model_copy(update=told))

    monkeypatch.setattr(world, "episode", play)
    for number in (1, 2):
        assert harness("run", *ACTOR, "--shard", f"{number}/2", "--out", f"{number}")[0] == 0
    first, second = Path("1"), Path("2")
    for folder, name, cost in ((first, "gone", None), (second, "before", 5)):
        file = SpendingFile(folder)
        attempt = entry_name(name, "turn-1/main:attempt:1")
        file.keep(Entry(attempt=attempt, event="reserved", micro_usd=Decimal(9)))
        if cost is not None:
            file.keep(Entry(attempt=attempt, event="settled", micro_usd=Decimal(cost)))
        file.close()
    late = LateRow(
        key=read_run(second).receipts[0].key, operation="turn-2/main", attempt=1, usage=Usage(input_tokens=7)
    )
    (second / "late.jsonl").write_text(late.model_dump_json() + "\n", "utf-8")
    (second / "outputs").mkdir()
    (second / "outputs" / named(TEXT)).write_bytes(TEXT)
    return first, second


def test_every_report_of_a_merged_run_tells_what_its_shards_spent(harness: Harness, shards: tuple[Path, Path]) -> None:
    apart = [read_run(folder) for folder in shards]

    code, out, err = harness("history", "merge", "2", "1", "--out", "merged")

    assert (code, err) == (0, "")
    assert LINE in " ".join(out.split())
    merged = read_run(Path("merged"))
    assert [entry.attempts for entry in merged.log] == [entry.attempts for view in apart for entry in view.log]
    assert merged.log[1].recovery == ("late_usage",)
    assert merged.beyond == Beyond(calls=2, unknown=1, micro_usd=Decimal(5))
    for name in ("summary.txt", "summary.md", "junit.xml", "report.html"):
        text = html.unescape(Path("merged", name).read_text("utf-8")).replace("\\", "")
        assert LINE in " ".join(text.split()), name
    assert LINE in " ".join(harness("report", "merged")[1].split())
    told = json.loads(harness("report", "merged", "--format", "json")[1])["cost"]
    assert (told["usd"], told["is_lower_bound"], told["calls_without_a_receipt"]) == ("0.000040", True, 2)
    assert not verify_run(Path("merged")).flaws


def test_texts_that_rows_of_a_merged_run_name_lie_beside_it(harness: Harness, shards: tuple[Path, Path]) -> None:
    assert harness("history", "merge", *map(str, shards), "--out", "merged")[0] == 0
    output = read_run(Path("merged")).log[1].output
    assert output is not None
    assert output.kept is not None
    assert Path("merged", output.kept).read_bytes() == TEXT
    assert Path("merged/outputs").stat().st_mode & 0o777 == 0o700
