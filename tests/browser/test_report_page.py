"""Report pages in a real browser that reaches nothing but their files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from browsing import Open, Shown
from command_line import CommandLine
from playwright.sync_api import Page
from report_pages import packed_of
from synthetic_run import Synthetic

from harness.reporters import html as module
from harness.reporters.html import build
from harness.schema.receipt import RedactedText
from harness.schema.run import RunView

pytestmark = pytest.mark.slow

ACTORS = ("script", "script:quota_reentry_before_callsite", "script:quota_execution_failed")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of ten thousand trials."""
    file = tmp_path_factory.mktemp("many") / "report.html"
    file.write_text(build().render(Synthetic(trials=250).view()), "utf-8")
    return file


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of sixty trials, which are told one by one in the page itself too."""
    file = tmp_path_factory.mktemp("few") / "report.html"
    file.write_text(build().render(Synthetic(trials=3, scenarios=5).view()), "utf-8")
    return file


@pytest.fixture
def played(plane_home: Path, tmp_path: Path) -> Path:
    """The page of a real run with one pass and two failures."""
    line = CommandLine(plane_home, tmp_path / "run")
    actors = [word for actor in ACTORS for word in ("--actor", actor)]
    done = line.run("run", "loopx/capability-repair", *actors, "--report", "html", "--out", str(tmp_path / "out"))
    assert (done.returncode, done.stderr) == (1, b"")
    return tmp_path / "out/report.html"


def names(page: Page) -> list[str]:
    """The rows that are shown, by their numbers and scenarios."""
    return page.locator("#found .open").all_inner_texts()


def times(page: Page) -> list[float]:
    """Of the rows that are shown, in seconds."""
    return [
        float(text.removesuffix(" s")) for text in page.locator("#found td.number:nth-of-type(6)").all_inner_texts()
    ]


def told(page: Page) -> str:
    return page.locator("#count").inner_text()


@pytest.mark.plane
def test_the_page_of_a_run_opens_offline_without_a_complaint_and_shows_counts_and_rules(
    played: Path, show: Open
) -> None:
    seen = show(played)
    page = seen.page
    assert page.locator("h1").inner_text() == "1 of 3 passed, 2 failed"
    assert told(page) == "3 episodes, 1 passed"
    page.locator("#found .open").nth(1).click()
    panel = page.locator("#panel[open]")
    assert "quota_reentry_before_callsite" in panel.inner_text()
    assert panel.locator("svg use").count() == 1
    assert {"informed", "verified", "quota_reentry"} <= set(page.locator("g.art text").all_text_contents())
    assert (seen.complaints, seen.asked) == ([], [])


def test_a_page_that_asks_for_something_or_fails_is_noticed(tmp_path: Path, show: Open) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://nowhere.invalid/x.png"><script>nothing_of_the_kind()</script>', "utf-8")
    seen = show(bad, ready=None)
    assert seen.asked == ["http://nowhere.invalid/x.png"]
    assert "nothing_of_the_kind is not defined" in "\n".join(seen.complaints)


def seconds_of(path: Path, number: int) -> float:
    """How long an episode took, by what the page holds of it: hundredths."""
    columns = packed_of(path.read_text("utf-8"))["columns"]
    assert isinstance(columns, dict)
    numbers, seconds = columns["number"], columns["seconds"]
    assert isinstance(numbers, list)
    assert isinstance(seconds, list)
    hundredths = seconds[numbers.index(number)]
    assert isinstance(hundredths, int)
    return hundredths / 100


def test_ten_thousand_trials_are_one_file_of_a_megabyte_that_finds_sorts_and_opens(many: Path, show: Open) -> None:
    assert many.stat().st_size <= 1_000_000
    seen = show(many)
    page = seen.page
    whole = re.fullmatch(r"([\d,]+) episodes, [\d,]+ passed", told(page))
    assert whole is not None
    assert int(whole[1].replace(",", "")) >= 10_000
    page.locator("#find").fill("case-03 openai todo_claim")
    page.locator("#by-verdict").select_option("failed")
    assert re.fullmatch(rf"\d+ episodes of {whole[1]}, 0 passed", told(page))
    assert {name.split(". ")[1] for name in names(page)} == {"synthetic/case-03"}
    page.get_by_role("button", name="Time").click()
    seconds = times(page)
    assert len(set(seconds)) > 1
    assert seconds == sorted(seconds)
    page.get_by_role("button", name="Time").click()
    backwards = times(page)
    assert backwards == sorted(backwards, reverse=True)
    assert backwards[0] > seconds[0]
    first = names(page)[0]
    assert backwards[0] == seconds_of(many, int(first.split(".")[0]))
    page.locator("#found .open").first.click()
    panel = page.locator("#panel[open]")
    assert first in panel.locator("h2").inner_text()
    assert panel.locator("svg .node.visited").count() >= 1
    assert panel.locator("details.step.broke").count() == 1
    assert (seen.complaints, seen.asked) == ([], [])


def test_filters_and_what_is_open_stand_in_the_address_and_come_back_from_it(many: Path, show: Open) -> None:
    page = show(many).page
    page.locator("#by-verdict").select_option("not judged")
    page.locator("#by-actor").select_option("openai/large")
    page.get_by_role("button", name="Cost").click()
    shown, count = names(page), told(page)
    page.locator("#found .open").nth(2).click()
    at = page.evaluate("location.hash").removeprefix("#")
    again = show(many, at).page
    again.wait_for_selector("#panel[open]")
    assert again.locator("#panel-title").inner_text() == page.locator("#panel-title").inner_text()
    again.keyboard.press("Escape")
    assert (names(again), told(again)) == (shown, count)
    assert "episode" not in again.evaluate("location.hash")
    again.get_by_role("button", name="Clear").click()
    assert again.locator("#by-verdict").input_value() == ""
    assert again.evaluate("location.hash") == "#sort=cost"
    far = show(many, "episode=9000").page
    far.wait_for_selector("#panel[open]")
    far.keyboard.press("Escape")
    assert far.evaluate("document.activeElement.dataset.number") == "9000", "on its own page of the table"


def test_everything_can_be_done_from_the_keyboard(few: Path, show: Open) -> None:
    seen = show(few)
    page = seen.page
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"
    page.keyboard.type("case-02")
    rows = names(page)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "open":
            break
    assert page.evaluate("document.activeElement.innerText") == rows[0]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.innerText") == rows[2]
    assert page.locator("#found .open[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    title = page.locator("#panel-title")
    assert rows[2] in title.inner_text()
    page.keyboard.press("ArrowRight")
    assert rows[3] in title.inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#panel[open]").count() == 0
    assert page.evaluate("document.activeElement.innerText") == rows[3]
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.innerText") == rows[-1]
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.innerText") == rows[-2]
    for at, key, row in (
        ("Home", "ArrowLeft", rows[0]),
        ("Home", "ArrowRight", rows[1]),
        ("End", "ArrowRight", rows[-1]),
    ):
        page.keyboard.press(at)
        page.keyboard.press("Enter")
        page.keyboard.press(key)
        assert row in title.inner_text(), "before the first and after the last there is none"
        page.keyboard.press("Escape")
    assert seen.complaints == []


def test_a_screen_reader_is_told_counts_headings_orders_and_what_is_drawn(few: Path, show: Open) -> None:
    page = show(few).page
    page.locator("#find").fill("case-02")
    assert page.get_by_role("status").inner_text() == told(page)
    page.get_by_role("button", name="Scenario").click()
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    page.get_by_role("button", name="Scenario").click()
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map((one) => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    for drawing in page.locator("svg:visible").all():
        name = drawing.evaluate("one => one.getAttribute('aria-label') || one.querySelector('title')?.textContent")
        assert name or drawing.get_attribute("aria-hidden") == "true"
    for control in page.locator("input:visible, select:visible, button:visible").all():
        assert control.evaluate("one => (one.labels?.[0]?.textContent || one.innerText || one.ariaLabel).trim()")


def test_a_cell_of_the_matrix_leads_to_its_episodes(few: Path, show: Open) -> None:
    page = show(few).page
    cell = page.locator('[data-scenario="synthetic/case-04"][data-actor="openai/large"] button')
    cell.click()
    assert {name.split(". ")[1] for name in names(page)} == {"synthetic/case-04"}
    assert page.locator("#by-actor").input_value() == "openai/large"


def test_episodes_of_one_code_are_found_by_it(few: Path, show: Open) -> None:
    page = show(few).page
    code = page.locator("#by-code option").nth(1).get_attribute("value")
    assert code
    page.locator("#by-code").select_option(code)
    assert set(page.locator("#found td.code").all_inner_texts()) == {code}


def test_without_scripts_the_overview_and_every_card_are_there(few: Path, show: Open) -> None:
    page = show(few, scripts=False).page
    assert page.locator("#rates").is_visible()
    assert page.locator("#explorer").is_hidden()
    assert "the page needs its script" in page.locator("body").inner_text()
    assert page.locator("details.card").count() == page.locator(".plainly tbody tr:not(.group)").count() > 50


def test_what_is_in_the_page_and_what_is_unpacked_tell_an_episode_alike(few: Path, show: Open) -> None:
    def shown(page: Page) -> list[list[str]]:
        page.locator("#found .open").first.click()
        body = page.locator("#panel-body")
        parts = ("dl.facts >> nth=0", ".finding", ".step > summary", ".legend")
        found = [[re.sub(r"\s+", " ", one).strip() for one in body.locator(part).all_inner_texts()] for part in parts]
        drawn = body.locator("svg use, svg g.edge").count() > 0
        page.keyboard.press("Escape")
        return [*found, ["drawn"] * drawn]

    page = show(few, "verdict=failed&sort=code").page
    lent = shown(page)
    page.locator("details.card").evaluate_all("all => all.forEach((one) => one.remove())")
    assert shown(page) == lent
    assert all(lent)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 700, 1400])
def test_text_stands_out_in_both_themes_and_nothing_runs_over_the_edge(
    few: Path, show: Open, theme: Literal["light", "dark"], width: int
) -> None:
    page = show(few, theme=theme, width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    plots = page.locator("figure.plot:visible")
    assert plots.count() == 1
    assert plots.evaluate("one => one.scrollWidth <= one.clientWidth")
    labels = plots.locator("text").evaluate_all("all => all.map((one) => one.getBoundingClientRect().right)")
    assert max(labels) <= width
    ground = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (ground > 0.5) == (theme == "light")
    for part in ("h1", "#found .open", "#count", ".matrix strong"):
        ink = luminance(page.locator(part).first.evaluate("one => getComputedStyle(one).color"))
        assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) > 4.5, part


def test_on_paper_every_episode_is_told_and_no_control_is(few: Path, show: Open) -> None:
    page = show(few).page
    page.emulate_media(media="print")
    assert page.locator("#tools").is_hidden()
    assert page.locator("details.card").first.is_visible()
    assert page.locator("#rates").is_visible()


def test_hostile_texts_are_shown_and_never_run(tmp_path: Path, show: Open) -> None:
    evil = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>{{7*7}}"
    seen = show(hostile(tmp_path, Synthetic(trials=2, scenarios=2).view(), evil))
    run_over(seen, evil)


def test_hostile_texts_that_are_only_in_the_packed_data_never_run_either(
    tmp_path: Path, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CARDS_MAX", 0)
    evil = (
        "</script><script>window.pwned=1</script><svg onload=window.pwned=1><a href='javascript:window.pwned=1'>x</a>"
    )
    seen = show(hostile(tmp_path, Synthetic(trials=2, scenarios=2).view(), evil))
    run_over(seen, evil)


def hostile(folder: Path, view: RunView, evil: str) -> Path:
    """A run in which each text that a model may have a say in is hostile."""
    said = RedactedText(evil)

    def changed(at: int) -> dict[str, object]:
        receipt = view.receipts[at]
        findings = tuple(one.model_copy(update={"got": said, "expected": said}) for one in receipt.findings)
        steps = tuple(replace(step, tool=said) for step in receipt.steps)
        ref = f"openai/{evil}"
        return {"findings": findings, "steps": steps, "actor": receipt.actor.model_copy(update={"ref": ref})}

    receipts = tuple(receipt.model_copy(update=changed(at)) for at, receipt in enumerate(view.receipts))
    logs = tuple(
        log.model_copy(update={"key": receipt.key, "problem": evil})
        for log, receipt in zip(view.log, receipts, strict=True)
    )
    file = folder / "report.html"
    file.write_text(build().render(view.model_copy(update={"receipts": receipts, "log": logs})), "utf-8")
    return file


def run_over(seen: Shown, evil: str) -> None:
    """Look at everything that the page can show."""
    page = seen.page
    page.locator("#found .open").first.click()
    for _ in range(len(names(page)) - 1):
        assert evil in page.locator("#panel-body").inner_text()
        for step in page.locator("#panel-body details.step").all():
            step.evaluate("one => { one.open = true; }")
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    page.locator("#find").fill(evil)
    page.locator("#find").fill("")
    assert page.evaluate("window.pwned") is None
    assert page.locator("img, iframe, a[href^='javascript']").count() == 0
    assert (seen.complaints, seen.asked) == ([], [])


def test_the_policy_stops_what_would_get_through(few: Path, tmp_path: Path, show: Open) -> None:
    """As if a text had broken out after all: nothing of it runs, and nothing is asked for."""
    broken = tmp_path / "broken.html"
    breach = '<script>window.pwned=1</script><img src="http://nowhere.invalid/x.png" onerror="window.pwned=1">'
    broken.write_text(few.read_text("utf-8").replace("<main>", f"<main>{breach}", 1), "utf-8")
    seen = show(broken)
    assert seen.page.evaluate("window.pwned") is None
    assert seen.asked == []
    assert seen.page.evaluate("try { document.body.innerHTML = '<b>x</b>'; 1 } catch { 0 }") == 0


def test_a_run_too_large_for_one_file_is_several_that_lead_to_each_other(
    tmp_path: Path, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROWS_MAX", 100)
    monkeypatch.setattr(module, "PART_ROWS", 80)
    reporter = module.HtmlReporter()
    for name, text in reporter.pages(Synthetic(trials=5).view(), "report.html"):
        (tmp_path / name).write_text(text, "utf-8")
    seen = show(tmp_path / "report.html", ready="h1")
    page = seen.page
    assert page.locator("#explorer").count() == 0
    page.get_by_role("link", name="81 to 160").click()
    page.wait_for_selector("html.scripted #found tr")
    assert names(page)[0].startswith("81. ")
    assert told(page).startswith("80 episodes")
    page.locator("#found .open").first.click()
    assert page.locator("#panel-title").inner_text().find("81. ") > 0
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Later episodes").click()
    page.wait_for_selector("html.scripted #found tr")
    assert names(page)[0].startswith("161. ")
    page.get_by_role("link", name="The whole run").click()
    page.wait_for_selector("#rates")
    assert (seen.complaints, seen.asked) == ([], [])


def luminance(color: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
