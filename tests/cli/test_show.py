from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest
import recorded as rec
from pydantic import JsonValue

from harness.receipt import RunStore
from harness.recording import dump, recording_path, reseal
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity
from harness.schema.base import digest_json, digest_text
from harness.schema.message import Usage
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Boundary, BoundaryChange, Counters, Finding, Receipt, RedactedText, Step, TurnSummary
from harness.schema.run import AttemptRow, Enforcement, EpisodeResult, Manifest, PlannedEpisode, RunLogEntry

PLANE = PlaneIdentity(name="toy", version="1")
SCENARIO = "demo/first"
#: What must not reach a terminal: escapes of both lengths, a bell, a backspace, a title, and a turned direction.
ACTING = "plain\x1b[31mred\x1b]0;title\x07\x9b2J\b\u202elink\rOVER"


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


def actor(ref: str) -> ActorIdentity:
    kind = ref.partition(":")[0]
    if kind == "script":
        return ActorIdentity(ref=ref, kind="script", digest=digest_text(ref))
    if kind == "recorded":
        return ActorIdentity(
            ref=ref,
            kind="recorded",
            provider="openai",
            model="m",
            digest=digest_json(["recorded", digest_text("openai/m")]),
        )
    return ActorIdentity(ref=ref, kind="live", provider="openai", model=ref, digest=digest_text(ref))


def receipt(ref: str, trial: int = 1) -> Receipt:
    step = Step(
        ordinal=1,
        turn=1,
        tool=RedactedText("exec"),
        kind="look",
        result="succeeded",
        executed=True,
        sets=("seen",),
    )
    return Receipt(
        scenario=SCENARIO,
        scenario_digest=digest_text("scenario"),
        definition_digest=None,
        classifier_version=1,
        actor=actor(ref),
        plane=PLANE,
        trial=trial,
        attempt=1,
        outcome=Outcome(status="failed", reason="scenario_violation"),
        verdict="fail",
        cause="control_plane",
        failure_code="leapt",
        findings=(
            Finding(
                code="leapt",
                step=2,
                check="answer",
                pointer="/a/b",
                expected=RedactedText("true"),
                got=RedactedText("false"),
            ),
        ),
        facts=("seen",),
        steps=(
            step,
            replace(step, ordinal=2, turn=2, kind="leap", code="leapt", sets=(), refused="not_declared"),
        ),
        turns=(TurnSummary(turn=2, finish="stop", said_text=False, calls=1, quirks=("finish_missing",)),),
        counters=Counters(model_turns=2, tool_calls=2, executed_calls=1, refused_calls=1),
        boundary=Boundary(
            measured=True,
            changes=(BoundaryChange(path=RedactedText("a"), change="added", by="control_plane", allowed=True),),
        ),
    )


def answered(text: str, ref: str = "openai/m") -> bytes:
    """A recording of two exchanges, in which the model and its tool say a text."""
    call: JsonValue = {"id": "c1", "type": "function", "function": {"name": "exec", "arguments": '{"cmd": "look"}'}}
    first: JsonValue = {"role": "assistant", "content": text, "tool_calls": [call]}
    begun: list[JsonValue] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go."}]
    tools: JsonValue = [{"type": "function", "function": {"name": "exec"}}]
    more: list[JsonValue] = [first, {"role": "tool", "tool_call_id": "c1", "content": text}]
    made = rec.recording(
        [
            rec.exchange(1, {"messages": begun, "tools": tools}, {"choices": [{"message": first}]}),
            rec.exchange(2, {"messages": begun + more}, {"choices": [{"message": {"content": "Done."}}]}),
        ],
        [rec.answer(1, "look", 0, {"seen": True})],
    )
    header = made.header.model_copy(update={"scenario": SCENARIO, "actor": actor(ref)})
    made = reseal(made.model_copy(update={"header": header}))
    return dump(made.header, made.exchanges, made.answers)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of a script, of a recorded model, and of two trials of a live one, of which the first is recorded."""
    monkeypatch.chdir(tmp_path)
    made = [receipt("script"), receipt("recorded:rec"), receipt("openai/m"), receipt("openai/m", trial=2)]
    manifest = Manifest(
        run_id="run-1",
        harness_version="0",
        python="3",
        platform="x",
        created_at="2026-01-01T00:00:00Z",
        finished_at=None,
        state="running",
        scenarios=(),
        actors=(),
        planes=(PLANE,),
        enforcement=Enforcement(executor="cold"),
        plan=tuple(
            PlannedEpisode(scenario=one.scenario, actor=one.actor.ref, plane=PLANE.ref, trial=one.trial) for one in made
        ),
        receipts=(),
        verdicts={},
    )
    attempt = AttemptRow(
        operation="turn-1/main",
        attempt=1,
        status="completed",
        usage=Usage(input_tokens=1234, output_tokens=1),
        seconds=0.5,
    )
    with RunStore(tmp_path / "run", manifest, SecretGuard([]), sync=False) as store:
        for position, one in enumerate(made):
            log = RunLogEntry(
                key=one.key,
                started_at="2026-01-01T00:00:00Z",
                seconds=2.5,
                executor="warm",
                attempts=(attempt,),
                plane_calls=1,
                shadow_checks=1,
                workspace="/kept/here",
            )
            store.add(position, EpisodeResult(receipt=one, log=log))
        store.finish("2026-01-01T00:01:00Z")
    for path in (
        recording_path(tmp_path / "run/recordings", SCENARIO, actor("openai/m")),
        tmp_path / "recordings" / SCENARIO / "rec.jsonl",
    ):
        path.parent.mkdir(parents=True)
        path.write_bytes(answered(ACTING))
    return Path("run")


def test_an_episode_is_told_whole_at_eighty_columns(harness: Harness, run: Path) -> None:
    code, out, err = harness("show", "run/3")

    assert (code, err) == (0, "")
    for told in (
        "3. demo/first, openai/m",
        "failed: leapt, cause: control plane",
        "failed/scenario_violation",
        "2 turns, 2 tool calls: 1 ran, 1 did not run",
        "turn 2: finish missing",
        "step 2, leap: the answer at /a/b",
        "expected true",
        "got      false",
        "1. look",
        "turn 1, exec; ran; result succeeded; sets seen",
        "2. leap ✗ leapt",
        "not declared",
        "allowed: a added by control plane",
        "2.50 s, warm",
        "1,234 tokens in, 1 token out",
        "repeated cold: 1, other answers: 0",
        "workspace kept: /kept/here",
        "harness show run/3 --transcript",
    ):
        assert told in " ".join(out.split()) or told in out, told
    assert max(map(len, out.splitlines())) <= 80


def test_an_episode_as_json_is_its_receipt_and_its_log(harness: Harness, run: Path) -> None:
    told = json.loads(harness("show", "run/3", "--format", "json")[1])

    assert (told["number"], told["receipt"]["trial"], told["log"]["seconds"]) == (3, 1, 2.5)
    assert Path(told["recording"]).is_file()


def test_an_episode_is_found_by_scenario_actor_and_trial(harness: Harness, run: Path) -> None:
    code, out, _ = harness("show", "run", "--scenario", SCENARIO, "--actor", "openai/m", "--trial", "2")

    assert (code, out.splitlines()[0]) == (0, "4. demo/first, openai/m, trial 2")


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (("run/5",), "harness: run has no episode 5; it has 1 to 4\n"),
        (("run/0",), "harness: run has no episode 0; it has 1 to 4\n"),
        (("run",), "harness: run has several such episodes: 1, 2, 3, 4; name one as run/1\n"),
        (("run", "--actor", "nobody"), "harness: run has no such episode; it has 1 to 4\n"),
        (("nowhere",), "harness: nowhere: holds no run (manifest.json is not there)\n"),
        (("nowhere.jsonl",), "harness: "),
        (("run/4", "--transcript"), "harness: run/4: no recording of this episode was kept; harness run --keep all "),
        (("run/1", "--transcript"), "harness: run/1: a script is not recorded; harness scenario show demo/first "),
    ],
)
def test_what_is_not_there_is_one_line_and_exit_4(
    harness: Harness, run: Path, argv: tuple[str, ...], line: str
) -> None:
    code, out, err = harness("show", *argv)

    assert (code, out, err.count("\n")) == (4, "", 1)
    assert err.startswith(line)


@pytest.mark.parametrize("episode", ["run/3", "run/2", "recordings/demo/first/rec.jsonl"])
def test_a_conversation_is_told_once_and_nothing_in_it_acts_on_the_terminal(
    harness: Harness, run: Path, episode: str
) -> None:
    code, out, _ = harness("show", episode, "--transcript")

    assert code == 0
    assert [out.count(text) for text in ("Be brief.", "Go.", '{"cmd": "look"}', "Done.", '{"seen": true}')] == [1] * 5
    assert "step 1, look, exit code 0" in out
    assert out.count("OVER") == 2  # what the model says and what the tool says; the echo in the request is left out
    assert all(word in out for word in ("plain", "red", "link"))
    assert all(letter.isprintable() or letter == "\n" for letter in out)


def test_a_recording_that_is_not_the_episodes_is_not_shown_for_it(harness: Harness, run: Path) -> None:
    recording_path(run / "recordings", SCENARIO, actor("openai/m")).write_bytes(answered("x", ref="openai/other"))

    assert harness("show", "run/3", "--transcript")[0] == 4


def test_a_recording_that_was_played_and_is_gone_is_asked_for_by_its_file(harness: Harness, run: Path) -> None:
    (Path("recordings") / SCENARIO / "rec.jsonl").unlink()

    code, _, err = harness("show", "run/2", "--transcript")

    assert (code, err.endswith("name its file: harness show FILE\n")) == (4, True)
    assert "the recording that was played is not found from here" in harness("show", "run/2")[1]


def test_a_damaged_recording_is_told_as_that(harness: Harness, run: Path) -> None:
    path = recording_path(run / "recordings", SCENARIO, actor("openai/m"))
    path.write_bytes(path.read_bytes()[:-10])

    code, _, err = harness("show", "run/3", "--transcript")

    assert code == 4
    assert str(path.name) in err
    assert harness("report", "run", "--report", "html", "--transcripts", "--out", "page.html")[0] == 0
    assert "damaged: it cannot be read" in Path("page.html").read_text()


def test_long_texts_are_folded_on_a_terminal_and_whole_as_json(harness: Harness, run: Path) -> None:
    path = Path("recordings") / SCENARIO / "rec.jsonl"
    path.write_bytes(answered("é" * 5000))

    out = harness("show", str(path))[1]
    assert f"(8,000 of 10,000 bytes, whole text in {path}, line 2)" in out
    assert f"(1,200 of 10,000 bytes, whole text in {path}, line 3)" in out
    told = json.loads(harness("show", str(path), "--format", "json")[1])
    said = told["turns"][0]["said"][0]
    assert (said["text"], said["shown"], said["size"]) == ("é" * 5000, 10000, 10000)


def test_the_report_embeds_what_the_run_kept(harness: Harness, run: Path) -> None:
    assert harness("report", "run")[0] == 0
    assert "exchanges with the model" not in (run / "report.html").read_text("utf-8")
    assert harness("report", "run", "--transcripts")[0] == 0
    assert (stat.S_IMODE((run / "report.html").stat().st_mode), (run / "junit.xml").stat().st_mode & 0o44) == (
        0o600,
        0o44,
    )
    page = (run / "report.html").read_text("utf-8").replace("<wbr>", "")
    # of the live episode what the run kept, of the recorded one what was played; a trial that kept none has none
    assert page.count("exchanges with the model, redacted") == 2
    assert "recordings/demo/first/rec.jsonl" in page
    (Path("recordings") / SCENARIO / "rec.jsonl").unlink()
    assert harness("report", "run", "--transcripts")[0] == 0
    page = (run / "report.html").read_text("utf-8").replace("<wbr>", "")
    assert page.count("exchanges with the model, redacted") == 1
    assert "the recording that was played is not found from here" in page
    assert "plain\ufffd[31mred" in page
    assert "look at them before you pass it on" in page


def test_in_a_replay_no_model_was_asked_and_its_tokens_are_the_recorded_ones(harness: Harness, run: Path) -> None:
    told = " ".join(harness("show", "run/2")[1].split())
    assert "no model was asked: the recorded replies were played" in told
    assert "replayed turn-1/main, attempt 1: completed, 0.50 s, recorded tokens: 1,234 in, 1 out" in told
    assert "model call" not in told
    assert "1 control-plane call, " in told
    assert "model call turn-1/main, attempt 1:" in harness("show", "run/3")[1]
    assert "no model was asked: a script was played" in harness("show", "run/1")[1]


def test_a_recording_says_how_its_episode_ended_where_a_run_knows(harness: Harness, run: Path) -> None:
    kept = recording_path(run / "recordings", SCENARIO, actor("openai/m"))
    assert "when it was recorded the episode failed (leapt)" in harness("show", str(kept))[1]
    assert json.loads(harness("show", str(kept), "--format", "json")[1])["verdict"] == "fail"
    other = harness("show", str(Path("recordings") / SCENARIO / "rec.jsonl"))[1]
    assert "whether the episode passed when it was recorded is not known here" in " ".join(other.split())
    assert f"harness run {SCENARIO} --actor recorded:rec judges it" in " ".join(other.split())
