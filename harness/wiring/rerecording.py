"""What to do about a recording that no longer fits, and the words of what changed."""

from __future__ import annotations

import json
from pathlib import Path

from harness import config, recording
from harness.errors import InputError
from harness.redaction import Scrubber
from harness.schema.base import JsonValue, digest_json
from harness.schema.message import GenerationSettings
from harness.schema.recording import RecordingHeader, RerecordSpec
from harness.wiring.actors import covered_by
from harness.wiring.known_keys import known_keys
from harness.wiring.places import Settings

__all__ = ["known_scrubber", "rerecord_spec"]

#: Stands for the address of a server, which no recording holds.
_ADDRESS = "@BASE_URL"
_RECORDINGS = "recordings"


def rerecord_spec(place: Settings, path: Path) -> RerecordSpec | None:
    """What ``harness record`` must be told to make the recording at ``path`` anew; None where it cannot be read.

    An actor of ``harness.toml`` is named; of any other the address is left to be filled in where it was not the
    provider's own, for a recording does not hold it.
    """
    try:
        header = recording.header_of(path)
        actor, sets = _actor(place, header)
    except InputError:
        return None
    folder = path.resolve().parents[2]
    usual = folder == (place.cwd / _RECORDINGS).resolve()
    near = folder.relative_to(place.cwd.resolve()) if folder.is_relative_to(place.cwd.resolve()) else None
    return RerecordSpec(
        scenario=header.scenario,
        actor=actor,
        sets=sets,
        simulated=header.provenance == "simulated",
        into=None if usual else "FOLDER" if near is None else str(near),
    )


def known_scrubber(place: Settings) -> Scrubber:
    """Takes out every key that any provider, or actor of ``harness.toml``, would be given here. Raises ConfigError."""
    return Scrubber(known_keys(place))


def _actor(place: Settings, header: RecordingHeader) -> tuple[str, tuple[str, ...]]:
    identity = header.actor
    provider, model = identity.provider or "", identity.model or ""
    settings = identity.settings or GenerationSettings()
    named = config.load_actors(place.config).get(identity.ref)
    if named is not None and (named.provider, named.model) == (provider, model):
        return identity.ref, () if named.settings == settings else _sets(settings)
    own = config.resolve(provider).base_url
    at_own = own is not None and digest_json(covered_by(provider, model, own, settings)) == identity.digest
    return f"{provider}/{model}{'' if at_own else _ADDRESS}", _sets(settings)


def _sets(settings: GenerationSettings) -> tuple[str, ...]:
    given: dict[str, JsonValue] = settings.model_dump(mode="json", exclude_none=True)
    return tuple(f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in given.items())
