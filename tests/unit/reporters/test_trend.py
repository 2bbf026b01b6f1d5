"""Rates from run to run, as a page draws them."""

from __future__ import annotations

from past import indexed_run, told

from harness.qualification.trends import trends
from harness.reporters._trend import HEIGHT, WIDTH, lines
from harness.reporters.html import build
from harness.schema.base import digest_text
from harness.schema.run import RunView


def test_every_run_has_a_point_and_the_last_two_are_told_in_words() -> None:
    runs = [indexed_run(1, told("PPPP")), indexed_run(2, told("PPFF")), indexed_run(3, told("PPPN"))]
    (line,) = lines(trends(runs), {"script"})
    assert (line.name, line.now, line.before, line.since) == ("script", "3 of 3", "2 of 4", "")
    assert line.spoken == "4 of 4, 2 of 4, 3 of 3"
    (first, x_first), (middle, x_middle), (last, _) = ((y, x) for x, y in line.dots)
    assert first == last < middle
    assert x_first < x_middle < WIDTH
    points = [tuple(map(float, pair.split(","))) for pair in line.band.split()]
    assert len(points) == 6
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)
    # the scale begins at the lowest interval, else a rate near 100 % would be a line at the top
    assert max(y for _, y in points) == HEIGHT - 5


def test_what_else_was_different_is_marked_and_said() -> None:
    changed = told("PP", scenario_digest=digest_text("other"))
    (line,) = lines(trends([indexed_run(1, told("PP")), indexed_run(2, changed)]), {"script"})
    assert line.since == "a scenario was changed"
    assert line.marks == (line.dots[1][0],)


def test_a_run_without_a_judged_trial_has_no_point_and_one_run_alone_is_no_trend() -> None:
    runs = [indexed_run(1, told("PF")), indexed_run(2, told("NN")), indexed_run(3, told("PP"))]
    (line,) = lines(trends(runs), {"script"})
    assert (len(line.dots), line.before) == (2, "not judged")
    assert lines(trends(runs[:1]), {"script"}) == ()
    assert lines(trends([indexed_run(1, told("N")), indexed_run(2, told("N"))]), {"script"}) == ()


def test_the_page_tells_trends_where_they_are_known(view: RunView) -> None:
    known = trends([indexed_run(1, told("PPPP")), indexed_run(2, told("PPFF"))])
    page = build().render(view.model_copy(update={"trends": known}))
    assert 'aria-label="4 of 4, 2 of 4"' in page
    assert 'href="#trend"' in page
    assert 'id="trend"' not in build().render(view)


def test_a_script_that_always_passed_has_no_trend_and_one_that_failed_has() -> None:
    always = [indexed_run(1, told("PP")), indexed_run(2, told("PP"))]
    once = [indexed_run(1, told("PF")), indexed_run(2, told("PP"))]
    assert lines(trends(always), ()) == ()
    assert len(lines(trends(once), ())) == 1
