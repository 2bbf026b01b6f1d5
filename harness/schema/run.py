"""A run: jobs, results, the run log, and the manifest of its folder."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Annotated, Literal

from harness.schema.actor import ActorIdentity, ActorSpec, Provenance
from harness.schema.base import OF_ITS_TYPE, Digest, Frozen, Numerous, Plain, plain
from harness.schema.confinement import Confinement, Hold, SandboxLevel
from harness.schema.decision import DecisionTold
from harness.schema.early import EarlyStop
from harness.schema.graph import RuleGraph
from harness.schema.message import Usage
from harness.schema.name import ScenarioId
from harness.schema.observation import Channel, ChannelName
from harness.schema.price import Price
from harness.schema.process import PlaneIdentity
from harness.schema.quarantine import QuarantineEntry, entry_for
from harness.schema.receipt import Receipt, receipt_key
from harness.schema.recording import RerecordSpec
from harness.schema.scenario import LoadedScenario
from harness.schema.spending import Beyond
from harness.schema.transcript import Transcript
from harness.schema.trend import Trend

__all__ = [
    "DECIDED",
    "ActorPrice",
    "AttemptRow",
    "Enforcement",
    "EpisodeJob",
    "EpisodeOptions",
    "EpisodeResult",
    "LateRow",
    "Manifest",
    "OutputRow",
    "PlannedEpisode",
    "ReceiptLink",
    "RecoveryClass",
    "RunLogEntry",
    "RunView",
    "ScenarioSummary",
    "Shard",
]

#: What can be done with an episode: nothing more, answer it, go on with it, begin it again, find out what was done.
RecoveryClass = Literal["complete", "suspended", "resume_eligible", "restart_required", "reconciliation_required"]

#: The error of an attempt that somebody said had failed, for nobody knew.
DECIDED = "decided"


class EpisodeOptions(Frozen):
    """How, not what: nothing here may change the receipt of an episode that nobody disturbed.

    ``cut_off_calls`` says what becomes of a live model call that its driver was killed in, and that may have been
    paid for: it is made once more and flagged, or the episode waits for a decision. ``repeat_idempotent``: a call of
    the control plane that its driver was killed in, and that may have changed something outside the workspace, is made
    again where the control plane declares that with the same key it has one effect. ``sandbox``: whether what is run
    is confined to its workspace, as far as the machine can; with ``require`` nothing is played where it cannot.
    ``plane_time`` (ISO 8601) is a seam of the tests: the time inside the control plane's processes.
    """

    executor: Literal["warm", "cold"] = "warm"
    sandbox: Literal["auto", "require", "off"] = "auto"
    shadow_every: int = 0
    keep_workspace: bool = False
    cut_off_calls: Literal["repeat", "stop"] = "repeat"
    repeat_idempotent: bool = False
    plane_time: str | None = None


class EpisodeJob(Numerous):
    """One scenario, one actor, one trial, one attempt; picklable.

    ``pays_again``: an earlier attempt was paid for, and what it brought cannot be read any more.
    """

    loaded: LoadedScenario
    actor: ActorSpec
    plane: PlaneIdentity
    trial: int = 1
    attempt: int = 1
    options: EpisodeOptions = EpisodeOptions()
    pays_again: bool = False

    @property
    def key(self) -> str:
        """The key of the receipt that it leaves."""
        scenario = self.loaded.scenario.id
        return receipt_key(
            scenario, self.loaded.digest, self.actor.identity, self.plane, trial=self.trial, attempt=self.attempt
        )


@plain
class AttemptRow(Plain):
    """One dispatched model attempt; missing usage is unknown, never zero. ``seconds`` is wall-clock time.

    ``cost_micro_usd`` is what its tokens cost, in millionths of a US dollar; None is unknown. ``inconsistent``: its
    parts are more than their whole, so nothing can be made of them.
    """

    operation: str
    attempt: int
    status: Literal["completed", "failed", "unknown", "not_sent"]
    usage: Usage | None
    seconds: float
    model: str | None = None
    fingerprint: str | None = None
    error: str | None = None
    http_status: int | None = None
    cost_micro_usd: Decimal | None = None
    inconsistent: bool = False


class LateRow(Frozen):
    """Usage of a call that nobody waited for any more, told after its episode was: one line of ``late.jsonl``.

    ``key`` is that of the receipt; operation and attempt name the row of the run log that it fills. What it cost and
    whether it is ``inconsistent`` is told as there.
    """

    key: str
    operation: str
    attempt: int
    usage: Usage
    cost_micro_usd: Decimal | None = None
    inconsistent: bool = False


class OutputRow(Frozen):
    """A final text that is too large to be told inline, with placeholders for the paths of the workspace.

    Its UTF-8 length and its digest; ``kept`` is its place below the run's folder, None where it was not kept.
    """

    bytes: int
    sha256: Digest
    kept: str | None = None


class RunLogEntry(Numerous):
    """What may differ between two identical runs; joined to a receipt by its key. Times are UTC ISO 8601, seconds.

    ``problem`` is one clear line about an episode that was not judged, made of our own words only.
    ``dropped_observers`` tells of observers of the journal that raised: they saw only a part of the episode.
    ``again`` says how to record anew what was replayed and no longer fits. ``recovery`` says what a driver did that
    went on with a killed one's episode, or with a failed call: ``replayed_operations`` (it took over what was done),
    ``duplicate_risk`` (a call was made again that may have been paid for), ``late_usage`` (the usage of one came after
    it was given up), ``repeated_idempotent`` (a call of the control plane was made again with its key),
    ``set_aside`` (what is kept of it on disk could not be gone on with, and it was played anew).
    ``remarks`` are lines about what went wrong beside the episode and changed nothing in it. A ``resumable`` one
    was cancelled, or waits for a person, and is kept on disk as it was. ``output`` tells of a final text that is an
    artifact. ``channels`` are what went through each bounded channel: ``stdout`` and ``stderr`` of what was run,
    ``result`` and ``error`` as they were shown, ``context`` as requests were sent. ``spilled`` results were kept
    whole beside it. ``recovery_class`` says what can be done with the episode now, by its journal; None where that
    was not read. ``at_least``: its journal is damaged, and ``attempts`` are those that can still be told of; there may
    have been more. ``active_s`` is the time at work where the scenario bounds it; ``unavailable`` are limited
    counts that could not be known, with the cause (``total_tokens:usage_missing``). ``plane_calls`` counts calls of the
    control plane, ``shadow_checks`` and ``shadow_differences`` the warm calls repeated cold.
    """

    key: str
    started_at: str
    seconds: float
    executor: Literal["warm", "cold"]
    attempts: tuple[AttemptRow, ...] = ()
    plane_calls: int = 0
    plane_seconds: float = 0.0
    shadow_checks: int = 0
    shadow_differences: int = 0
    problem: str | None = None
    again: RerecordSpec | None = None
    workspace: str | None = None
    dropped_observers: tuple[str, ...] = ()
    recovery: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    channels: dict[ChannelName, Channel] = {}
    spilled: int = 0
    resumable: bool = False
    recovery_class: RecoveryClass | None = None
    at_least: bool = False
    active_s: float | None = None
    unavailable: tuple[str, ...] = ()
    output: OutputRow | None = None


class EpisodeResult(Frozen):
    """What one episode leaves behind; picklable."""

    receipt: Receipt
    log: RunLogEntry


class ActorPrice(Frozen):
    """What was known of a live actor's price when the run began; None: nothing."""

    actor: str
    price: Price | None


class PlannedEpisode(Numerous):
    """A place in the plan; ``provenance`` is that of the recording that is played there."""

    scenario: ScenarioId
    actor: str
    plane: str
    trial: int
    provenance: Provenance | None = None


class ReceiptLink(Numerous):
    """A receipt in plan order. ``chain`` is the digest of the previous chain value and this digest."""

    key: str
    digest: Digest
    chain: Digest


class ScenarioSummary(Frozen):
    """What a report tells of a scenario; ``parts`` are short digests by dotted key.

    ``plane`` is the version of its control plane that it names itself; empty where that was not noted. ``file`` is
    where it lay below the working folder; empty for one that lay elsewhere, as those do that come with harness.
    """

    id: ScenarioId
    digest: Digest
    asks: str
    tags: tuple[str, ...]
    graph: RuleGraph
    parts: dict[str, str] = {}
    plane: str = ""
    file: str = ""


class Enforcement(Frozen):
    """How the boundary was held in this run.

    ``sandbox`` sums up ``held``: what a process that tried to was measured not to be able to do, before the run and on
    each machine that played a part of it. ``means`` are those that kept it from that. In the scenarios of
    ``fixed_clocks`` the control plane's processes saw the scenario's time, in all others the machine's.
    """

    executor: Literal["warm", "cold"]
    sandbox: SandboxLevel = "none"
    held: tuple[Hold, ...] = ()
    means: tuple[str, ...] = ()
    workspace_mode: str = "0700"
    plane_environment: tuple[str, ...] = ()
    fixed_clocks: tuple[ScenarioId, ...] = ()

    @property
    def confinement(self) -> Confinement:
        """How far what was run was confined."""
        return Confinement(held=self.held, means=self.means)

    def confined(self, found: Confinement) -> Enforcement:
        """The same with another confinement."""
        return self.model_copy(update={"sandbox": found.level, "held": found.held, "means": found.means})


class Shard(Frozen):
    """Which part of a plan a run plays: the one of ``number``, from 1, of ``count``.

    ``plan`` is the whole plan, ``digest`` is over the keys of its episodes: shards of one digest belong together.
    """

    number: int
    count: int
    plan: tuple[PlannedEpisode, ...]
    digest: Digest


class Manifest(Frozen):
    """``manifest.json`` of a run folder. Times are UTC ISO 8601. ``state`` is complete only when the plan is done.

    ``stale`` is what the run was told that a recording which no longer fits means. ``plan`` is what this run plays:
    of a ``shard`` its own part. ``merged`` names the runs whose receipts were put together here. ``prices`` are
    those of its live actors, ``max_cost_usd`` bounds what all of them cost. ``early`` tells what looks in between
    came to, ``stopped`` why places of the plan were not played. What an entry of ``quarantine`` covers is not held
    against the run. Of one that ended ``log`` is the digest of ``run.jsonl``, ``seal`` that of the manifest with an
    empty seal.
    """

    schema_version: Annotated[Literal[1], OF_ITS_TYPE] = 1
    run_id: str
    harness_version: str
    python: str
    platform: str
    created_at: str
    finished_at: str | None
    state: Literal["running", "complete", "interrupted"]
    scenarios: tuple[ScenarioSummary, ...]
    actors: tuple[ActorIdentity, ...]
    planes: tuple[PlaneIdentity, ...]
    enforcement: Enforcement
    plan: tuple[PlannedEpisode, ...]
    receipts: tuple[ReceiptLink, ...]
    verdicts: dict[str, int]
    stale: Literal["fail", "warn"] = "fail"
    shard: Shard | None = None
    merged: tuple[str, ...] = ()
    prices: tuple[ActorPrice, ...] = ()
    max_cost_usd: Decimal | None = None
    stopped: tuple[str, ...] = ()
    early: EarlyStop | None = None
    quarantine: tuple[QuarantineEntry, ...] = ()
    log: Digest | None = None
    seal: Digest | None = None

    def needs(self, place: PlannedEpisode) -> bool:
        """Whether a place of the plan is to be played: not where who is better was known before."""
        return self.early is None or self.early.needs(place.actor, place.trial)

    @property
    def in_versions(self) -> frozenset[str]:
        """Names of the control planes that the whole plan plays in more than one version."""
        plan = self.plan if self.shard is None else self.shard.plan
        names = Counter(ref.partition("==")[0] for ref in {place.plane for place in plan})
        return frozenset(name for name, count in names.items() if count > 1)

    @property
    def set_aside(self) -> dict[tuple[ScenarioId, str], QuarantineEntry]:
        """What of the plan is not held against the run, by scenario and actor, with the entry that says so."""
        places = dict.fromkeys((place.scenario, place.actor) for place in self.plan) if self.quarantine else {}
        found = {place: entry_for(self.quarantine, *place) for place in places}
        return {place: entry for place, entry in found.items() if entry is not None}


class RunView(Frozen):
    """A whole run as reports read it; ``transcripts`` are what was recorded in it, by its place, from 1.

    ``beyond`` are model calls that were paid for, or may have been, and of which the log tells nothing; ``remarks`` are
    lines about what was left out of it, for it could not be read. ``killed``: it did not end, and nobody plays it now.
    ``trends`` are of its actors over the runs before it and itself, where those are known, ``decisions`` of a policy.
    """

    manifest: Manifest
    receipts: tuple[Receipt, ...]
    log: tuple[RunLogEntry, ...]
    transcripts: dict[int, Transcript] = {}
    beyond: Beyond = Beyond()
    remarks: tuple[str, ...] = ()
    killed: bool = False
    trends: tuple[Trend, ...] = ()
    decisions: tuple[DecisionTold, ...] = ()
