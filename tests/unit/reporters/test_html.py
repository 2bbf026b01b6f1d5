from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest
import recorded as rec
from report_pages import script_of, without_script

from harness.reporters import html as module
from harness.reporters.html import build
from harness.schema.base import digest_text
from harness.schema.command import CommandShape
from harness.schema.graph import GraphEdge, GraphNode, RuleGraph
from harness.schema.receipt import Boundary, Receipt, RedactedText
from harness.schema.run import RunView
from harness.schema.transcript import Passage, Transcript, TranscriptTurn

VOID = {"meta", "br", "wbr", "rect", "path", "polygon", "polyline", "use", "input", "line", "circle"}


class Page(HTMLParser):
    """Open and closed tags, attributes, and the text per element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.unbalanced: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]


@pytest.fixture(scope="module")
def html(view: RunView) -> str:
    return build().render(view)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def replace_version(receipt: Receipt, version: str) -> Receipt:
    return receipt.model_copy(update={"plane": receipt.plane.model_copy(update={"version": version})})


def test_the_page_is_well_formed_and_its_ids_are_unique(page: Page) -> None:
    assert page.unbalanced == []
    assert page.open == []
    ids = page.values("id")
    assert len(set(ids)) == len(ids)


def test_every_link_and_label_leads_somewhere(page: Page) -> None:
    ids = set(page.values("id"))
    assert {link.removeprefix("#") for link in page.values("href")} <= ids
    assert set(page.values("aria-labelledby")) <= ids
    assert "episode-7" in ids


def test_an_actor_that_plays_many_scenarios_is_named_once(view: RunView) -> None:
    # a script has another digest in each scenario
    own = (actor.model_copy(update={"digest": digest_text(text)}) for actor in view.manifest.actors for text in "ab")
    manifest = view.manifest.model_copy(update={"actors": tuple(own)})
    told = Page(build().render(view.model_copy(update={"manifest": manifest}))).text
    listed = told[told.rindex("Actors", 0, told.index("Environment given")) :]
    assert listed.count("script:quota_reentry_before_callsite script") == 1


def test_the_page_needs_nothing_from_anywhere(html: str, page: Page) -> None:
    assert not re.search(
        r"https?:|//|@import|url\(|<script|<link|<img|<iframe| src=| on[a-z]+=| style=", without_script(html)
    )
    asks = re.compile(r"fetch|XMLHttp|import\(|WebSocket|sendBeacon|innerHTML|outerHTML|insertAdjacent|eval|Function\(")
    assert not asks.search(script_of(html))
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_the_policy_allows_exactly_the_style_sheet_and_the_script_of_the_page(html: str, page: Page) -> None:
    style = html[html.index("<style>") + 7 : html.index("</style>")]
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script_of(html))]
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a)
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digests[0]}'",
        f"script-src 'sha256-{digests[1]}'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_the_page_tells_counts_verdicts_codes_evidence_and_changes(page: Page) -> None:
    text = page.text
    assert "2 of 8 passed, 4 failed, 1 not judged, 1 not run" in text
    for told in (
        "quota_reentry_before_callsite",
        "step 4, quota_reentry: the answer",
        "/interaction_contract/agent_channel/delivery_allowed",
        '"todo_portfolio_private_read"',
        "text of 36 characters, sha256:1a1309bdb37e",
        "the provider was overloaded (HTTP 529) three times",
        "project/fixture/sha256:8197a13302fa (depth 3)",
        "call, 8 or more words",
        "content, 2 words, cannot be parsed, pipe, redirect, names the content",
        "cause: control plane",
        "Not measured.",
        "denied policy",
    ):
        assert told in text, told


def test_every_episode_has_a_card_and_those_that_passed_are_folded(page: Page) -> None:
    cards = {a["id"]: "open" in a for tag, a in page.tags if tag == "details" and "id" in a}
    assert cards == {
        "episode-1": False,
        "episode-2": True,
        "episode-3": True,
        "episode-4": True,
        "episode-5": True,
        "episode-6": False,
        "episode-7": True,
    }


def endings(html: str) -> list[tuple[str, str, str]]:
    """Call, code and count of every way that ended an episode."""
    marked = re.findall(
        r'<tr class="taken"><td class="mono">(.*?)</td><td class="mono">(.*?)</td><td class="number">(\d+)</td>', html
    )
    return [(kind.replace("<wbr>", ""), code.replace("<wbr>", ""), times) for kind, code, times in marked]


def test_the_ways_that_episodes_ended_are_counted_among_all_ways(html: str, view: RunView) -> None:
    assert endings(html) == [
        ("quota_reentry", "quota_reentry_before_callsite", "1"),
        ("quota_reentry", "quota_reentry_failed", "1"),
        ("silence", "waited_on_capability_reentry", "1"),
    ]
    again = view.receipts[1].model_copy(update={"trial": 2})
    twice = build().render(view.model_copy(update={"receipts": (view.receipts[1], again)}))
    assert endings(twice) == [("quota_reentry", "quota_reentry_before_callsite", "2")]


def test_silence_is_not_counted_where_a_call_ended_the_episode_with_the_same_code(view: RunView) -> None:
    code = "quota_reentry_before_callsite"
    rules = RuleGraph(
        nodes=(GraphNode(facts=(), accepts=False, silence=code),),
        edges=(GraphEdge(source=0, kind="quota_reentry", code=code),),
    )
    summary = view.manifest.scenarios[0].model_copy(update={"graph": rules})
    manifest = view.manifest.model_copy(update={"scenarios": (summary,)})
    html = build().render(view.model_copy(update={"manifest": manifest, "receipts": view.receipts[1:2]}))
    assert endings(html) == [("quota_reentry", code, "1")]


def test_a_path_that_many_episodes_took_is_drawn_once(view: RunView) -> None:
    one = view.receipts[0]
    many = tuple(one.model_copy(update={"trial": trial}) for trial in range(1, 31))
    html = build().render(view.model_copy(update={"receipts": many}))
    assert html.count('class="art"') == 1
    assert html.count('<use href="#s1-path-1"/>') == 30


def test_of_many_episodes_that_did_not_pass_none_lies_open(view: RunView) -> None:
    def opened(number: int) -> int:
        failed = tuple(view.receipts[1].model_copy(update={"trial": trial}) for trial in range(1, number + 1))
        html = build().render(view.model_copy(update={"receipts": failed}))
        return len(re.findall(r'<details class="card" id="episode-\d+" open>', html))

    assert (opened(12), opened(13)) == (12, 0)


def test_changes_that_are_all_allowed_are_folded(html: str) -> None:
    folds = re.findall(r'<details class="more"( open)?>\n<summary>(\d+ changes? of the workspace, .*?)</summary>', html)
    assert folds[0] == ("", "1 change of the workspace, all allowed")
    assert folds[-1] == (" open", "2 changes of the workspace, 1 not allowed")


def test_each_drawing_shows_where_its_episode_ended(html: str) -> None:
    flags = re.findall(r'<g class="flag (\w+)">.*?<text[^>]*>(.*?)</text>', html)
    assert flags == [
        ("pass", "✓ passed"),
        ("fail", "✗ quota_reentry_before_callsite"),
        ("fail", "✗ quota_reentry_failed"),
        ("not_judged", "■ model_error"),
        ("fail", "✗ waited_on_capability_reentry"),
        ("pass", "✓ passed"),
        ("fail", "✗ unexpected_command"),
    ]


def test_texts_are_escaped_and_cannot_act(view: RunView) -> None:
    got = RedactedText("</dd><script>alert(1)</script>\x1b\u202e'\"&{{ 7 * 7 }}")
    finding = view.receipts[2].findings[0].model_copy(update={"got": got})
    hostile = view.receipts[2].model_copy(update={"findings": (finding,)})
    whole = build().render(view.model_copy(update={"receipts": (hostile,)}))
    html = without_script(whole)
    assert whole.count("<script") == 2
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "{{ 7 * 7 }}" in html


def test_an_episode_whose_scenario_is_not_in_the_manifest_has_no_drawing(view: RunView) -> None:
    manifest = view.manifest.model_copy(update={"scenarios": (), "planes": (), "actors": (), "finished_at": None})
    html = without_script(build().render(view.model_copy(update={"manifest": manifest})))
    assert "Rules and the path taken" not in html
    assert "quota_reentry_failed" in html.replace("<wbr>", "")


def test_a_graph_without_nodes_is_not_drawn(view: RunView) -> None:
    summaries = tuple(
        one.model_copy(update={"graph": RuleGraph(nodes=(), edges=())}) for one in view.manifest.scenarios
    )
    manifest = view.manifest.model_copy(update={"scenarios": summaries})
    assert "<title id=" not in build().render(view.model_copy(update={"manifest": manifest}))


def test_a_run_without_receipts_can_be_shown(view: RunView) -> None:
    nothing = Page(build().render(view.model_copy(update={"receipts": (), "log": ()})))
    assert nothing.unbalanced == []
    assert "No episode of it was run." in nothing.text
    manifest = view.manifest.model_copy(update={"plan": ()})
    assert "0 of 0 passed" in Page(build().render(view.model_copy(update={"receipts": (), "manifest": manifest}))).text


def test_odd_episodes_are_shown_too(view: RunView) -> None:
    shape = CommandShape(
        parseable=True,
        tokens=1,
        family="unknown",
        segments=3,
        multiline=True,
        pipe=False,
        redirect=False,
        conditional=True,
        expansion=True,
        names_content_target=False,
    )
    first = view.receipts[0]
    odd = first.model_copy(
        update={
            "verdict": "pending",
            "definition_digest": None,
            "steps": (
                replace(first.steps[0], shape=None),
                replace(first.steps[1], shape=shape),
            ),
            "turns": (replace(first.turns[0], finish=None, said_text=True, quirks=("missing_call_id",)),),
            "outcome": first.outcome.model_copy(update={"limit": 6, "observed": 7}),
            "boundary": Boundary(measured=True),
        }
    )
    text = Page(build().render(view.model_copy(update={"receipts": (odd,)}))).text
    assert "… pending" in text
    assert "unknown, 1 word, 3 commands, several lines, conditional, expansion" in text
    assert "nothing in the workspace changed" in text
    assert "no finish, 1 call, text; odd: missing call id" in text
    assert "limit 6, observed 7" in text
    assert "not opened" in text


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_is_readable_in_both_themes(html: str, theme: int) -> None:
    """WCAG AA: a contrast of at least 4.5 between every ink and the grounds it stands on."""
    block = re.findall(r":root \{(.*?)\}", html, re.DOTALL)[theme]
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    pairs = [(ink, ground) for ink in ("ink", "soft", "link", "path", "fail") for ground in ("page", "sheet", "well")]
    pairs += [(name, f"{name}-wash") for name in ("pass", "fail", "doubt", "wait", "none")]
    pairs += [("ink", "fail-wash"), ("soft", "fail-wash")]
    for ink, ground in pairs:
        light, dark = sorted((luminance(colors[ink]), luminance(colors[ground])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground)


def luminance(color: str) -> float:
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def spoken(problem: str | None = None) -> Transcript:
    said = Passage(speaker="control plane", about="step 1", text="<b>\tx\n\x1by", shown=9, size=12, line=7)
    turn = TranscriptTurn(number=1, asked=(), said=(said,), answers=())
    told = Transcript(file="recordings/a.jsonl", size=1234, problem=problem)
    return told if problem else told.model_copy(update={"turns": (turn,), "header": rec.header()})


def test_a_kept_conversation_is_told_in_its_episode_and_long_texts_say_where_they_are_whole(view: RunView) -> None:
    html = build().render(view.model_copy(update={"transcripts": {2: spoken()}})).replace("<wbr>", "")
    page = Page(html)
    assert page.unbalanced == []
    card = html[html.index('id="episode-2"') : html.index('id="episode-3"')]
    assert card.count('<pre tabindex="0">&lt;b&gt; x\n\ufffdy</pre>') == 1
    assert "9 of 12 bytes, whole text in recordings/a.jsonl, line 7" in card
    assert html.count("<pre") == 1
    assert "holds the conversations that the run kept" in page.text


def test_a_conversation_that_is_not_told_says_why(view: RunView) -> None:
    html = build().render(view.model_copy(update={"transcripts": {2: spoken("damaged")}}))
    assert "1,234 bytes: damaged" in Page(html).text


def test_a_step_opens_to_its_digests_and_the_one_that_broke_a_rule_lies_open(html: str) -> None:
    steps = re.findall(r'<details class="step( broke)?"( open)?>', html)
    assert len(steps) == html.count("<dt>Command</dt>")
    assert {(bool(broke), bool(opened)) for broke, opened in steps} == {(False, False), (True, True)}


def test_what_the_page_has_no_room_for_is_told(view: RunView, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(size: int) -> str:
        monkeypatch.setattr(module, "SIZE_MAX", size)
        return build().render(view.model_copy(update={"transcripts": {2: long}}))

    text = "x" * 100_000
    said = Passage(speaker="model", text=text, shown=len(text), size=len(text), line=1)
    turn = TranscriptTurn(number=1, asked=(), said=(said,), answers=())
    long = spoken().model_copy(update={"turns": (turn,)})
    least = len(made(0).encode())
    sizes = {size: made(least + size) for size in (500, 15_000, 120_000, 270_000)}
    assert all(len(page.encode()) <= least + size for size, page in sizes.items())
    cards = {size: page.count('id="episode-') for size, page in sizes.items()}
    assert cards[120_000] == cards[270_000] == 7
    assert 0 < cards[15_000] < 7
    assert text in sizes[270_000]
    assert text not in sizes[120_000]
    assert "Not shown here, the page has no room left" in sizes[120_000]
    few = Page(sizes[15_000])
    assert "told in the table above only: this page has no room left" in few.text
    assert {link.removeprefix("#") for link in few.values("href")} <= set(few.values("id"))
    assert sizes[500].count('<tr><td><span class="badge') == 8


def test_a_long_name_breaks_after_its_joints_and_never_within_a_version(view: RunView) -> None:
    versions = tuple(replace_version(receipt, version) for receipt in view.receipts[:1] for version in ("1", "2"))
    plan = tuple(view.manifest.plan[0].model_copy(update={"plane": receipt.plane.ref}) for receipt in versions)
    manifest = view.manifest.model_copy(update={"plan": plan})
    page = build().render(view.model_copy(update={"receipts": versions, "manifest": manifest}))
    assert "loopx==<wbr>1" in page
    assert "=<wbr>=" not in page
