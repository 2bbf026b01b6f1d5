"""Which actors a text names, and what is part of their identity."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest

from harness import wiring
from harness.actors.live import LiveActor
from harness.errors import (
    CatalogError,
    ConfigError,
    EnvironmentProblem,
    HarnessError,
    MissingKeyError,
    ProviderError,
    ScriptError,
    UsageError,
)
from harness.schema.price import Price
from harness.schema.scenario import LoadedScenario
from harness.wiring.actors import Transports, open_actor
from harness.wiring.places import Settings

PRICE = Price(input=Decimal(2), output=Decimal(10), source="test")
KEY = "sk-made-up-key-0001"


@pytest.fixture
def place(tmp_path: Path) -> Settings:
    """A folder of its own with two keys."""
    return wiring.settings({"OPENAI_API_KEY": KEY, "MY_KEY": "another-made-up-key"}, tmp_path)


@pytest.fixture
def loaded(place: Settings) -> LoadedScenario:
    """A bundled scenario."""
    return wiring.load_scenario(place, "loopx/selected-todo")


def refs(place: Settings, text: str, loaded: LoadedScenario) -> list[str]:
    return [spec.identity.ref for spec in wiring.actor_specs(place, text, loaded, ())]


def test_a_script_is_the_reference_or_one_by_name(place: Settings, loaded: LoadedScenario) -> None:
    assert refs(place, "script", loaded) == ["script:reference"]
    assert refs(place, "script:careful", loaded) == ["script:careful"]
    assert refs(place, "script:unexpected_command", loaded) == ["script:unexpected_command"]


def test_an_unknown_script_lists_what_there_is(place: Settings, loaded: LoadedScenario) -> None:
    with pytest.raises(CatalogError, match="there are: reference, "):
        refs(place, "script:nothing", loaded)


def test_a_file_gives_one_actor_a_script(place: Settings, loaded: LoadedScenario) -> None:
    actions = [{"command": "ls"}, {"content": "Done."}]
    file = place.cwd / "own.json"
    file.write_text(json.dumps({"scripts": {"b": {"actions": actions}, "a": {"actions": actions}}}), encoding="utf-8")
    assert refs(place, "script:own.json", loaded) == ["script:b", "script:a"]
    assert refs(place, f"script:{file}", loaded) == ["script:b", "script:a"]
    digests = {spec.identity.digest for spec in wiring.actor_specs(place, "script:own.json", loaded, ())}
    assert len(digests) == 2


def test_a_file_that_is_not_there_is_one_line(place: Settings, loaded: LoadedScenario) -> None:
    with pytest.raises(ScriptError, match=r"nowhere\.json"):
        refs(place, "script:nowhere.json", loaded)


def test_generation_settings_are_part_of_a_live_actors_identity(place: Settings, loaded: LoadedScenario) -> None:
    (plain,) = wiring.actor_specs(place, "openai/toy", loaded, ())
    (warm,) = wiring.actor_specs(place, "openai/toy", loaded, ("temperature=1",))
    (elsewhere,) = wiring.actor_specs(place, "openai-compatible/toy@http://127.0.0.1:9/v1", loaded, ())
    assert plain.identity.kind == "live"
    assert plain.key_env == "OPENAI_API_KEY"
    assert len({spec.identity.digest for spec in (plain, warm, elsewhere)}) == 3
    assert elsewhere.identity.ref == "openai-compatible/toy"


def test_settings_of_a_script_are_refused(place: Settings, loaded: LoadedScenario) -> None:
    with pytest.raises(UsageError, match="is a script"):
        wiring.actor_specs(place, "script", loaded, ("temperature=1",))


def test_a_name_of_the_configuration_brings_its_settings(place: Settings, loaded: LoadedScenario) -> None:
    (place.cwd / "harness.toml").write_text(
        '[actors.candidate]\nprovider = "openai"\nmodel = "toy"\nkey_env = "MY_KEY"\ntemperature = 0.5\n',
        encoding="utf-8",
    )
    (spec,) = wiring.actor_specs(place, "candidate", loaded, ("seed=7",))
    settings = spec.identity.settings
    assert settings is not None
    assert (spec.identity.ref, spec.key_env) == ("candidate", "MY_KEY")
    assert (settings.temperature, settings.seed) == (0.5, 7)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("nobody", CatalogError),
        ("nowhere/toy", CatalogError),
        ("openai/", UsageError),
        ("openai-compatible/toy", UsageError),
        ("openai/toy@ftp://x", UsageError),
    ],
)
def test_an_actor_that_cannot_be_is_one_line(
    place: Settings, loaded: LoadedScenario, text: str, error: type[HarnessError]
) -> None:
    with pytest.raises(error) as caught:
        refs(place, text, loaded)
    assert "\n" not in str(caught.value)


def test_a_broken_configuration_is_named_with_its_file(place: Settings, loaded: LoadedScenario) -> None:
    (place.cwd / "harness.toml").write_text("[actors.x]\nprovider = 3\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"harness\.toml"):
        refs(place, "x", loaded)


def test_a_missing_key_is_named_by_its_variable(tmp_path: Path) -> None:
    place = wiring.settings({"OPENAI_API_KEY": "  "}, tmp_path)
    loaded = wiring.load_scenario(place, "loopx/selected-todo")
    (spec,) = wiring.actor_specs(place, "openai/toy", loaded, ())
    with pytest.raises(MissingKeyError, match="set the environment variable OPENAI_API_KEY"):
        open_actor(place, spec, Transports(place))


def test_a_key_that_is_not_required_may_be_missing(tmp_path: Path) -> None:
    place = wiring.settings({}, tmp_path)
    loaded = wiring.load_scenario(place, "loopx/selected-todo")
    (spec,) = wiring.actor_specs(place, "openai-compatible/toy@http://127.0.0.1:9/v1", loaded, ())
    transports = Transports(place)
    assert open_actor(place, spec, transports).identity == spec.identity
    transports.close()


def test_streams_are_metered_where_the_price_is_known(tmp_path: Path) -> None:
    place = wiring.settings({}, tmp_path)
    loaded = wiring.load_scenario(place, "loopx/selected-todo")
    (spec,) = wiring.actor_specs(place, "openai-compatible/toy@http://127.0.0.1:9/v1", loaded, ())
    transports = Transports(place)
    free = open_actor(place, spec, transports)
    paid = open_actor(place, spec.model_copy(update={"price": PRICE}), transports)
    transports.close()
    assert isinstance(free, LiveActor)
    assert isinstance(paid, LiveActor)
    assert free.meter is None
    assert paid.meter is not None


def test_each_thread_has_a_transport_of_its_own(place: Settings) -> None:
    transports = Transports(place)
    mine = transports.mine("openai")
    others: list[object] = []
    thread = threading.Thread(target=lambda: others.append(transports.mine("openai")))
    thread.start()
    thread.join()
    assert transports.mine("openai") is mine
    assert others[0] is not mine
    transports.close()
    transports.close()


def test_a_call_that_was_given_up_keeps_its_transport_and_blocks_nobody(place: Settings) -> None:
    transports, busy, free = Transports(place), threading.Event(), threading.Event()
    mine = transports.mine("openai")

    def cancelled() -> bool:
        busy.set()
        return free.is_set()

    def hangs() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent, suppress(ProviderError):
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
            mine.send(url, headers={}, body=b"", deadline_s=30.0, cancelled=cancelled)

    thread = threading.Thread(target=hangs)
    thread.start()
    busy.wait()
    other = transports.mine("openai")
    assert other is not mine
    assert transports.mine("openai") is other
    free.set()
    thread.join()
    transports.close()


def test_the_guard_knows_every_key_that_an_actor_may_use(place: Settings, loaded: LoadedScenario) -> None:
    specs = wiring.actor_specs(place, "openai/toy", loaded, ())
    guard = wiring.secret_guard(place, specs)
    assert repr(guard) == "SecretGuard(1 secrets)"
    with pytest.raises(HarnessError) as caught:
        guard.check(f"a text with {KEY}".encode())
    assert KEY not in str(caught.value)


def test_a_key_that_the_configuration_names_is_needed(tmp_path: Path) -> None:
    place = wiring.settings({}, tmp_path)
    (tmp_path / "harness.toml").write_text(
        '[actors.mine]\nprovider = "openai-compatible"\nmodel = "m"\n'
        'base_url = "http://127.0.0.1:9/v1"\nkey_env = "MINE"\n',
        encoding="utf-8",
    )
    loaded = wiring.load_scenario(place, "loopx/selected-todo")
    (spec,) = wiring.actor_specs(place, "mine", loaded, ())
    with pytest.raises(MissingKeyError, match="set the environment variable MINE"):
        open_actor(place, spec, Transports(place))


def test_a_live_actor_is_not_opened_where_no_request_can_be_made(tmp_path: Path) -> None:
    place = wiring.settings({"HTTPS_PROXY": "socks5://canary:1"}, tmp_path)
    loaded = wiring.load_scenario(place, "loopx/selected-todo")
    (spec,) = wiring.actor_specs(place, "openai-compatible/toy@http://127.0.0.1:9/v1", loaded, ())
    with pytest.raises(EnvironmentProblem, match="variable HTTPS_PROXY names no proxy") as caught:
        open_actor(place, spec, Transports(place))
    assert "canary" not in str(caught.value)
