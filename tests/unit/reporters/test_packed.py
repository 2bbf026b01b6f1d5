"""What a page holds of its episodes for its script."""

from __future__ import annotations

import re

import pytest
from report_pages import packed_of, without_script
from synthetic_run import Synthetic

from harness.reporters import _packed
from harness.reporters import html as module
from harness.reporters._packed import values
from harness.reporters._path_taken import Paths
from harness.reporters._rows import episodes
from harness.reporters.html import HtmlReporter, build
from harness.schema.money import MICRO, told_usd
from harness.schema.quarantine import QuarantineEntry
from harness.schema.receipt import RedactedText
from harness.schema.run import RunView


def unpacked(view: RunView) -> list[dict[str, object]]:
    """Every row as the script reads it, its numbers followed into the tables."""
    data = packed_of(build().render(view))
    columns, texts, stories = data["columns"], data["texts"], data["stories"]
    assert isinstance(columns, dict)
    assert isinstance(texts, list)
    assert isinstance(stories, list)
    rows: list[dict[str, object]] = []
    for at in range(len(view.receipts)):
        row: dict[str, object] = {name: column[at] for name, column in columns.items() if isinstance(column, list)}
        for name in ("scenario", "actor", "plane", "cost"):
            number = row[name]
            assert isinstance(number, int)
            row[name] = "" if number < 0 else texts[number]
        story = row["story"]
        assert isinstance(story, int)
        rows.append({**row, "story": stories[story]})
    return rows


def test_every_episode_is_packed_with_who_played_what_came_and_what_it_cost() -> None:
    view = Synthetic(trials=3, scenarios=3, cut=0.2).view()
    rows = unpacked(view)
    for row, receipt, log in zip(rows, view.receipts, view.log, strict=True):
        assert (row["scenario"], row["actor"], row["plane"]) == (receipt.scenario, receipt.actor.ref, receipt.plane.ref)
        assert (row["trial"], row["attempt"]) == (receipt.trial, receipt.attempt)
        assert row["seconds"] == round(log.seconds * 100)
        known = [call.cost_micro_usd for call in log.attempts if call.cost_micro_usd is not None]
        at_least = len(known) < len(log.attempts)
        assert row["cost"] == (told_usd(sum(known) / MICRO, at_least=at_least) if known else "")
        story = row["story"]
        assert isinstance(story, list)
        assert story[0] == receipt.verdict
        assert len(story[6]) == len(receipt.steps)
        assert story[8] == [receipt.counters.model_turns, len(receipt.steps), receipt.counters.executed_calls]


def test_courses_of_steps_texts_and_drawings_are_held_once() -> None:
    view = Synthetic(trials=60, scenarios=2).view()
    data = values(episodes(view), Paths(view.manifest.scenarios))
    assert isinstance(data, dict)
    sizes = {name: len(table) for name, table in data.items() if isinstance(table, list)}
    assert sizes["stories"] < len(view.receipts) / 4
    assert sizes["arts"] <= sizes["stories"]
    assert sizes["steps"] < 40
    texts = data["texts"]
    assert isinstance(texts, list)
    assert len({str(text) for text in texts}) == len(texts)


def test_no_digest_of_a_step_is_packed() -> None:
    view = Synthetic(trials=1, scenarios=1).view()
    assert "sha256:" not in str(values(episodes(view), Paths(view.manifest.scenarios)))


def test_the_same_run_makes_the_same_bytes() -> None:
    assert build().render(Synthetic(trials=2, scenarios=2).view()) == build().render(
        Synthetic(trials=2, scenarios=2).view()
    )


def test_nothing_in_the_packed_data_can_end_its_element_or_hide() -> None:
    view = Synthetic(trials=1, scenarios=1).view()
    evil = RedactedText("</script><script>alert(1)</script>\x1b\u202e\ud800")
    receipts = tuple(
        receipt.model_copy(update={"actor": receipt.actor.model_copy(update={"ref": evil})})
        for receipt in view.receipts
    )
    page = build().render(view.model_copy(update={"receipts": receipts}))
    assert len(re.findall(r"</script", page)) == 2
    texts = packed_of(page)["texts"]
    assert isinstance(texts, list)
    assert "</script><script>alert(1)</script>\ufffd\ufffd\ufffd" in texts


def test_beyond_a_number_of_drawings_episodes_are_told_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    view = Synthetic(trials=20, scenarios=3).view()
    monkeypatch.setattr(_packed, "_ARTS", 2)
    data = values(episodes(view), Paths(view.manifest.scenarios))
    assert isinstance(data, dict)
    assert isinstance(data["arts"], list)
    assert isinstance(data["stories"], list)
    assert len(data["arts"]) == 2
    assert {story[10] for story in data["stories"] if isinstance(story, list)} == {-1, 0, 1}


def test_many_episodes_have_no_cards_and_are_packed_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CARDS_MAX", 10)
    view = Synthetic(trials=3, scenarios=1).view()
    page = build().render(view)
    assert 'class="card"' not in page
    assert 'class="scroll plainly"' not in page
    assert "What ends an episode of this scenario" in page
    assert len(unpacked(view)) == len(view.receipts)


def test_more_than_a_file_holds_are_several_that_hold_each_episode_once(monkeypatch: pytest.MonkeyPatch) -> None:
    view = Synthetic(trials=10, scenarios=1).view()
    monkeypatch.setattr(module, "ROWS_MAX", 20)
    monkeypatch.setattr(module, "PART_ROWS", 18)
    files = dict(HtmlReporter().pages(view, "page.html"))
    only = HtmlReporter().render(view)
    assert list(files) == ["page.html", "page-1.html", "page-2.html", "page-3.html"]
    assert 'id="packed"' not in files["page.html"]
    assert 'href="report-1.html"' in only
    numbers: list[object] = []
    for name in list(files)[1:]:
        assert f'href="{name}"' in files["page.html"]
        assert 'href="page.html"' in files[name]
        columns = packed_of(files[name])["columns"]
        assert isinstance(columns, dict)
        assert isinstance(columns["number"], list)
        numbers += columns["number"]
    assert numbers == list(range(1, len(view.receipts) + 1))


def test_what_is_in_quarantine_is_told_so_in_the_matrix_in_the_table_and_in_the_episode() -> None:
    entry = QuarantineEntry(
        scenario="synthetic/case-01", actor="openai/small", owner="ann", reason="flaps", expires="2026-02-01"
    )
    plain = Synthetic(trials=2, scenarios=2, cut=0.0).view()
    view = plain.model_copy(update={"manifest": plain.manifest.model_copy(update={"quarantine": (entry,)})})
    page = without_script(build().render(view))
    assert page.count('<span class="soft more-of">in quarantine</span>') == 1
    texts = packed_of(build().render(view))["texts"]
    assert isinstance(texts, list)
    assert {entry.terms, "in quarantine"} <= {str(text) for text in texts}
    aside = [row for row in unpacked(view) if (row["scenario"], row["actor"]) == (entry.scenario, entry.actor)]
    others = [row for row in unpacked(view) if row not in aside]
    assert {row["origin"] for row in aside} == {texts.index("in quarantine")}
    assert {row["origin"] for row in others} == {-1}
