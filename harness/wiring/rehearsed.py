"""What a rehearsal server cannot play, asked for before anything is begun with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from harness import catalog, config
from harness.errors import ConfigError, ProviderError
from harness.schema.base import JsonValue
from harness.schema.rehearsal import MODELS_PATH, MODELS_PATHS, PLAYS, SIMULATED_HEADER
from harness.schema.run import EpisodeJob
from harness.wiring.network import require_network
from harness.wiring.places import Settings

__all__ = ["refuse_unplayed"]

#: A server that takes longer to list its models is no rehearsal, or one whose answers will tell.
_DEADLINE_S: Final = 2.0


def refuse_unplayed(place: Settings, jobs: Sequence[EpisodeJob]) -> None:
    """Refuse to begin where a rehearsal server lists no such model, or no script of it for a scenario.

    Only addresses of this machine are asked, once each, without a key; a server that does not answer as a rehearsal is
    left to its calls. Raises ConfigError naming model and scenario.
    """
    listed: dict[str, dict[str, tuple[str, ...]] | None] = {}
    for job in jobs:
        actor, url = job.actor, job.actor.base_url
        if actor.identity.kind != "live" or url is None or not config.is_loopback(url):
            continue
        at = url.rstrip("/") + _models_path(actor.identity.provider)
        if at not in listed:
            listed[at] = _listed(place, at)
        plays = listed[at]
        if plays is not None:
            _held_against(plays, actor.identity.model or "", job.loaded.scenario.id)


def _held_against(plays: dict[str, tuple[str, ...]], model: str, scenario: str) -> None:
    if model not in plays:
        raise ConfigError(f"the rehearsal server has no model {model!r}; there are: {', '.join(plays)}")
    if scenario not in plays[model]:
        known = ", ".join(plays[model]) or "none of those that it serves"
        raise ConfigError(
            f"the rehearsal server's model {model!r} has no script for scenario {scenario}; it plays: {known}; choose "
            "of these, or serve it with a policy for that scenario: harness wire rehearse --policies FILE"
        )


def _models_path(provider: str | None) -> str:
    """Where a client of that provider asks which models there are, below its base URL."""
    return MODELS_PATHS.get(config.resolve(provider or "").codec, MODELS_PATH)


def _listed(place: Settings, url: str) -> dict[str, tuple[str, ...]] | None:
    """The scenarios of each model; None where no rehearsal answers."""
    require_network(place)
    transport = catalog.shared("providers", "http").HttpTransport()
    try:
        response = transport.fetch(url, deadline_s=_DEADLINE_S)
    except ProviderError:
        return None
    finally:
        transport.close()
    if SIMULATED_HEADER not in response.headers:
        return None
    try:
        body: JsonValue = json.loads(response.body)
    except (ValueError, RecursionError):
        return None
    entries = body.get("data", body.get("models")) if isinstance(body, dict) else None
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries if isinstance(entries, list) else []:
        told = entry if isinstance(entry, dict) else {}
        name, scenarios = told.get("id", told.get("name")), told.get(PLAYS)
        if isinstance(name, str) and isinstance(scenarios, list):
            found[name.removeprefix("models/")] = tuple(map(str, scenarios))
    return found or None
