"""The matrix of versions: what changed with which, and who moved."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from judged import MODEL, PLANE, Played, several, view_of

from harness import catalog, wiring
from harness.cli.folder import as_json, summary
from harness.reporters._versions import matrices
from harness.schema.actor import ActorIdentity
from harness.schema.receipt import Boundary, Finding
from harness.schema.run import RunView
from harness.schema.verdict import Cause

NEWER = PLANE.model_copy(update={"version": "2.1.1", "wheel_sha256": "9e" * 32})
NEWEST = PLANE.model_copy(update={"version": "3.0", "wheel_sha256": "9f" * 32})
SCRIPT = ActorIdentity(ref="script:reference", kind="script", digest="sha256:s")
RECORDED = ActorIdentity(ref="recorded:x", kind="recorded", digest="sha256:r")
LOOKED = ("look", "write")


def told(*played: Played) -> list[tuple[str, str, str]]:
    (matrix,) = matrices(view_of(played))
    return [(change.before.told, change.now.told, change.moved) for _, change in matrix.changes]


def test_an_ordinary_run_has_none() -> None:
    assert matrices(view_of(several("pack/a", 1, 2))) == ()


def test_of_a_script_another_ending_is_the_planes_doing_and_one_sentence_says_so() -> None:
    view = view_of(
        [
            Played("pack/a", 1, "pass", SCRIPT, kinds=LOOKED),
            Played("pack/a", 1, "fail", SCRIPT, plane=NEWER, code="quota_execution_failed", kinds=("look",)),
            Played("pack/a", 1, "fail", SCRIPT, plane=NEWEST, code="quota_execution_failed", kinds=("look",)),
        ]
    )
    (matrix,) = matrices(view)
    (row,) = matrix.rows
    assert [(cell.version, cell.word, cell.changed) for cell in row.cells] == [
        ("0.4.8", "passed", False),
        ("2.1.1", "failed", True),
        ("3.0", "failed", False),
    ]
    ((_, change),) = matrix.changes
    assert (change.before.told, change.now.told) == ("passed", "failed quota_execution_failed")
    assert (change.moved, "a script makes the same calls on every version" in change.why) == ("plane", True)
    assert matrix.plain == (
        "only scripts played, which make the same calls on every version: whatever changed is loopx's doing"
    )


def test_files_in_more_places_are_a_change_though_the_code_is_the_same() -> None:
    played = [
        Played("pack/a", 1, "fail", SCRIPT, plane=plane, code="unexpected_workspace_change")
        for plane in (PLANE, NEWER, NEWEST)
    ]
    view = view_of(played)
    receipts = [
        receipt.model_copy(update={"boundary": Boundary(measured=True, unexpected=places)})
        for receipt, places in zip(view.receipts, (1, 5, 5), strict=True)
    ]
    (matrix,) = matrices(view.model_copy(update={"receipts": tuple(receipts)}))
    ((_, change),) = matrix.changes
    assert [change.before.told, change.now.told] == [
        "failed unexpected_workspace_change (1 place)",
        "failed unexpected_workspace_change (5 places)",
    ]


def test_the_same_verdict_by_another_way_is_a_change_of_a_script_and_chance_in_a_model() -> None:
    for actor, number in ((SCRIPT, 1), (MODEL, 0)):
        one = Played("pack/a", 1, "pass", actor, kinds=LOOKED)
        assert len(told(one, Played("pack/a", 1, "pass", actor, plane=NEWER, kinds=("look",)))) == number


@pytest.mark.parametrize(
    ("kinds", "cause", "moved"),
    [
        (LOOKED, "model", "plane"),  # the same calls, and the plane says otherwise
        (("look", "remove"), "control_plane", "plane"),  # its own check of its packet failed
        (("look", "remove"), "model", "actor"),
        ((), "model", "actor"),
    ],
)
def test_of_a_model_the_same_calls_tell_who_moved(kinds: tuple[str, ...], cause: Cause, moved: str) -> None:
    before = Played("pack/a", 1, "pass", kinds=LOOKED)
    assert told(before, Played("pack/a", 1, "fail", plane=NEWER, kinds=kinds, cause=cause)) == [
        ("passed", "failed wrong", moved)
    ]


def test_of_a_model_one_trial_with_other_calls_is_its_own_doing_though_the_plane_failed_another() -> None:
    now = [
        Played("pack/a", 1, "fail", plane=NEWER, kinds=("look", "remove"), cause="control_plane"),
        Played("pack/a", 2, "fail", plane=NEWER, kinds=("look", "remove"), cause="model"),
    ]
    ((_, _, moved),) = told(Played("pack/a", 1, "pass", kinds=LOOKED), *now)
    assert moved == "actor"


def test_that_nothing_changed_is_only_said_where_everything_was_played() -> None:
    played = [Played("pack/a", 1, "pass"), Played("pack/a", 1, "pass", plane=NEWER)]
    (matrix,) = matrices(view_of(played))
    assert (matrix.changes, matrix.plain) == ((), "every episode ended alike on all versions of loopx")
    (matrix,) = matrices(view_of([*played, Played("pack/b", 1, None)]))
    assert (matrix.changes, matrix.plain) == ((), "")


def test_what_is_recorded_says_that_it_belongs_to_its_version() -> None:
    drift = (Finding(code="stale_plane_version", check="drift"),)
    view = view_of([Played("pack/a", 1, "pass", RECORDED), Played("pack/a", 1, "not_judged", RECORDED, plane=NEWER)])
    stale = view.receipts[1].model_copy(update={"findings": drift, "cause": "control_plane"})
    (matrix,) = matrices(view.model_copy(update={"receipts": (view.receipts[0], stale)}))
    ((_, change),) = matrix.changes
    assert (change.now.word, change.moved) == ("stale", "unknown")
    assert change.why == "a recording belongs to the version that it was made on: nothing is judged here"


def test_an_outage_says_nothing_about_who_moved() -> None:
    outage = Played("pack/a", 1, "not_judged", plane=NEWER, cause="provider", code="model_error")
    assert told(Played("pack/a", 1, "pass", kinds=LOOKED), outage) == [("passed", "not judged model_error", "unknown")]


def test_trials_are_told_as_shares_of_each_version_and_never_together() -> None:
    played = [
        *several("pack/a", 4, 5, kinds=LOOKED),
        *several("pack/a", 8, 10, plane=NEWER, kinds=LOOKED),
        *several("pack/a", 0, 5, plane=NEWEST, kinds=LOOKED),
        *several("pack/b", 1, 1),
        Played("pack/b", 1, None, plane=NEWER),
    ]
    (matrix,) = matrices(view_of(played))
    words = [[cell.word for cell in row.cells] for row in matrix.rows]
    assert words == [["4/5 passed", "8/10 passed", "0/5 passed"], ["passed", "-", "-"]]
    assert [(change.now.version, change.now.told) for _, change in matrix.changes] == [("3.0", "0/5 passed wrong 5")]


def test_of_several_attempts_the_last_counts() -> None:
    tried = Played("pack/a", 1, "not_judged", plane=NEWER, cause="provider", code="model_error")
    again = Played("pack/a", 1, "pass", plane=NEWER, attempt=2)
    assert told(Played("pack/a", 1, "pass"), tried, again) == []


@pytest.fixture
def view() -> RunView:
    return view_of(
        [
            Played("pack/a", 1, "pass", SCRIPT, kinds=LOOKED),
            Played("pack/a", 1, "fail", SCRIPT, plane=NEWER, kinds=LOOKED, cause="control_plane"),
            *several("pack/a", 2, 2),
            *several("pack/a", 1, 2, plane=NEWER),
            Played("pack/b", 1, None, SCRIPT),
            Played("pack/b", 1, None, SCRIPT, plane=NEWER),
        ]
    )


def test_every_report_tells_the_versions_apart(view: RunView) -> None:
    for name, reporter in wiring.reporters().items():
        text = reporter.render(view)
        if name == "csv":
            assert ",pack/b,script:reference,,,,,loopx,2.1.1," in text
            continue
        if name == "junit":
            cases = [case.get("name") or "" for case in ET.fromstring(text).iter("testcase")]  # noqa: S314  (our own)
            assert len(set(cases[:6])) == 6
            assert {"script:reference, loopx==0.4.8", "script:reference, loopx==2.1.1"} <= set(cases[6:])
            continue
        assert "script:reference, loopx==2.1.1" in text.replace("<wbr>", ""), name
        assert name == "github" or "Versions of loopx" in text
        assert name == "github" or "the control plane moved" in text


def test_live_actors_have_a_row_for_each_version(view: RunView) -> None:
    rows = catalog.shared("reporters", "actors").actor_rows(catalog.shared("reporters", "rows").episodes(view))
    assert [row.cells[:3] for row in rows] == [
        ("openai/model, loopx==0.4.8", "2", "2"),
        ("openai/model, loopx==2.1.1", "2", "1"),
    ]


def test_for_machines_verdicts_and_codes_stand_by_version(view: RunView) -> None:
    document = json.loads(json.dumps(as_json(view, Path("out"))))
    (matrix,) = document["versions"]
    first = matrix["rows"][0]
    assert (matrix["plane"], matrix["versions"]) == ("loopx", ["0.4.8", "2.1.1"])
    assert first["versions"] == {
        "0.4.8": {"verdicts": {"pass": 1}, "codes": {}},
        "2.1.1": {"verdicts": {"fail": 1}, "codes": {"wrong": 1}},
    }
    assert [(one["from"], one["to"], one["moved"]) for one in first["changes"]] == [("0.4.8", "2.1.1", "plane")]
    ordinary = json.loads(json.dumps(as_json(view_of(several("pack/a", 1, 1)), Path("out"))))
    assert "versions" not in ordinary


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_of_any_width_has_every_version_and_no_longer_line(view: RunView, width: int) -> None:
    text = summary(view, width=width, color=False, folder=Path("out"), written=())
    told = text[text.index("Versions of loopx") :].split("\n\n")[0]
    assert {"0.4.8", "2.1.1"} <= set(told.split())
    assert all(len(line) <= width for line in told.splitlines())


def test_the_line_that_plays_the_first_failure_once_more_names_its_version(view: RunView) -> None:
    text = summary(view, width=100, color=False, folder=Path("out"), written=())
    assert "--actor script:reference --plane loopx==2.1.1 --keep-workspace" in text
