from __future__ import annotations

from harness.reporters.github import build
from harness.schema.decision import Answer, DecisionTold
from harness.schema.receipt import Finding, RedactedText
from harness.schema.run import RunView


def lines(view: RunView) -> list[str]:
    return build().render(view).splitlines()


def test_failures_are_errors_at_their_scenarios_and_what_was_not_judged_is_a_warning(view: RunView) -> None:
    notice, *others = lines(view)
    assert (
        notice == "::notice title=harness::2 of 8 passed, 4 failed, 1 not judged, 1 not run; 1 more is in the summary"
    )
    assert [line.split(" ")[0] for line in others] == [*["::error"] * 4, "::warning"]
    title = "title=loopx/capability-repair%2C script%3Aquota_reentry_before_callsite%3A quota_reentry_before_callsite"
    assert others[0].startswith(f"::error file=scenarios/pack/repair.toml,line=1,{title}::episode 2, script:quota_")
    assert "%0Aexpected " in others[1]


def test_a_recording_that_no_longer_fits_is_an_error_although_it_was_not_judged(view: RunView) -> None:
    drift = Finding(code="stale_prompt", check="drift", got=RedactedText("100%,a:b"))
    stale = view.receipts[3].model_copy(update={"findings": (drift,)})
    _, line = lines(view.model_copy(update={"receipts": (stale,)}))
    assert line.startswith("::error ")
    assert "%3A the recording no longer fits::" in line
    assert line.endswith("%0Athe prompt changed%0Anow      100%25,a:b%0Ait proves nothing until recorded anew")


def failing(view: RunView, *codes: str) -> RunView:
    """A trial for each code, of one scenario and actor."""
    receipts = tuple(
        view.receipts[1].model_copy(update={"trial": trial, "failure_code": code})
        for trial, code in enumerate(codes, 1)
    )
    return view.model_copy(update={"receipts": receipts, "manifest": view.manifest.model_copy(update={"plan": ()})})


def test_no_more_are_told_than_github_shows_and_the_others_are_counted(view: RunView) -> None:
    told = lines(failing(view, *(f"code_{number}" for number in range(13))))
    assert len(told) == 11
    assert told[0].endswith("; 3 more are in the summary")


def test_trials_that_end_alike_share_a_line_that_says_how_many_they_are(view: RunView) -> None:
    _, first, second = lines(failing(view, "leapt", "looked_away", *["leapt"] * 12))
    assert "quota_reentry_before_callsite%3A leapt in 13 of 14 trials::episode 1," in first
    assert "%3A looked_away in 1 of 14 trials::episode 2," in second


def test_a_run_that_passed_is_one_notice(view: RunView) -> None:
    manifest = view.manifest.model_copy(update={"plan": ()})
    assert lines(view.model_copy(update={"receipts": view.receipts[:1], "manifest": manifest})) == [
        "::notice title=harness::1 of 1 passed"
    ]


def test_a_scenario_whose_file_lies_elsewhere_has_an_annotation_without_a_file(view: RunView) -> None:
    told = [line for line in lines(view) if "title=loopx/selected-todo" in line]
    assert told
    assert not any("file=" in line for line in told)


def test_annotations_of_one_scenario_and_code_differ_by_their_actors(view: RunView) -> None:
    first, second = view.receipts[1], view.receipts[2]
    alike = (first, second.model_copy(update={"failure_code": first.failure_code}))
    titles = [line.split("::")[1] for line in lines(view.model_copy(update={"receipts": alike}))[1:]]
    assert len(set(titles)) == len(titles) == 2


def test_what_a_policy_decides_comes_first_and_takes_of_the_room(view: RunView) -> None:
    sentences = (("overall", "10 of 20 trials passed: fewer than 95 % that are wanted"), ("", "and more"))
    said: dict[Answer, str] = {"fail": "FAIL", "inconclusive": "INCONCLUSIVE", "pass": "PASS"}
    decisions = tuple(
        DecisionTold(who=f"{word}, it", answer=answer, word=word, policy="policy.toml", sentences=sentences)
        for answer, word in said.items()
    )
    told = failing(view, *(f"code_{number}" for number in range(13))).model_copy(update={"decisions": decisions})
    notice, *others = lines(told)
    assert notice.endswith("; 4 more are in the summary")
    assert others[0] == (
        "::error title=FAIL%2C it%3A FAIL by policy.toml::"
        "overall: 10 of 20 trials passed: fewer than 95 %25 that are wanted%0Aoverall: and more"
    )
    sorts = [line.partition(" ")[0] for line in others]
    assert sorts == [*["::error"] * 10, "::warning", "::notice"]
