from __future__ import annotations

import re

from harness.reporters.markdown import build
from harness.schema.run import RunView


def test_the_page_tells_counts_and_every_place_of_the_plan_the_failures_first(view: RunView) -> None:
    page = build().render(view)
    assert page.startswith("## harness: 2 of 8 passed, 4 failed, 1 not judged, 1 not run\n")
    rows = re.findall(r"^\| (\S+ [^|]+) \| `([^`]+)` \|", page, re.MULTILINE)
    assert [verdict for verdict, _ in rows] == [*["❌ failed"] * 4, "⚠️ not judged", *["✅ passed"] * 2, "not run"]


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
    many = tuple(view.receipts[1].model_copy(update={"trial": trial}) for trial in range(1, 9001))
    page = build().render(view.model_copy(update={"receipts": many}))
    assert 600_000 < len(page.encode()) <= 900_000
    left_out = [int(number) for number in re.findall(r"^(\d+) more episodes", page, re.MULTILINE)]
    rows, heads = page.count("\n| ❌"), page.count("\n### ❌")
    assert left_out[-1] + heads == len(many)
    assert rows + left_out[0] == len(many) + 7  # of the eight places of the plan one was run
