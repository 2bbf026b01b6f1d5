from __future__ import annotations

from harness.reporters.github import build
from harness.schema.receipt import Finding, RedactedText
from harness.schema.run import RunView


def lines(view: RunView) -> list[str]:
    return build().render(view).splitlines()


def test_failures_are_errors_at_their_scenarios_and_what_was_not_judged_is_a_warning(view: RunView) -> None:
    notice, *others = lines(view)
    assert (
        notice == "::notice title=harness::2 of 8 passed, 4 failed, 1 not judged, 1 not run; 1 more are in the summary"
    )
    assert [line.split(" ")[0] for line in others] == [*["::error"] * 4, "::warning"]
    start = "::error file=scenarios/loopx/capability-repair.toml,line=1,title=loopx/capability-repair%3A "
    assert others[0].startswith(f"{start}quota_reentry_before_callsite::episode 2, script:quota_reentry")
    assert "%0Aexpected " in others[1]


def test_a_recording_that_no_longer_fits_is_an_error_although_it_was_not_judged(view: RunView) -> None:
    drift = Finding(code="stale_prompt", check="drift", got=RedactedText("100%,a:b"))
    stale = view.receipts[3].model_copy(update={"findings": (drift,)})
    _, line = lines(view.model_copy(update={"receipts": (stale,)}))
    assert line.startswith("::error ")
    assert "%3A the recording no longer fits::" in line
    assert line.endswith("%0Athe prompt changed%0Anow      100%25,a:b%0Ait proves nothing until recorded anew")


def test_no_more_are_told_than_github_shows_and_the_others_are_counted(view: RunView) -> None:
    failed = tuple(view.receipts[1].model_copy(update={"trial": trial}) for trial in range(1, 14))
    manifest = view.manifest.model_copy(update={"plan": ()})
    told = lines(view.model_copy(update={"receipts": failed, "manifest": manifest}))
    assert len(told) == 11
    assert told[0].endswith("; 3 more are in the summary")


def test_a_run_that_passed_is_one_notice(view: RunView) -> None:
    manifest = view.manifest.model_copy(update={"plan": ()})
    assert lines(view.model_copy(update={"receipts": view.receipts[:1], "manifest": manifest})) == [
        "::notice title=harness::1 of 1 passed"
    ]
