"""The same models over every dialect that is spoken, whole and streamed: the same verdicts, whatever the wire does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import CommandLine
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from machine import PATIENCE_S

from harness import catalog, wiring
from harness.ports import Provider
from harness.receipt import canonical
from harness.rehearsal import Rehearsal, bundled
from harness.schema.base import JsonValue
from harness.schema.fault import ActorFault
from harness.schema.receipt import Receipt
from harness.schema.rehearsal import FaultKind, FaultSpec
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.schema.scenario import LoadedScenario, Scenario

CODECS: dict[str, Provider] = {
    codec.name: codec for codec in (catalog.module("providers", name).build() for name in catalog.names("providers"))
}
MODELS = ("good", "hasty", "wanderer")
PACK = (
    "registry/answers-after-last-tool-call",
    "registry/finalizes-without-false-claims",
    "registry/recovers-from-stale-version",
    "registry/reports-blocked-honestly",
)
LOOPX = ("loopx/capability-repair", "loopx/selected-todo")
KEYS = {"OPENAI_API_KEY": "sk-canary", "ANTHROPIC_API_KEY": "sk-canary", "GEMINI_API_KEY": "sk-canary"}
WIRES = [(name, stream) for name in CODECS for stream in (False, True)]
Play = Callable[[str, str, bool, str, LoadedScenario], EpisodeResult]


def place_in(home: Path) -> wiring.Settings:
    """Keys that are nobody's, and planes from ``home``."""
    return wiring.settings({"HARNESS_HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", **KEYS})


@pytest.fixture
def place(tmp_path: Path) -> wiring.Settings:
    return place_in(tmp_path / "no planes")


@pytest.fixture
def play(place: wiring.Settings) -> Iterator[Play]:
    with wiring.Session(place) as session:
        yield player(place, session)


def player(place: wiring.Settings, session: wiring.Session) -> Play:
    """Plays one episode of a model over a wire."""

    def one(url: str, provider: str, stream: bool, model: str, loaded: LoadedScenario) -> EpisodeResult:
        sets = ["stream=true"] if stream else []
        spec = wiring.actor_specs(place, f"{provider}/{model}@{url}", loaded, sets)[0]
        plane = wiring.plane_identity(place, loaded.scenario.plane)
        return session.run(EpisodeJob(loaded=loaded, actor=spec, plane=plane))

    return one


def facts(receipt: Receipt) -> JsonValue:
    """A receipt without who acted, and where it was asked."""
    told: dict[str, JsonValue] = json.loads(canonical(receipt))
    del told["actor"], told["definition_digest"]
    return told


def alike(place: wiring.Settings, play: Play, names: tuple[str, ...]) -> None:
    """Every model in every scenario gives the same receipt over every wire, and each call is made once."""
    scenarios = [wiring.load_scenario(place, name) for name in names]
    with Rehearsal([one.scenario for one in scenarios], bundled(), 0, *CODECS.values()).serve() as serving:
        told: dict[tuple[str, str, str, bool], JsonValue] = {}
        for one in scenarios:
            for model in MODELS:
                for provider, stream in WIRES:
                    before = serving.counts
                    receipt = play(serving.urls[provider], provider, stream, model, one).receipt
                    told[one.scenario.id, model, provider, stream] = facts(receipt)
                    assert receipt.verdict == ("pass" if model == "good" else "fail"), receipt
                    assert set((serving.counts - before).values()) == {1}
    for (scenario, model, _, _), fact in told.items():
        assert fact == told[scenario, model, "openai", False]
    streams = {(call.dialect, call.streamed) for call in serving.calls}
    assert streams == set(WIRES)


@pytest.mark.slow
def test_the_pack_of_the_registry_is_judged_alike_over_every_wire(place: wiring.Settings, play: Play) -> None:
    alike(place, play, PACK)


@pytest.mark.slow
@pytest.mark.plane
def test_the_pack_of_loopx_is_judged_alike_over_every_wire(plane_home: Path) -> None:
    place = place_in(plane_home)
    with wiring.Session(place) as session:
        alike(place, player(place, session), LOOPX)


def with_fault(scenarios: list[Scenario], fault: FaultSpec, seed: int = 0) -> Rehearsal:
    """The bundled models, each meeting a fault."""
    file = bundled()
    models = {name: model.model_copy(update={"fault": (fault,)}) for name, model in file.model.items()}
    return Rehearsal(scenarios, file.model_copy(update={"model": models}), seed, *CODECS.values())


@settings(max_examples=6, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(), wire=st.sampled_from(WIRES), name=st.sampled_from(PACK))
def test_however_an_answer_is_cut_into_pieces_the_receipt_is_the_same(
    place: wiring.Settings, play: Play, seed: int, wire: tuple[str, bool], name: str
) -> None:
    loaded = wiring.load_scenario(place, name)
    provider, stream = wire
    cut = with_fault([loaded.scenario], FaultSpec(kind="chunks", rate=1), seed)
    whole = Rehearsal([loaded.scenario], bundled(), seed, *CODECS.values())
    receipts = []
    for one in (cut, whole):
        with one.serve() as serving:
            receipts.append(facts(play(serving.urls[provider], provider, stream, "good", loaded).receipt))
    assert receipts[0] == receipts[1]


@pytest.mark.parametrize("provider", CODECS)
def test_a_fault_of_the_scenario_streams_one_answer_once_and_the_verdict_stays(
    place: wiring.Settings, play: Play, provider: str
) -> None:
    plain = wiring.load_scenario(place, PACK[0])
    scenario = plain.scenario.model_copy(update={"fault": (ActorFault(kind="stream", at=2),)})
    loaded = plain.model_copy(update={"scenario": scenario})
    with Rehearsal([scenario], bundled(), 0, *CODECS.values()).serve() as serving:
        url = serving.urls[provider]
        receipts = [facts(play(url, provider, False, "good", one).receipt) for one in (plain, loaded)]
    assert receipts[0] == receipts[1]
    turns = [(call.visit.turn, call.streamed) for call in serving.calls]
    half = len(turns) // 2
    assert turns == [(turn, False) for turn in range(1, half + 1)] + [(turn, turn == 2) for turn in range(1, half + 1)]


#: Fault -> how an episode ends that meets it in its second turn: with whole answers, and with streams.
CUT_OFF = "suspended/reconciliation_required"
ENDS = {
    "reset": (CUT_OFF, CUT_OFF),
    "close": (CUT_OFF, CUT_OFF),
    "unfinished": ("failed/model_error", CUT_OFF),
    "html": ("failed/model_error", "failed/model_error"),
    "truncate": ("failed/model_output_truncated", "failed/model_output_truncated"),
    "no_usage": ("completed/final_response", "completed/final_response"),
    "error_event": ("completed/final_response", CUT_OFF),
    "error_body": ("completed/final_response", "completed/final_response"),
}
#: Faults after which a model is asked again, which takes a second or two.
ASKED_AGAIN = {("error_event", False), ("error_body", False), ("error_body", True)}


@pytest.mark.parametrize(
    ("kind", "stream"),
    [
        pytest.param(kind, stream, marks=[pytest.mark.slow] if (kind, stream) in ASKED_AGAIN else [])
        for kind in ENDS
        for stream in (False, True)
    ],
)
def test_a_bad_network_ends_an_episode_alike_whatever_is_spoken(
    place: wiring.Settings, play: Play, kind: FaultKind, stream: bool
) -> None:
    loaded = wiring.load_scenario(place, PACK[0])
    with with_fault([loaded.scenario], FaultSpec(kind=kind, at_turn=2)).serve() as serving:
        results = [play(url, name, stream, "good", loaded) for name, url in serving.urls.items()]
        assert {call.fault for call in serving.calls if call.visit.turn == 2 and not call.visit.again} == {kind}
        # a part of an answer that has come is paid for: nobody asks for it again unasked
        assert any(call.visit.again for call in serving.calls) is ((kind, stream) in ASKED_AGAIN)
    assert [result.receipt.outcome.name for result in results] == [ENDS[kind][stream]] * len(CODECS)


def test_each_dialect_is_run_from_the_command_line_against_one_server(tmp_path: Path) -> None:
    bare = CommandLine(tmp_path / "no planes", tmp_path, environ=KEYS)
    log = tmp_path / "calls.jsonl"
    served = bare.start("wire", "rehearse", PACK[0], "--fault", "chunks=1", "--log", str(log))
    try:
        assert served.stdout is not None
        urls = json.loads(served.stdout.readline())["urls"]
        actors = [word for name, url in urls.items() for word in ("--actor", f"{name}/good@{url}")]
        done = bare.run("run", PACK[0], *actors, "--set", "stream=true", "--yes-spend", "--format", "jsonl")
    finally:
        served.terminate()
        said = served.communicate(timeout=PATIENCE_S)
    assert (done.returncode, done.stderr, said) == (0, b"", (b"", b""))
    assert [json.loads(line)["verdict"] for line in done.stdout.splitlines()] == ["pass"] * len(CODECS)
    text = log.read_text("utf-8")
    assert {(row["dialect"], row["streamed"]) for row in map(json.loads, text.splitlines())} == {
        (name, True) for name in CODECS
    }
    assert "canary" not in text
