"""Keys that are ordinary words: what is written anyway could not be told from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable

from harness.errors import RedactionError, UsageError
from harness.redaction import SecretGuard
from harness.scenario import substitute
from harness.schema.base import JsonValue
from harness.schema.run import EpisodeJob
from harness.wiring.places import Settings

__all__ = ["refuse_ordinary_keys"]


def refuse_ordinary_keys(place: Settings, jobs: Sequence[EpisodeJob]) -> None:
    """Refuse to begin with a key that occurs in the words of receipts, manifests and reports.

    Such a key would be found, and the file refused, in the middle of what is paid for. Shorter ones are not looked
    for (see ``SecretGuard``). Raises UsageError naming the variable.
    """
    names = sorted({job.actor.key_env for job in jobs if job.actor.key_env is not None})
    guards = {name: SecretGuard([place.environ[name]]) for name in names if place.environ.get(name, "").strip()}
    if not guards:
        return
    words = b"\n".join((*_own_words(files("harness")), *_words_of(jobs)))
    for name, guard in guards.items():
        try:
            guard.check(words)
        except RedactionError:
            raise UsageError(
                f"the key in {name} is an ordinary text that harness writes itself, so it could not be kept out of "
                f"files; set a real key, or unset {name} where the server takes none"
            ) from None


def _own_words(folder: Traversable) -> list[bytes]:
    """The sources of this package: every word that it writes stands in them."""
    found: list[bytes] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _own_words(entry)
        elif not entry.name.endswith(".pyc"):
            found.append(entry.read_bytes())
    return found


def _words_of(jobs: Sequence[EpisodeJob]) -> list[bytes]:
    """What manifests and receipts hold of scenarios and actors; what else a scenario says is cut where it is kept."""
    loaded = {job.loaded.digest: job.loaded.scenario for job in jobs}
    actors = {job.actor.identity.digest: job.actor.identity for job in jobs}
    planes = {job.plane.ref: job.plane for job in jobs}
    texts: list[JsonValue] = [one.model_dump(mode="json") for one in (*actors.values(), *planes.values())]
    for one in loaded.values():
        texts += [one.id, one.asks, one.plane, *one.tags, *one.codes, *one.tool]
        texts += [name for kind in one.kind for name in (kind.name, *kind.facts)]
        places = [*one.boundary.plane_writes, *one.boundary.tool_writes, *one.workspace.roots]
        texts += [*places, *(substitute(substitute(place, one.values.get), one.values.get) for place in places)]
        checks = (*one.check, *one.after, *one.end.check, *one.classify)
        texts += [check.model_dump(mode="json") for check in checks]
    return [json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass") for text in texts]
