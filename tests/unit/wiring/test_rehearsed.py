"""What a rehearsal server cannot play is refused before anything is begun with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from chat_server import serving, text
from planned import loaded_of
from rehearsing import rehearsal

from harness import wiring
from harness.errors import ConfigError
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.process import PlaneIdentity
from harness.schema.run import EpisodeJob
from harness.wiring.rehearsed import refuse_unplayed


@pytest.fixture
def place(tmp_path: Path) -> wiring.Settings:
    return wiring.settings({"PATH": "/usr/bin:/bin"}, tmp_path)


def job(url: str, model: str, scenario: str) -> EpisodeJob:
    identity = ActorIdentity(ref=f"openai-compatible/{model}", kind="live", model=model, digest="sha256:a")
    return EpisodeJob(
        loaded=loaded_of(scenario),
        actor=ActorSpec(identity=identity, base_url=url),
        plane=PlaneIdentity(name="plane", version="1", wheel_sha256="ab"),
        trial=1,
    )


def test_what_a_rehearsal_plays_is_begun_and_costs_no_call(place: wiring.Settings) -> None:
    with rehearsal().serve() as server:
        refuse_unplayed(place, [job(server.url, "m", "toy/ask-then-read")] * 2)
        assert server.calls == ()


def test_a_scenario_without_a_script_is_refused_with_both_names(place: wiring.Settings) -> None:
    with rehearsal().serve() as server, pytest.raises(ConfigError) as refused:
        refuse_unplayed(place, [job(server.url, "m", "toy/ask-then-read"), job(server.url, "m", "pack/other")])
    assert str(refused.value) == (
        "the rehearsal server's model 'm' has no script for scenario pack/other; it plays: toy/ask-then-read; choose "
        "of these, or serve it with a policy for that scenario: harness wire rehearse --policies FILE"
    )


def test_a_model_that_is_not_there_is_refused(place: wiring.Settings) -> None:
    with rehearsal().serve() as server, pytest.raises(ConfigError, match="has no model 'n'; there are: m, all"):
        refuse_unplayed(place, [job(server.url, "n", "toy/ask-then-read")])


def test_a_server_that_is_no_rehearsal_is_left_to_its_calls(place: wiring.Settings) -> None:
    with serving(lambda _: text("hello")) as server:
        refuse_unplayed(place, [job(server.url, "any", "pack/other")])


@pytest.mark.parametrize("address", ["https://api.example/v1", "http://127.0.0.1:9/v1"])
def test_nobody_else_is_asked_and_nobody_at_home_is_no_answer(place: wiring.Settings, address: str) -> None:
    refuse_unplayed(place, [job(address, "any", "pack/other")])
