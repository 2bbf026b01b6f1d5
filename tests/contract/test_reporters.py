"""What every reporter must keep, whichever files there are."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from harness import reporters
from harness.ports import Reporter
from harness.schema.actor import ActorIdentity
from harness.schema.base import digest_text
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Boundary, Counters, Finding, Receipt, RedactedText, Step
from harness.schema.run import Enforcement, Manifest, PlannedEpisode, RunLogEntry, RunView

NAMES = sorted(module.name for module in iter_modules(reporters.__path__) if not module.name.startswith("_"))
HOSTILE = "<b>&\"' ]]> \x00\x1b[31m\u202e\ud800 [red] {{ 1 }}"


def made(name: str) -> Reporter:
    reporter: Reporter = import_module(f"harness.reporters.{name}").build()
    return reporter


@pytest.fixture
def view() -> RunView:
    plane = PlaneIdentity(name="registry", version="1")
    actor = ActorIdentity(ref="script", kind="script", digest=digest_text("script"))
    receipt = Receipt(
        scenario="demo/one",
        scenario_digest=digest_text("one"),
        definition_digest=None,
        classifier_version=1,
        actor=actor,
        plane=plane,
        trial=1,
        attempt=1,
        outcome=Outcome(status="failed", reason="scenario_violation"),
        verdict="fail",
        cause="model",
        failure_code="went_wrong",
        findings=(Finding(code="went_wrong", step=1, check="answer", pointer="/a", got=RedactedText(HOSTILE)),),
        facts=(),
        steps=(Step(ordinal=1, turn=1, tool=RedactedText(HOSTILE), kind=None, result="unknown_tool", executed=False),),
        turns=(),
        counters=Counters(model_turns=1, tool_calls=1, executed_calls=0, refused_calls=1),
        boundary=Boundary(measured=False),
    )
    return RunView(
        manifest=Manifest(
            run_id="run-1",
            harness_version="0",
            python="3",
            platform=HOSTILE,
            created_at="2026-08-12T00:00:00Z",
            finished_at=None,
            state="running",
            scenarios=(),
            actors=(actor,),
            planes=(plane,),
            enforcement=Enforcement(executor="cold"),
            plan=(PlannedEpisode(scenario="demo/one", actor="script", plane="registry", trial=1),),
            receipts=(),
            verdicts={},
        ),
        receipts=(receipt,),
        log=(RunLogEntry(key="another", started_at="", seconds=1.0, executor="cold", problem=HOSTILE),),
    )


def test_the_reports_of_the_design_are_there() -> None:
    assert {"terminal", "junit", "html", "csv"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_reporter_is_called_as_its_file(name: str) -> None:
    assert made(name).name == name


def test_no_two_reporters_write_the_same_file_and_none_a_file_of_the_run() -> None:
    files = [made(name).filename for name in NAMES]
    assert len(set(files)) == len(files)
    assert not {"manifest.json", "receipts.jsonl", "run.jsonl"} & set(files)
    assert all(file == Path(file).name for file in files)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_utf8_text_with_a_final_newline_and_without_control_characters(name: str, view: RunView) -> None:
    text = made(name).render(view)
    assert text.encode()
    assert text.endswith("\n")
    assert all(letter.isprintable() or letter == "\n" for letter in text)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_tells_scenario_actor_and_code(name: str, view: RunView) -> None:
    text = made(name).render(view).replace("<wbr>", "")
    for fact in ("demo/one", "script", "went_wrong"):
        assert fact in text


@pytest.mark.parametrize("name", NAMES)
def test_two_renderings_of_one_run_are_the_same(name: str, view: RunView) -> None:
    assert made(name).render(view) == made(name).render(view.model_copy(deep=True))


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_has_only_begun_can_be_reported(name: str, view: RunView) -> None:
    text = made(name).render(view.model_copy(update={"receipts": (), "log": ()}))
    assert ("demo/one" if name in {"junit", "csv"} else "0 of 1 passed") in text
