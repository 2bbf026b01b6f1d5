from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.schema.run import EpisodeJob, EpisodeResult
from harness.schema.verdict import Verdict
from harness.suite import conclude

Job = Callable[[int], EpisodeJob]
Result = Callable[[EpisodeJob, Verdict], EpisodeResult]


def test_scripted_verdicts_count_as_they_are(make_job: Job, make_result: Result) -> None:
    verdicts: tuple[Verdict, ...] = ("pass", "fail", "not_judged", "pending")

    assert conclude(make_result(make_job(1), verdict).receipt for verdict in verdicts) == set(verdicts)


@pytest.mark.parametrize(
    ("verdict", "counted"), [("pass", "pass"), ("fail", "pass"), ("pending", "pending"), ("not_judged", "not_judged")]
)
def test_a_live_verdict_only_says_whether_it_was_judged(
    live_job: EpisodeJob, make_result: Result, verdict: Verdict, counted: Verdict
) -> None:
    assert conclude([make_result(live_job, verdict).receipt]) == {counted}


def test_nothing_concludes_nothing() -> None:
    assert conclude([]) == frozenset()
