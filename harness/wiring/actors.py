"""Actors by the texts that name them, and the live objects behind them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import cache

from harness import catalog, config, scenario
from harness.clock import SystemClock
from harness.errors import CatalogError, MissingKeyError, UsageError
from harness.ports import Actor, Hearing, Provider, Transport
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import JsonValue, digest_json
from harness.schema.fault import ActorFault
from harness.schema.message import GenerationSettings
from harness.schema.scenario import LoadedScenario
from harness.schema.script import Action, Script, ScriptSet
from harness.wiring.network import Line, http_transport, require_network
from harness.wiring.places import Settings
from harness.wiring.recordings import recorded_specs

__all__ = ["Transports", "actor_specs", "covered_by", "live_spec", "open_actor", "secret_guard", "with_faults"]

#: The codec whose wire form scripted answers go through.
SCRIPT_CODEC = "openai"
REFERENCE = "reference"
#: How actors are written, besides the names of ``harness.toml``.
_WRITTEN = ("script", "script:NAME", "script:FILE.json", "recorded", "recorded:ID", "PROVIDER/MODEL")


def actor_specs(place: Settings, text: str, loaded: LoadedScenario, sets: Sequence[str]) -> tuple[ActorSpec, ...]:
    """The actors that a text names, for one scenario.

    ``script`` its reference; ``script:NAME`` one of its scripts; ``script:FILE.json`` every script of a file;
    ``recorded`` all of its recordings, ``recorded:NAME`` those of an id, a short name or a file;
    ``PROVIDER/MODEL[@BASE_URL]`` or a NAME of ``harness.toml`` a live model, ``sets`` over its settings. Raises
    CatalogError, UsageError, ScriptError, ConfigError.
    """
    head, colon, rest = text.partition(":")
    if head == "recorded":
        if sets:
            raise UsageError(f"--set changes how a live model is asked; {text!r} is recorded as it was asked")
        return recorded_specs(place, loaded, rest if colon else None)
    if head == "script":
        if sets:
            raise UsageError(f"--set changes how a live model is asked; {text!r} is a script")
        return _scripted(place, rest if colon else REFERENCE, loaded)
    return (live_spec(place, text, sets),)


def _scripted(place: Settings, name: str, loaded: LoadedScenario) -> tuple[ActorSpec, ...]:
    if name.endswith(".json"):
        file = scenario.load_scripts(place.cwd / name)
        return tuple(_script_spec(one, script.actions) for one, script in file.scripts.items())
    known = _named(loaded.scenario.script)
    if name not in known:
        raise CatalogError(f"script of {loaded.scenario.id}", name, tuple(known))
    return (_script_spec(name, known[name]),)


def _named(scripts: ScriptSet) -> dict[str, Script]:
    return {REFERENCE: scripts.reference, **scripts.right, **scripts.wrong}


def _script_spec(name: str, script: Script) -> ActorSpec:
    actions: list[JsonValue] = [
        action.model_dump(mode="json") if isinstance(action, Action) else action for action in script
    ]
    identity = ActorIdentity(ref=f"script:{name}", kind="script", digest=digest_json([name, actions]))
    return ActorSpec(identity=identity, script=script)


def live_spec(place: Settings, text: str, sets: Sequence[str]) -> ActorSpec:
    """The live actor that ``PROVIDER/MODEL[@BASE_URL]`` or a NAME of ``harness.toml`` means.

    ``sets`` are ``NAME=VALUE`` texts over its settings. Raises CatalogError, UsageError, ConfigError.
    """
    named = None
    if "/" not in text:
        known = config.load_actors(place.config)
        named = known.get(text)
        if named is None:
            raise CatalogError("actor", text, (*_WRITTEN, *known))
        provider, model, base_url = named.provider, named.model, named.base_url
    else:
        ref = config.parse_live_ref(text)
        provider, model, base_url = ref.provider, ref.model, ref.base_url
    preset = config.resolve(provider)
    address = config.address_for(preset, base_url)
    settings = config.apply_settings(named.settings if named else GenerationSettings(), sets)
    config.check_settings(preset, settings)
    identity = ActorIdentity(
        ref=text if named else f"{provider}/{model}",
        kind="live",
        provider=provider,
        model=model,
        settings=settings,
        digest=digest_json(covered_by(provider, model, address, settings)),
    )
    key_env = (named.key_env if named else None) or preset.key_env
    required = preset.key_required or (named is not None and named.key_env is not None)
    price = (named.price if named else None) or config.table_price(model, address, SystemClock().now())
    return ActorSpec(identity=identity, base_url=address, key_env=key_env, key_required=required, price=price)


def covered_by(provider: str, model: str, address: str, settings: GenerationSettings) -> dict[str, JsonValue]:
    """What the digest of a live actor is over."""
    told: JsonValue = settings.model_dump(mode="json")
    return {"provider": provider, "model": model, "address": address, "settings": told}


def _key(place: Settings, spec: ActorSpec) -> str | None:
    """The key's value; only ever handed to the object that hides it."""
    variable = spec.key_env or ""
    value = place.environ.get(variable, "").strip()
    if value:
        return value
    if spec.key_required:
        raise MissingKeyError(spec.identity.ref, variable)
    return None


class Transports:
    """One HTTP transport a thread and provider: a pool shared by many waiting requests collapses. For any thread.

    A call that was given up keeps its transport until it ends; its thread gets another one then.
    """

    def __init__(self, place: Settings) -> None:
        self._place = place
        self._local = threading.local()
        self._lock = threading.Lock()
        self._all: list[Transport] = []

    def mine(self, provider: str | None) -> Transport:
        """The calling thread's own, opened on first use with the time-outs of a provider.

        Raises EnvironmentProblem where none can be made, ConfigError for what ``harness.toml`` says.
        """
        mine: dict[str | None, Line] = self._local.__dict__.setdefault("transports", {})
        kept = mine.get(provider)
        if kept is None or kept.is_busy:
            with self._lock:
                if not self._all:  # what the environment says is the same for all of them
                    require_network(self._place)
            kept = mine[provider] = http_transport(self._place, provider)
            with self._lock:
                self._all.append(kept)
        return kept

    def close(self) -> None:
        """Close all of them; idempotent."""
        with self._lock:
            gone, self._all = self._all, []
        for transport in gone:
            transport.close()


@cache
def _script_codec() -> Provider:
    """One for all episodes, which remembers what bytes of a script come to."""
    codec: Provider = catalog.module("providers", SCRIPT_CODEC).build()
    return codec


def open_actor(
    place: Settings,
    spec: ActorSpec,
    transports: Transports,
    transport: Transport | None = None,
    hearing: Hearing | None = None,
) -> Actor:
    """The live object for one episode, over ``transport`` where one is given; ``hearing`` is told how its calls end.

    Raises MissingKeyError.
    """
    if spec.script is not None:
        scripted: Actor = catalog.module("actors", "scripted").build(spec, _script_codec())
        return scripted
    preset = config.resolve(spec.identity.provider or "")
    codec = catalog.module("providers", preset.codec)
    wire: Provider = codec.build(preset)
    secret = None if spec.identity.kind == "recorded" else _key(place, spec)
    key = None if secret is None else catalog.shared("actors", "key").SecretKey(secret, spec.key_env or "")
    send = (transport or transports.mine(spec.identity.provider)).send
    meter = None if spec.price is None else SystemClock().monotonic
    live: Actor = catalog.module("actors", "live").build(spec, wire, send, key, hearing, meter=meter)
    return live


def with_faults(actor: Actor, faults: Sequence[ActorFault]) -> tuple[Actor, threading.Event]:
    """The actor, going wrong where a scenario says so, and the event by which one of its faults asks to stop."""
    asked = threading.Event()
    if not faults:
        return actor, asked
    faulty: Actor = catalog.shared("actors", "faulty").FaultyActor(actor, faults, pause=_pause, cancel=asked.set)
    return faulty, asked


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def secret_guard(place: Settings, specs: Iterable[ActorSpec]) -> SecretGuard:
    """Guards every key that these actors may use."""
    names = {spec.key_env for spec in specs if spec.key_env is not None}
    return SecretGuard(place.environ[name] for name in names if place.environ.get(name))
