"""A run against a rehearsal server that cannot play it is refused before any call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chat_server import serving
from rehearsing import CODECS, policy_file, rehearsal, scenario

from harness import wiring
from harness.errors import ConfigError
from harness.ports import WireResponse
from harness.providers._http import HttpTransport
from harness.providers.openai import build
from harness.rehearsal import Rehearsal
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.process import PlaneIdentity
from harness.schema.rehearsal import SIMULATED_HEADER
from harness.schema.run import EpisodeJob
from harness.schema.scenario import LoadedScenario
from harness.wiring import rehearsed
from harness.wiring.rehearsed import refuse_unplayed

PLANE = PlaneIdentity(name="toy", version="1", wheel_sha256="0")
FIRST, SECOND = "toy/ask-then-read", "toy/second"


@pytest.fixture
def place(tmp_path: Path) -> wiring.Settings:
    return wiring.settings({"HARNESS_HOME": str(tmp_path)}, tmp_path)


def job(
    url: str | None,
    model: str = "m",
    name: str = FIRST,
    kind: str = "live",
    provider: str = "openai-compatible",
) -> EpisodeJob:
    one = scenario(id=name)
    identity = ActorIdentity.model_validate(
        {
            "ref": f"{provider}/{model}",
            "kind": kind,
            "provider": provider,
            "model": model,
            "digest": "x",
        }
    )
    loaded = LoadedScenario(scenario=one, digest=f"sha256:{name}", path="x.toml")
    return EpisodeJob(loaded=loaded, actor=ActorSpec(identity=identity, base_url=url), plane=PLANE)


def test_a_model_without_a_script_for_a_scenario_is_refused_with_both_names(place: wiring.Settings) -> None:
    file = policy_file({"m": {"script": "reference", "scenarios": [FIRST]}, "n": {"script": "reference"}})
    both = [scenario(id=FIRST), scenario(id=SECOND)]
    with Rehearsal(both, file, 0, build()).serve() as served:
        refuse_unplayed(place, [job(served.url), job(served.url, "n", SECOND)])
        with pytest.raises(ConfigError) as caught:
            refuse_unplayed(place, [job(served.url), job(served.url, name=SECOND)])
        assert served.calls == ()
    assert str(caught.value) == (
        f"the rehearsal server's model 'm' has no script for scenario {SECOND}; it plays: {FIRST}; choose of these, or "
        "serve it with a policy for that scenario: harness wire rehearse --policies FILE"
    )


@pytest.mark.parametrize("provider", CODECS)
def test_a_model_that_is_not_served_is_refused_with_those_that_are(place: wiring.Settings, provider: str) -> None:
    with rehearsal().serve() as served:
        url = served.urls[provider]
        refuse_unplayed(place, [job(url, provider=provider)])
        with pytest.raises(ConfigError, match="no model 'nobody'; there are: m, all"):
            refuse_unplayed(place, [job(url, "nobody", provider=provider)])


def test_a_server_that_is_no_rehearsal_is_left_to_its_calls(place: wiring.Settings) -> None:
    with serving(lambda _: (500, b"")) as server:
        refuse_unplayed(place, [job(server.url), job(server.url.replace("127.0.0.1", "localhost"))])
        assert server.bodies == []
    refuse_unplayed(place, [job(server.url)])


def test_nobody_but_loopback_is_asked_and_once_only(place: wiring.Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def listed(_: wiring.Settings, url: str) -> dict[str, tuple[str, ...]] | None:
        asked.append(url)
        return None

    monkeypatch.setattr(rehearsed, "_listed", listed)
    here = "http://127.0.0.1:1/v1"
    refuse_unplayed(
        place, [job("https://example.com/v1"), job(None), job(here, kind="script"), job(here), job(here, "other")]
    )
    assert asked == [f"{here}/models"]


@pytest.mark.parametrize(
    "body",
    [b"nothing", b"[]", b"{}", b'{"data": 1}', json.dumps({"data": [1, {"id": "m"}]}).encode(), b'{"models": {}}'],
)
def test_a_list_of_another_form_refuses_nobody_for_its_scenario(
    place: wiring.Settings, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    def answered(*_: object, **__: object) -> WireResponse:
        return WireResponse(200, {SIMULATED_HEADER: "rehearsal"}, body)

    monkeypatch.setattr(HttpTransport, "fetch", answered)
    refuse_unplayed(place, [job("http://127.0.0.1:1/v1")])
