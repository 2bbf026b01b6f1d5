from __future__ import annotations

from pathlib import Path

import pytest
import recorded as rec
from planned import job_of, receipt_of

from harness import wiring
from harness.recording import dump, recording_path, reseal
from harness.schema.base import digest_text
from harness.schema.outcome import Outcome
from harness.schema.receipt import Receipt
from harness.schema.run import Enforcement, Manifest, RunView
from harness.schema.verdict import Verdict
from harness.wiring import transcripts as module

PLANE = rec.PLANE
PLACE = wiring.settings({})


def receipt(trial: int, verdict: Verdict = "fail") -> Receipt:
    outcome = Outcome(status="completed", reason="final_response")
    job = job_of("demo/first", trial)
    return receipt_of(job, verdict, outcome, scenario_digest=digest_text("scenario"), actor=rec.ACTOR, plane=PLANE)


@pytest.fixture
def view() -> RunView:
    """Four trials of one live model; the second failed."""
    return RunView(
        manifest=Manifest(
            run_id="run-1",
            harness_version="0",
            python="3",
            platform="x",
            created_at="",
            finished_at=None,
            state="running",
            scenarios=(),
            actors=(),
            planes=(PLANE,),
            enforcement=Enforcement(executor="cold"),
            plan=(),
            receipts=(),
            verdicts={},
        ),
        receipts=(receipt(1, "pass"), receipt(2), receipt(3, "not_judged"), receipt(4, "pass")),
        log=(),
    )


def keep(folder: Path, trial: int, text: str = "x" * 30_000, of: int | None = None) -> Path:
    """A recording of a trial, in its place."""
    path = recording_path(folder / "recordings", "demo/first", rec.ACTOR, trial)
    path.parent.mkdir(parents=True, exist_ok=True)
    made = rec.recording([rec.exchange(1, {"messages": [text]}, {"choices": []})])
    header = made.header.model_copy(update={"trial": of or trial})
    sealed = reseal(made.model_copy(update={"header": header}))
    path.write_bytes(dump(sealed.header, sealed.exchanges, ()))
    return path


def problems(view: RunView) -> dict[int, str | None]:
    return {number: told.problem for number, told in view.transcripts.items()}


def test_a_run_without_recordings_stays_as_it_is(tmp_path: Path, view: RunView) -> None:
    assert wiring.with_transcripts(PLACE, tmp_path, view) is view


def test_what_was_kept_is_told_by_its_place_and_bounded(tmp_path: Path, view: RunView) -> None:
    kept = keep(tmp_path, 2)
    (told,) = wiring.with_transcripts(PLACE, tmp_path, view).transcripts.items()
    assert (told[0], told[1].file) == (2, kept.relative_to(tmp_path).as_posix())
    (passage,) = told[1].turns[0].asked
    assert (passage.shown, passage.size) == (20_000, 30_000)


def test_a_recording_of_another_trial_is_not_told(tmp_path: Path, view: RunView) -> None:
    keep(tmp_path, 1)
    keep(tmp_path, 2, of=3)
    assert problems(wiring.with_transcripts(PLACE, tmp_path, view)) == {1: None}


def test_where_not_all_fit_failed_episodes_come_first(
    tmp_path: Path, view: RunView, monkeypatch: pytest.MonkeyPatch
) -> None:
    for trial in (1, 2, 3, 4):
        keep(tmp_path, trial)
    monkeypatch.setattr(module, "TOTAL_MAX", 25_000)
    full = "not shown here: the page has no room left"
    assert problems(wiring.with_transcripts(PLACE, tmp_path, view)) == {2: None, 3: None, 1: full, 4: full}


def test_what_is_too_large_or_damaged_is_told_as_that(
    tmp_path: Path, view: RunView, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, 1, "y" * 100_000)
    keep(tmp_path, 2).write_bytes(b"{}\n")
    monkeypatch.setattr(module, "FILE_MAX", 90_000)
    assert problems(wiring.with_transcripts(PLACE, tmp_path, view)) == {
        1: "too large to be shown here",
        2: "damaged: it cannot be read",
    }
