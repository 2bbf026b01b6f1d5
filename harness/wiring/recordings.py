"""Recordings where they lie, and the live objects that make and replay them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from harness import catalog, config, recording
from harness.documents import make_folder
from harness.episode import judged_by
from harness.errors import CatalogError, ProviderError, StoreError
from harness.ports import Provider, Transport, WireResponse
from harness.receipt import read_manifest
from harness.recording import Comparer, Dress, Half, Keeper, Leftover, RecordingWriter
from harness.recording.transport import RecordingTransport, ReplayTransport, Streams
from harness.redaction import Scrubber, SecretGuard
from harness.rules import sayable
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import Digest, digest_json
from harness.schema.message import GenerationSettings, ModelRequest
from harness.schema.receipt import Receipt
from harness.schema.recording import Provenance, Recording, RecordingHeader
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.schema.scenario import LoadedScenario
from harness.schema.verdict import Verdict
from harness.wiring.network import certificates, http_transport
from harness.wiring.places import Settings, imported_recording, recorded_file
from harness.workspace import Placeholders, Workspace

__all__ = [
    "Keeping",
    "Masks",
    "interrupted",
    "judged_by",
    "keep",
    "keeping",
    "place_in_run",
    "place_of",
    "recorded_choice",
    "recorded_paths",
    "recorded_specs",
    "recording_folders",
    "replay",
    "replayed_digest",
    "sayable_in",
    "settled",
]

_NOT_KEPT = "its recording is not kept: a part of what was said before it was interrupted is not in it"
#: Requests of a replay go nowhere; the name is reserved for that (RFC 2606).
NOWHERE = "http://recording.invalid"


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where live episodes are recorded, and which of the recordings stay.

    ``failed``: of episodes that did not pass; ``judged``: of those that were judged; ``all``; ``none``.
    ``in_versions`` names control planes whose versions must be told apart.
    """

    folder: Path
    guard: SecretGuard
    secrets: Mapping[str, str] = field(repr=False)
    stay: Literal["failed", "judged", "all", "none"] = "failed"
    replace: bool = False
    provenance: Provenance | None = None
    mode: int = 0o755
    in_versions: frozenset[str] = frozenset()

    def stays(self, verdict: Verdict) -> bool:
        """Whether the recording of an episode with that verdict is kept."""
        if self.stay == "judged":
            return verdict in {"pass", "fail"}
        return self.stay == "all" or (self.stay == "failed" and verdict != "pass")


class Masks:
    """This run's paths behind placeholders, known once the workspace stands."""

    def __init__(self) -> None:
        self._placeholders: Placeholders | None = None

    def bind(self, workspace: Workspace) -> None:
        """Know the workspace."""
        self._placeholders = Placeholders(workspace)

    def hide(self, text: str) -> str:
        """Paths to placeholders."""
        return text if self._placeholders is None else self._placeholders.hide(text)

    def show(self, text: str) -> str:
        """Placeholders to paths."""
        return text if self._placeholders is None else self._placeholders.show(text)


def keeping(
    place: Settings,
    specs: Iterable[ActorSpec],
    folder: Path,
    stay: Literal["failed", "judged", "all", "none"],
    *,
    replace: bool = False,
    provenance: Provenance | None = None,
    mode: int = 0o755,
    in_versions: frozenset[str] = frozenset(),
) -> Keeping:
    """How live episodes of these actors are recorded: without any key that they may use.

    ``mode`` is that of ``folder`` where it is made. Without a ``provenance`` a recording is live unless who answered
    said that it is a simulation.
    """
    names = {spec.key_env for spec in specs if spec.key_env is not None}
    secrets = {name: place.environ[name] for name in sorted(names) if place.environ.get(name, "").strip()}
    return Keeping(
        *(folder, SecretGuard(secrets.values()), secrets, stay),
        replace=replace,
        provenance=provenance,
        mode=mode,
        in_versions=in_versions,
    )


def recording_folders(place: Settings) -> tuple[Path, ...]:
    """Where recordings are looked for: beside each folder of scenarios, in its order."""
    return tuple(dict.fromkeys(folder.parent / "recordings" for folder in place.search))


def recorded_specs(place: Settings, loaded: LoadedScenario, name: str | None) -> tuple[ActorSpec, ...]:
    """The recorded actors of a scenario: all of its recordings, or those that ``name`` means.

    Raises RecordingError for a file that is no whole recording, and what ``recorded_choice`` raises.
    """
    return tuple(_spec(path) for path in recorded_choice(place, loaded, name))


def recorded_choice(place: Settings, loaded: LoadedScenario, name: str | None) -> tuple[Path, ...]:
    """The recordings of a scenario that ``name`` means: the path of a file, an id, or a short name; all for None.

    Recordings lie in ``./recordings``, else beside the folder of scenarios that this one is from. Raises CatalogError
    where there is no such recording, UsageError where several actors are called so.
    """
    there = recorded_paths(place, loaded)
    if name is None:
        return there
    file = recorded_file(place, name)
    if file is not None:
        return (file,)
    path = place.cwd / name
    is_file = bool(name) and path.is_file()
    meant = recording.chosen(there, name)
    if meant or is_file:
        return meant or (path,)
    raise CatalogError(f"recording of {loaded.scenario.id}", name, tuple(one.stem for one in there))


def recorded_paths(place: Settings, loaded: LoadedScenario) -> tuple[Path, ...]:
    """The recordings of a scenario, by name; whether they can be read is not looked at. Raises StoreError."""
    found = (recording.find(folder, loaded.scenario.id) for folder in _beside(place, loaded))
    return next((some for some in found if some), ())


def interrupted(place: Settings, loaded: LoadedScenario) -> tuple[Half, ...]:
    """What interrupted recordings left of a scenario, where its recordings lie. Raises StoreError."""
    folders = (folder / loaded.scenario.id for folder in _beside(place, loaded))
    return tuple(half for folder in folders for half in recording.halves_below(folder))


def _beside(place: Settings, loaded: LoadedScenario) -> tuple[Path, ...]:
    return tuple(dict.fromkeys((place.cwd / "recordings", Path(loaded.path).resolve().parents[2] / "recordings")))


def replayed_digest(header: RecordingHeader) -> Digest:
    """The actor's digest in receipts of a replay: another one than that of the live episode it was recorded from."""
    return digest_json(["recorded", header.actor.digest])


def _spec(path: Path) -> ActorSpec:
    header = recording.load(path).header
    if header.provenance == "imported":
        raise imported_recording(path)
    identity = ActorIdentity(
        ref=f"recorded:{path.stem}",
        kind="recorded",
        provider=header.actor.provider,
        model=header.actor.model,
        settings=header.actor.settings,
        digest=replayed_digest(header),
    )
    return ActorSpec(identity=identity, recording=str(path), trial=header.trial, provenance=header.provenance)


def sayable_in(loaded: LoadedScenario) -> frozenset[str]:
    """The texts of a scenario that may be shown when a recording is told about."""
    return sayable(loaded.scenario)


def replay(job: EpisodeJob, masks: Masks) -> tuple[Transport, Comparer, str]:
    """Transport, witness and base URL under which a recorded episode is replayed. Raises RecordingError."""
    kept = recording.load(Path(job.actor.recording or ""))
    words = sayable_in(job.loaded)
    dress = Dress(hide=masks.hide, show=masks.show, volatile=recording.volatile_of(kept, job))
    answering = ReplayTransport(kept, dress, sayable=words)
    transport: Transport = catalog.shared("providers", "http").HttpTransport(transport=answering)
    comparer = Comparer(kept, job, answering.replayer, sayable=words, classifier_version=judged_by(job.loaded))
    return transport, comparer, NOWHERE + _base(kept)


def _base(kept: Recording) -> str:
    """The path before the dialect's own in the recorded requests."""
    preset = config.resolve(kept.header.actor.provider or "")
    codec: Provider = catalog.module("providers", preset.codec).build(preset)
    actor = kept.header.actor
    asked = ModelRequest(
        model=actor.model or "", messages=(), tools=(), settings=actor.settings or GenerationSettings()
    )
    own = codec.path(asked).partition("?")[0]  # recordings keep no query
    first = kept.exchanges[0].request.path if kept.exchanges else own
    return first.removesuffix(own)


def place_of(job: EpisodeJob, keeping: Keeping) -> Path:
    """Where the recording of a live episode is kept."""
    version = job.plane.version if job.plane.name in keeping.in_versions else ""
    whose = (job.loaded.scenario.id, job.actor.identity, job.trial, job.attempt)
    return recording.recording_path(keeping.folder, *whose, version=version)


def place_in_run(run: Path, receipt: Receipt, in_versions: frozenset[str] | None = None) -> Path:
    """Where the run in a folder keeps the recording of a live episode of its own.

    ``in_versions`` is that of its manifest, which is read where it is None. Raises StoreError.
    """
    several = read_manifest(run).in_versions if in_versions is None else in_versions
    version = receipt.plane.version if receipt.plane.name in several else ""
    whose = (receipt.scenario, receipt.actor, receipt.trial, receipt.attempt)
    return recording.recording_path(run / "recordings", *whose, version=version)


def keep(
    place: Settings, job: EpisodeJob, keeping: Keeping, masks: Masks, *, may_go_on: bool = False
) -> tuple[Transport, Keeper]:
    """Transport and witness under which a live episode is recorded.

    Where it ``may_go_on`` with an interrupted one, so does its recording.
    """
    scenario = job.loaded.scenario
    path = place_of(job, keeping)

    def writer(header: RecordingHeader) -> RecordingWriter:
        try:
            make_folder(keeping.folder.parent)
            make_folder(path.parent, keeping.mode)
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {error.strerror or type(error).__name__}") from error
        return RecordingWriter(path, header, keeping.guard, replace=keeping.replace)

    scrubber = Scrubber(keeping.secrets)
    keeper = Keeper(
        job,
        writer,
        scrubber=scrubber,
        provenance=keeping.provenance,
        classifier_version=judged_by(job.loaded),
        before=partial(Leftover, path) if may_go_on else None,
    )
    dress = Dress(
        hide=masks.hide,
        show=masks.show,
        scrubber=scrubber,
        volatile=scenario.call.volatile if scenario.call else (),
    )
    http = catalog.shared("providers", "http")
    preset = config.resolve(job.actor.identity.provider or "")
    codec: Provider = catalog.module("providers", preset.codec).build(preset)
    streams = Streams(codec.coalesce, partial(_is_answer, codec))
    looking_on = RecordingTransport(
        http.network(certificates(place)), keeper.exchanged, dress, on_headers=keeper.met, streams=streams
    )
    return http_transport(place, job.actor.identity.provider, through=looking_on), keeper


def _is_answer(codec: Provider, body: bytes) -> bool:
    """Whether a stream that broke off is an answer all the same, or tells of a failure: then it is used as that."""
    try:
        codec.decode_stream(WireResponse(200, {}, body, "connection_lost"))
    except ProviderError as error:
        return error.category != "connection_lost"
    return True


def settled(keeper: Keeper, keeping: Keeping, result: EpisodeResult) -> EpisodeResult:
    """The result, once its recording is kept, dropped, or left to whoever goes on with the episode.

    Where one that should be kept is not, the run log says so. Raises StoreError.
    """
    log = result.log
    if log.resumable:
        keeper.abandon()
        return result
    went_on = "replayed_operations" in log.recovery
    if keeper.settle(keep=keeping.stays(result.receipt.verdict), went_on=went_on, attempts=log.attempts):
        return result
    return result.model_copy(update={"log": log.model_copy(update={"remarks": (*log.remarks, _NOT_KEPT)})})
