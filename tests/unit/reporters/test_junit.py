from __future__ import annotations

from decimal import Decimal
from xml.etree import ElementTree as ET

import pytest
from judged import Played, view_of
from syrupy.assertion import SnapshotAssertion

from harness.reporters.junit import build
from harness.schema.receipt import Finding, RedactedText
from harness.schema.run import RunView
from harness.schema.verdict import Cause, Verdict


@pytest.fixture
def root(view: RunView) -> ET.Element:
    return ET.fromstring(build().render(view))  # noqa: S314  (our own output)


def test_a_suite_per_scenario_counts_every_place_of_the_plan(root: ET.Element) -> None:
    counted = [
        [suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")]
        for suite in root.iter("testsuite")
    ]
    assert counted == [
        ["loopx/capability-repair", "5", "3", "1", "0"],
        ["loopx/selected-todo", "3", "1", "0", "1"],
    ]
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["8", "4", "1", "1"]
    for suite in root.iter("testsuite"):
        assert len(suite.findall("testcase")) == int(suite.get("tests", ""))


def test_a_failure_carries_code_cause_and_evidence(root: ET.Element) -> None:
    case = root.findall(".//testcase")[2]
    failure = case.find("failure")
    assert failure is not None
    assert (failure.get("message"), failure.get("type")) == ("quota_reentry_failed", "control_plane")
    assert (case.get("name"), case.get("classname")) == ("ark/doubao-seed-2, trial 1", "loopx.capability-repair")
    assert 'expected "todo_portfolio_private_read"' in (failure.text or "")


@pytest.mark.parametrize(("stale", "element"), [("fail", "error"), ("warn", "skipped")])
def test_a_recording_that_no_longer_fits_is_skipped_only_where_the_run_was_told_to_go_on(
    stale: str, element: str
) -> None:
    view = view_of([Played("pack/a", 1, "not_judged", cause="control_plane")])
    drifted = view.receipts[0].model_copy(update={"findings": (Finding(code="stale_plane_version", check="drift"),)})
    manifest = view.manifest.model_copy(update={"stale": stale})
    told = build().render(view.model_copy(update={"receipts": (drifted,), "manifest": manifest}))
    (case,) = ET.fromstring(told).findall(".//testcase")  # noqa: S314  (our own output)
    assert [child.tag for child in case] == ["properties", element]


def test_a_change_that_is_not_allowed_is_told(root: ET.Element) -> None:
    failure = root.findall(".//testcase")[6].find("failure")
    assert failure is not None
    assert "not allowed: project/fixture/sha256:8197a13302fa (depth 3)" in (failure.text or "")


def test_what_was_not_judged_is_an_error_and_tells_the_problem(root: ET.Element) -> None:
    (error,) = root.findall(".//error")
    assert (error.get("message"), error.get("type")) == ("model_error (overloaded)", "provider")
    assert "HTTP 529" in (error.text or "")


def test_what_was_not_run_is_skipped(root: ET.Element) -> None:
    (skipped,) = root.findall(".//skipped")
    assert skipped.get("message") == "not run"
    assert root.findall(".//testcase")[-1].get("name") == "ark/doubao-seed-2, trial 2"


def test_a_first_trial_that_was_not_run_is_named_by_its_actor_only(view: RunView) -> None:
    nothing = ET.fromstring(build().render(view.model_copy(update={"receipts": ()})))  # noqa: S314  (our own output)
    assert nothing.findall(".//testcase")[0].get("name") == "script"
    assert nothing.get("skipped") == "8"


def test_pending_is_skipped_with_its_code(view: RunView) -> None:
    waiting = view.receipts[0].model_copy(update={"verdict": "pending", "failure_code": "approval_pending"})
    text = build().render(view.model_copy(update={"receipts": (waiting,)}))
    root = ET.fromstring(text)  # noqa: S314  (our own output)
    skipped = root.find(".//testcase/skipped")
    assert skipped is not None
    assert root.get("skipped") == "8"
    assert skipped.get("message") == "approval_pending"
    assert skipped.get("type") is None


def test_times_come_from_the_run_log(root: ET.Element) -> None:
    assert [case.get("time") for case in root.iter("testcase")][:2] == ["0.250", "1.250"]
    assert root.get("time") == "22.750"


def test_the_file_is_well_formed_whatever_the_texts_are(view: RunView) -> None:
    got = RedactedText("a\x00b\x1b\ufffe\ud800]]>&<\"'\u202e")
    finding = view.receipts[2].findings[0].model_copy(update={"got": got})
    hostile = view.receipts[2].model_copy(update={"findings": (finding,), "failure_code": None, "cause": None})
    text = build().render(view.model_copy(update={"receipts": (hostile,)}))
    failure = ET.fromstring(text.encode()).find(".//failure")  # noqa: S314  (our own output)
    assert failure is not None
    assert "got      a\ufffdb\ufffd\ufffd\ufffd]]>&<\"'\ufffd" in (failure.text or "")
    assert (failure.get("message"), failure.get("type")) == (
        "failed/scenario_violation, quota_reentry_failed",
        "unknown",
    )


def test_what_has_no_cause_has_no_property_for_it(root: ET.Element) -> None:
    properties = [node for node in root.iter("property") if node.get("name") == "cause"]
    cases = list(root.iter("testcase"))
    assert 0 < len(properties) < len(cases)
    assert all(node.get("value") for node in properties)


def tried(*verdicts: Verdict, trial: int = 1) -> list[Played]:
    """Attempts at one episode."""
    causes: dict[Verdict, Cause] = {"not_judged": "provider", "fail": "model"}
    codes: dict[Verdict, str] = {"not_judged": "model_error", "fail": "leapt"}
    return [
        Played(
            "pack/a",
            trial,
            verdict,
            cause=causes.get(verdict),
            code=codes.get(verdict),
            attempt=attempt,
            seconds=float(attempt),
            costs=(Decimal(1_500_000), None) if verdict == "fail" else (Decimal(1_500_000),),
            model="m-1",
        )
        for attempt, verdict in enumerate(verdicts, 1)
    ]


def test_attempts_stand_in_the_case_of_their_trial_as_reruns_do(snapshot: SnapshotAssertion) -> None:
    """Only the last attempt is counted, and all of them take time and money."""
    trials = [
        *tried("not_judged", "not_judged", "pass"),
        *tried("not_judged", "fail", trial=2),
        *tried("pass", trial=3),
    ]
    assert build().render(view_of(trials)) == snapshot


@pytest.mark.parametrize(
    ("verdicts", "children"),
    [
        (("pass",), []),
        (("not_judged", "pass"), ["flakyError", "system-out"]),
        (("not_judged", "fail"), ["failure", "rerunError", "system-out"]),
        (("fail", "fail"), ["failure", "rerunFailure", "system-out"]),
        (("not_judged", "not_judged"), ["error", "rerunError", "system-out"]),
        (("fail", "pass"), ["flakyFailure", "system-out"]),
    ],
)
def test_a_rerun_is_named_by_how_its_trial_ended(verdicts: tuple[Verdict, ...], children: list[str]) -> None:
    root = ET.fromstring(build().render(view_of(tried(*verdicts))))  # noqa: S314  (our own output)
    (case,) = root.iter("testcase")
    assert [child.tag for child in case if child.tag != "properties"] == children
    assert root.get("tests") == "1"
