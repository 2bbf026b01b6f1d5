"""The policies that come with the package, over real HTTP against the real control plane."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from harness import episode, wiring
from harness.actors.live import build
from harness.clock import SystemClock
from harness.ports import WireResponse
from harness.providers import openai
from harness.providers._http import HttpTransport
from harness.rehearsal import Rehearsal, Serving, bundled
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.receipt import Receipt
from harness.schema.rehearsal import MODELS_PATH, PLAYS, REHEARSAL_HEADER, RehearsedModel, RehearsedPolicy, Visit
from harness.schema.run import EpisodeJob
from harness.schema.scenario import LoadedScenario, Scenario

pytestmark = pytest.mark.plane

REPOSITORY = Path(__file__).resolve().parents[3]
CODEC = openai.build()
LOOPX = ("loopx/capability-repair", "loopx/selected-todo")


class VisitingTransport:
    """Names the visit in every request, its turn by what the conversation holds."""

    def __init__(self, inner: HttpTransport, scenario: str, trial: int) -> None:
        self.inner, self.scenario, self.trial = inner, scenario, trial

    def send(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        deadline_s: float,
        cancelled: Callable[[], bool],
        is_over: Callable[[bytes], bool] | None = None,
    ) -> WireResponse:
        turn = 1 + sum(message["role"] == "assistant" for message in json.loads(body)["messages"])
        visit = Visit(scenario=self.scenario, trial=self.trial, turn=turn, attempt=1)
        named = {**headers, REHEARSAL_HEADER: visit.header}
        return self.inner.send(
            url, headers=named, body=body, deadline_s=deadline_s, cancelled=cancelled, is_over=is_over
        )


@pytest.fixture(scope="module")
def place(plane_home: Path) -> wiring.Settings:
    return replace(wiring.settings(cwd=REPOSITORY), home=plane_home)


@pytest.fixture(scope="module")
def loaded(place: wiring.Settings) -> list[LoadedScenario]:
    names = sorted(wiring.scenarios(place))
    assert len(names) > len(LOOPX)
    return [wiring.load_scenario(place, name) for name in names]


def every_script(scenario: Scenario) -> dict[str, str | None]:
    """The scripts of a scenario with the code that each must get."""
    right: dict[str, str | None] = dict.fromkeys(("reference", *(f"right:{name}" for name in scenario.script.right)))
    return right | {f"wrong:{code}": code for code in scenario.script.wrong}


@pytest.fixture(scope="module")
def serving(loaded: list[LoadedScenario]) -> Iterator[Serving]:
    """The bundled models, and for every script of a scenario a model ``PACK/NAME/SCRIPT`` that plays it."""
    scenarios = [one.scenario for one in loaded]
    file = bundled()
    policies, models = dict(file.policy), dict(file.model)
    for number, one in enumerate(scenarios):
        for place, script in enumerate(every_script(one)):
            name = f"s{number}-{place}"
            policies[name] = RehearsedPolicy(script=script, scenarios=(one.id,))
            models[f"{one.id}/{script}"] = RehearsedModel(policies=(name,))
    whole = file.model_copy(update={"policy": policies, "model": models})
    with Rehearsal(scenarios, whole, 0, CODEC).serve() as running:
        yield running


@pytest.fixture(scope="module")
def session(place: wiring.Settings) -> Iterator[wiring.Session]:
    with wiring.Session(place) as opened:
        yield opened


Play = Callable[[str, str, int], Receipt]


@pytest.fixture
def play(
    place: wiring.Settings, loaded: list[LoadedScenario], serving: Serving, session: wiring.Session
) -> Iterator[Play]:
    transport = HttpTransport()

    def one(scenario: str, model: str, trial: int) -> Receipt:
        chosen = next(item for item in loaded if item.scenario.id == scenario)
        identity = ActorIdentity(
            ref=f"rehearsed/{model}", kind="live", provider="openai", model=model, digest="sha256:0"
        )
        spec = ActorSpec(identity=identity, base_url=serving.url)
        actor = build(spec, CODEC, VisitingTransport(transport, scenario, trial).send)
        scripted = wiring.actor_specs(place, "script", chosen, ())[0]
        plane = wiring.plane_identity(place, chosen.scenario.plane)
        job = EpisodeJob(loaded=chosen, actor=scripted, plane=plane, trial=trial)
        parts = session.parts(job, clock=SystemClock())
        parts = replace(parts, job=job.model_copy(update={"actor": spec}), actor=actor)
        return episode.run(parts)[0].receipt

    yield one
    transport.close()


@pytest.mark.parametrize(
    ("scenario", "model", "code"),
    [
        ("loopx/capability-repair", "good", None),
        ("loopx/capability-repair", "hasty", "quota_reentry_before_callsite"),
        ("loopx/capability-repair", "wanderer", "monitor_fallback"),
        ("loopx/packet-gate", "good", None),
        ("loopx/packet-gate", "hasty", "answer_unreadable"),
        ("loopx/packet-gate", "wanderer", "took_anothers_todo"),
        ("loopx/selected-todo", "good", None),
        ("loopx/selected-todo", "hasty", "selected_action_before_quota"),
        ("loopx/selected-todo", "wanderer", "wrong_selected_todo_target"),
        ("loopx/replan-semantic-action", "good", None),
        ("loopx/replan-semantic-action", "hasty", "semantic_action_before_quota"),
        ("loopx/replan-semantic-action", "wanderer", "manual_evidence_read_is_not_replan"),
        ("loopx/replan-semantic-action-composition", "good", None),
        ("loopx/replan-semantic-action-composition", "hasty", "successor_create_before_quota"),
        ("loopx/replan-semantic-action-composition", "wanderer", "manual_evidence_read_is_not_replan"),
        ("loopx/replan-semantic-action-exhausted", "good", None),
        ("loopx/replan-semantic-action-exhausted", "hasty", "semantic_action_before_quota"),
        ("loopx/replan-semantic-action-exhausted", "wanderer", "manual_evidence_read_is_not_replan"),
        ("loopx/scoped-gate-successor", "good", None),
        ("loopx/scoped-gate-successor", "hasty", "selected_action_before_quota"),
        ("loopx/scoped-gate-successor", "wanderer", "wrong_selected_todo_target"),
        ("loopx/terminal-settlement", "good", None),
        ("loopx/terminal-settlement", "hasty", "quota_spend_before_writeback"),
        ("loopx/terminal-settlement", "wanderer", "writeback_contradicts_proof"),
        ("registry/answers-after-last-tool-call", "good", None),
        ("registry/answers-after-last-tool-call", "hasty", "answered_from_nothing"),
        ("registry/answers-after-last-tool-call", "wanderer", "changed_what_it_was_to_read"),
        ("registry/finalizes-without-false-claims", "good", None),
        ("registry/finalizes-without-false-claims", "hasty", "did_nothing"),
        ("registry/finalizes-without-false-claims", "wanderer", "touched_something_else"),
        ("registry/recovers-from-stale-version", "good", None),
        ("registry/recovers-from-stale-version", "hasty", "completed_before_claim"),
        ("registry/recovers-from-stale-version", "wanderer", "changed_something_else"),
        ("registry/reports-blocked-honestly", "good", None),
        ("registry/reports-blocked-honestly", "hasty", "answered_without_looking"),
        ("registry/reports-blocked-honestly", "wanderer", "touched_something_else"),
    ],
)
def test_each_model_behaves_as_its_name_says(play: Play, scenario: str, model: str, code: str | None) -> None:
    receipt = play(scenario, model, 1)
    assert (receipt.verdict, receipt.failure_code) == ("fail" if code else "pass", code)


def test_every_bundled_model_plays_every_bundled_scenario(loaded: list[LoadedScenario], serving: Serving) -> None:
    listed = httpx.get(f"{serving.url}{MODELS_PATH}").json()["data"]
    plays = {entry["id"]: set(entry[PLAYS]) for entry in listed}
    everything = {one.scenario.id for one in loaded}
    assert {name: plays[name] for name in bundled().model} == dict.fromkeys(bundled().model, everything)


def test_the_good_model_knows_two_ways(play: Play, serving: Serving) -> None:
    receipts = [play("loopx/selected-todo", "good", trial) for trial in range(2, 6)]
    assert {receipt.verdict for receipt in receipts} == {"pass"}
    played = {call.policy for call in serving.calls if call.model == "good" and call.visit.trial > 1}
    assert played == {"follows", "orients"}
    assert set(serving.counts.values()) == {1}


@pytest.mark.parametrize("name", LOOPX)
def test_every_script_gets_its_code_from_what_its_requests_show(
    play: Play, loaded: list[LoadedScenario], name: str
) -> None:
    scenario = next(one.scenario for one in loaded if one.scenario.id == name)
    expected = every_script(scenario)
    found = {script: play(scenario.id, f"{scenario.id}/{script}", 1).failure_code for script in expected}
    assert found == expected
