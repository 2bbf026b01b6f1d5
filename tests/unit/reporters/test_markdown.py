from __future__ import annotations

import re
from dataclasses import replace

from judged import Played, live, several, view_of
from syrupy.assertion import SnapshotAssertion

from harness.reporters.markdown import build
from harness.schema.decision import DecisionTold
from harness.schema.run import RunView


def test_the_page_tells_counts_and_every_place_of_the_plan_the_failures_first(view: RunView) -> None:
    page = build().render(view)
    assert page.startswith("## harness: 2 of 8 passed, 4 failed, 1 not judged, 1 not run\n")
    rows = re.findall(r"^\| (\S+ [^|]+) \| `([^`]+)` \|", page, re.MULTILINE)
    assert [verdict.partition(" in ")[0] for verdict, _ in rows] == [
        *(*["❌ failed"] * 4, "⚠️ not judged", *["✅ passed"] * 2, "not run")
    ]


def test_what_did_not_pass_is_told_with_its_evidence(view: RunView) -> None:
    page = build().render(view)
    assert [text.split(".")[0] for text in re.findall(r"^### \S+ (.*)$", page, re.MULTILINE)] == [
        "2",
        "3",
        "5",
        "7",
        "4",
    ]
    assert '        expected "todo_portfolio_private_read"' in page
    assert "    not allowed: project/fixture/sha256:8197a13302fa (depth 3) modified" in page


def test_a_text_cannot_leave_its_cell_nor_its_code(view: RunView) -> None:
    one = view.receipts[1]
    sly = "``a`b|c\n# d`"
    changed = one.model_copy(update={"actor": one.actor.model_copy(update={"ref": sly})})
    page = build().render(view.model_copy(update={"receipts": (changed,)}))
    assert "| ``` ``a`b\\|c\ufffd# d` ``` |" in page
    assert ", ``` ``a`b|c\ufffd# d` ```\n" in page


def test_of_many_episodes_as_many_are_told_as_fit_and_the_others_are_counted(view: RunView) -> None:
    changes = ({"trial": trial, "failure_code": f"quota_reentry_before_callsite_{trial}"} for trial in range(1, 9001))
    many = tuple(view.receipts[1].model_copy(update=change) for change in changes)
    page = build().render(view.model_copy(update={"receipts": many}))
    assert 600_000 < len(page.encode()) <= 900_000
    left_out = [int(number) for number in re.findall(r"^(\d+) more episodes", page, re.MULTILINE)]
    rows, heads = page.count("\n| ❌"), page.count("\n### ❌")
    assert left_out[-1] + heads == len(many)
    assert rows + left_out[0] == len(many) + 7  # of the eight places of the plan one was run


def test_of_several_trials_rates_are_told_with_their_certainty_the_worst_scenario_first(
    snapshot: SnapshotAssertion,
) -> None:
    """Trials that passed are counted there and not told one by one."""
    played = []
    for actor, passes in (("steady", (20, 18, 20)), ("cheap|er", (19, 4, 20))):
        for number, some in enumerate(passes):
            played += several(f"pack/s{number}", some, 20, actor=live(actor))
    played[0] = replace(played[0], verdict="not_judged", cause="provider", code="model_error")
    page = build().render(view_of(played))
    assert page[: page.index("\n### ")] == snapshot
    assert page.count("✅") == 0
    assert (
        "\n### ❌ 85. `pack/s1`, `cheap|er, trial 5`; 16 of 20 trials ended with this code, it is the first\n" in page
    )


def test_one_trial_is_told_by_its_verdict_beside_other_actors() -> None:
    played = [Played("pack/a", 1, "pass", live("one")), Played("pack/a", 1, "fail", live("other"))]
    page = build().render(view_of(played))
    assert "| `pack/a` | ✅ passed | ❌ failed |\n" in page
    assert "| ✅ passed | `pack/a` | `one` |" in page
    assert "Passed of" not in build().render(view_of(played[:1]))


def test_in_a_decision_what_others_named_stands_as_code(view: RunView) -> None:
    evil = "[here](https://evil.invalid) @everyone `x`"
    told = DecisionTold(
        who=evil,
        answer="fail",
        word="FAIL",
        policy=evil,
        sentences=(("overall", "3 of 9 trials passed"), ("baseline", evil), ("model", evil), ("", evil)),
    )
    page = build().render(view.model_copy(update={"decisions": (told,)}))
    code = f"`` {evil} ``"
    assert f"### ❌ {code}: FAIL by {code}\n\n- overall: 3 of 9 trials passed\n- baseline: {code}\n" in page
    assert page.count(evil) == page.count(code) == 5
