from __future__ import annotations

from pathlib import Path

import pytest
import recorded as rec

from harness import wiring
from harness.recording import dump
from harness.schema.actor import ActorIdentity
from harness.schema.base import digest_json
from harness.schema.message import GenerationSettings
from harness.wiring.actors import covered_by

SETTINGS = GenerationSettings(temperature=0.5, tool_choice="auto")
NAMED = '[actors.candidate]\nprovider = "openai"\nmodel = "gpt-x"\nkey_env = "OWN_KEY"\n'


@pytest.fixture
def place(tmp_path: Path) -> wiring.Settings:
    return wiring.settings({"OWN_KEY": "own-canary-0123456789", "PATH": ""}, tmp_path)


def kept(place: wiring.Settings, actor: ActorIdentity, folder: str = "recordings", **more: object) -> Path:
    path = place.cwd / folder / "demo/first/some.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump(rec.header().model_copy(update={"actor": actor, **more}), (), ()))
    return path


def actor(address: str, ref: str = "openai/gpt-x", settings: GenerationSettings = SETTINGS) -> ActorIdentity:
    return ActorIdentity(
        ref=ref,
        kind="live",
        provider="openai",
        model="gpt-x",
        settings=settings,
        digest=digest_json(covered_by("openai", "gpt-x", address, settings)),
    )


def test_the_providers_own_address_needs_no_words_and_settings_are_given(place: wiring.Settings) -> None:
    spec = wiring.rerecord_spec(place, kept(place, actor("https://api.openai.com/v1"), provenance="live"))
    assert spec is not None
    assert (spec.actor, spec.sets, spec.simulated, spec.into) == (
        "openai/gpt-x",
        ("temperature=0.5", "tool_choice=auto"),
        False,
        None,
    )


def test_another_address_is_left_to_be_filled_in(place: wiring.Settings) -> None:
    spec = wiring.rerecord_spec(place, kept(place, actor("http://127.0.0.1:1/v1")))
    assert spec is not None
    assert (spec.actor, spec.simulated) == ("openai/gpt-x@BASE_URL", True)


def test_an_actor_of_the_configuration_is_named(place: wiring.Settings) -> None:
    (place.cwd / "harness.toml").write_text(NAMED, "utf-8")
    named = actor("http://127.0.0.1:1/v1", "candidate", GenerationSettings())
    spec = wiring.rerecord_spec(place, kept(place, named))
    assert spec is not None
    assert (spec.actor, spec.sets) == ("candidate", ())
    spec = wiring.rerecord_spec(place, kept(place, actor("http://127.0.0.1:1/v1", "candidate")))
    assert spec is not None
    assert (spec.actor, spec.sets) == ("candidate", ("temperature=0.5", "tool_choice=auto"))


def test_another_folder_is_named_and_one_elsewhere_is_not(place: wiring.Settings, tmp_path: Path) -> None:
    spec = wiring.rerecord_spec(place, kept(place, actor("x"), "run/recordings"))
    assert spec is not None
    assert spec.into == "run/recordings"
    inner = tmp_path / "inner"
    inner.mkdir()
    spec = wiring.rerecord_spec(wiring.settings({"PATH": ""}, inner), kept(place, actor("x"), "elsewhere"))
    assert spec is not None
    assert spec.into == "FOLDER"


def test_what_cannot_be_read_has_no_command(place: wiring.Settings) -> None:
    assert wiring.rerecord_spec(place, place.cwd / "recordings/demo/first/none.jsonl") is None
    strange = ActorIdentity(ref="x", kind="live", provider="gone", model="m", digest="sha256:0")
    assert wiring.rerecord_spec(place, kept(place, strange)) is None


def test_every_key_that_is_known_here_is_taken_out(place: wiring.Settings) -> None:
    (place.cwd / "harness.toml").write_text(NAMED, "utf-8")
    assert wiring.known_scrubber(place).text("an own-canary-0123456789 here") == "an [mask] here"
