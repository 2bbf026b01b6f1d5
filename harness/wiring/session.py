"""Episodes one after another or side by side, over executors that stay open between them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from shutil import which
from types import TracebackType
from typing import Protocol, Self

from harness import catalog, episode
from harness.clock import SystemClock
from harness.episode import DurablePlace, EpisodeParts
from harness.episode.late import settle
from harness.errors import EnvironmentProblem, UsageError
from harness.ports import Actor, Clock, ControlPlane, Executor, Quota, Witness
from harness.provision import InstalledPlane
from harness.recording import Comparer, Keeper, Seen, halves, remove
from harness.scenario import fixed_time
from harness.schema.run import EpisodeJob, EpisodeResult, LateRow, RunLogEntry
from harness.schema.trace import EpisodeTrace
from harness.suite import is_stale
from harness.wiring.actors import Transports, open_actor, with_faults
from harness.wiring.built_in import plane_operations
from harness.wiring.judges import CLASSIFIERS
from harness.wiring.network import require_network
from harness.wiring.pacing import Pacer, Paces
from harness.wiring.places import Settings
from harness.wiring.planes import installed_plane, opener
from harness.wiring.quota import Account, EpisodeQuota
from harness.wiring.recordings import Keeping, Masks, keep, place_of, replay, settled
from harness.wiring.replayed import ReplayedActor
from harness.wiring.rerecording import rerecord_spec
from harness.wiring.sandboxing import InWorkspace, require_loopback, require_room_for_shells
from harness.wiring.waiting import durable_place
from harness.workspace import Removals, Workspace, remove_tree

__all__ = ["Session", "Shadow", "Stoppable", "Tally", "run_episode", "trace_episode"]


class Tally(Protocol):
    """What was compared with a cold call; ``differing`` names the parts of answers that did differ."""

    checks: int
    differences: int
    differing: list[str]


@dataclass(slots=True)
class Shadow:
    """Where one episode's comparisons are counted, once its plane is open."""

    counts: Tally | None = None


class Stoppable(Executor, Protocol):
    """An executor that can be told to end what it runs."""

    def stop(self) -> None:
        """End what runs now, and start nothing more."""


class Session:
    """Keeps executors open across episodes; ``run`` and ``trace`` may be called from several threads."""

    def __init__(
        self,
        place: Settings,
        keeping: Keeping | None = None,
        episodes: Path | None = None,
        keep_output: Callable[[bytes], str | None] | None = None,
        *,
        late_row: Callable[[LateRow], None] | None = None,
        ceiling: Account | None = None,
        paces: Pacer | None = None,
        is_new: bool = False,
    ) -> None:
        """``keeping`` records live episodes; below ``episodes`` each of them is kept until ``forget``.

        ``keep_output`` keeps large final texts, ``late_row`` usage that comes after its episode was told.
        What they may cost together is reserved at ``ceiling`` (None: there is no bound). ``paces`` are how fast
        providers are asked (None: as fast as they answer). Of a run that ``is_new``
        nothing is gone on with: an episode that is there already is refused.
        """
        self._late_row = late_row or (lambda _: None)
        self._shutdown = threading.Event()
        self._keep_output = keep_output
        self._place, self._keeping, self._episodes, self._ceiling = place, keeping, episodes, ceiling
        self._is_new = is_new
        self._paces: Pacer = paces or Paces(SystemClock())
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._executors: dict[tuple[str, ...], Stoppable] = {}
        self._planes: dict[str, InstalledPlane] = {}
        self._transports = Transports(place)
        self._stack.callback(self._transports.close)
        self._removals = Removals()
        self._stack.callback(self._removals.close)
        self._turn = itertools.count(1).__next__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End every executor, and wait a bounded time for what calls that were given up still bring; idempotent."""
        settle()
        self._stack.close()

    def cancel(self) -> None:
        """Ask every running episode to stop; what it is waiting for is ended. Safe in a signal's handler."""
        self._stop.set()
        for executor in tuple(self._executors.values()):
            executor.stop()

    def shut_down(self) -> None:
        """Like ``cancel``, because the process is to end: what is kept on disk is gone on with by another one."""
        self._shutdown.set()
        self.cancel()

    def run(self, job: EpisodeJob) -> EpisodeResult:
        """One episode."""
        return self.trace(job)[0]

    def trace(self, job: EpisodeJob) -> tuple[EpisodeResult, EpisodeTrace | None]:
        """One episode with what it really saw; the trace is None where it could not be opened."""
        shadow = Shadow()
        parts = self.parts(job, clock=SystemClock(), shadow=shadow)
        keeper = parts.witness if isinstance(parts.witness, Keeper) else None
        try:
            result, trace = episode.run(parts)
        except BaseException:
            if keeper is not None:
                keeper.abandon()
            raise
        if keeper is not None and self._keeping is not None:
            result = settled(keeper, self._keeping, result)
        # what was recorded on another version is recorded anew by nobody who plays the scenario's own
        is_own = job.plane.ref == job.loaded.scenario.plane
        if job.actor.recording is not None and is_own and is_stale(result.receipt):
            again = rerecord_spec(self._place, Path(job.actor.recording))
            result = EpisodeResult(receipt=result.receipt, log=result.log.model_copy(update={"again": again}))
        if shadow.counts is None:
            return result, trace
        return EpisodeResult(receipt=result.receipt, log=_with_checks(result.log, shadow.counts)), trace

    def forget(self, job: EpisodeJob) -> None:
        """The result of a job is kept elsewhere: what was needed to go on with it goes."""
        if self._keeping is not None and job.actor.identity.kind == "live":
            remove(halves(place_of(job, self._keeping)))
        place = self._durable(job)
        if place is not None:
            remove_tree(place.folder)
            with suppress(OSError):
                place.folder.parent.rmdir()

    def _durable(self, job: EpisodeJob) -> DurablePlace | None:
        """Where a live episode is kept: by its key, so that a changed one is another."""
        if self._episodes is None or job.actor.identity.kind != "live":
            return None
        return durable_place(self._episodes, job.key, is_new=self._is_new)

    def _quota(self, job: EpisodeJob) -> Quota | None:
        if self._ceiling is None or job.actor.identity.kind != "live":
            return None
        return EpisodeQuota(self._ceiling, job)

    def seen(self, job: EpisodeJob) -> Seen:
        """What a replayed episode really meets, for checks of its recording. Raises InputError for another actor."""
        parts = self.parts(job, clock=SystemClock())
        if not isinstance(parts.witness, Comparer):
            raise UsageError(f"actor {job.actor.identity.ref!r} replays no recording")
        result, _ = episode.run(parts)
        last = result.log.attempts[-1:]
        return replace(parts.witness.seen, replied=last[0].status == "completed" if last else None)

    def parts(self, job: EpisodeJob, *, clock: Clock, shadow: Shadow | None = None) -> EpisodeParts:
        """The live objects for one job. Raises InputError for a key or a plane that is not there."""

        def executor_for(plane: InstalledPlane, workspace: Workspace) -> Executor:
            return self._executor_for(job, plane, workspace, shadow or Shadow())

        opened = opener(self._place, job.plane.ref, executor_for, self._plane)
        if job.loaded.scenario.workspace.git and which("git", path=self._place.search_path) is None:
            raise EnvironmentProblem(
                f"scenario {job.loaded.scenario.id} needs git, which is not on the PATH; install git"
            )
        require_room_for_shells(job)
        if job.plane.wheel_sha256 is not None:
            require_loopback(self._plane(job.plane.ref), job.options.sandbox)
        masks = Masks()
        actor, witness = self._actor(job, masks)
        actor, asked = with_faults(actor, job.loaded.scenario.fault)

        def open_plane(workspace: Workspace) -> ControlPlane:
            masks.bind(workspace)
            return opened(workspace)

        return EpisodeParts(
            job=job,
            actor=actor,
            witness=witness,
            open_plane=open_plane,
            operations=plane_operations(job.plane.ref) or {},
            executor=self._cold(None, job.options.sandbox),
            clock=clock,
            cancelled=lambda: self._stop.is_set() or asked.is_set(),
            search_path=self._place.search_path,
            durable=self._durable(job),
            quota=self._quota(job),
            pace=self._paces.visitor(job.actor.identity),
            keep_output=self._keep_output,
            shutdown=self._shutdown.is_set,
            late_row=self._late_row,
            remove_later=self._removals.hand_over,
            classifiers=CLASSIFIERS,
        )

    def _plane(self, ref: str) -> InstalledPlane:
        """What is installed; looked at once, for that every file of it is there takes longer than many an episode."""
        found = self._planes.get(ref)
        if found is None:
            found = self._planes[ref] = installed_plane(self._place, ref)
        return found

    def _actor(self, job: EpisodeJob, masks: Masks) -> tuple[Actor, Witness | None]:
        """The actor, and who looks on: a recording that it replays, or one that is made of it."""
        spec = job.actor
        if spec.recording is not None:
            transport, comparer, address = replay(job, masks)
            self._stack.callback(transport.close)
            spec = spec.model_copy(update={"base_url": address})
            actor = open_actor(self._place, spec, self._transports, transport)
            return ReplayedActor(actor, comparer.goes_on_with_the_same), comparer
        hearing = self._paces.hearing(spec.identity)
        if self._keeping is not None and self._keeping.stay != "none" and spec.identity.kind == "live":
            require_network(self._place)
            transport, keeper = keep(self._place, job, self._keeping, masks, may_go_on=self._episodes is not None)
            self._stack.callback(transport.close)
            return open_actor(self._place, spec, self._transports, transport, hearing), keeper
        return open_actor(self._place, spec, self._transports, hearing=hearing), None

    def _executor_for(self, job: EpisodeJob, plane: InstalledPlane, workspace: Workspace, shadow: Shadow) -> Executor:
        return InWorkspace(self._chosen(job, plane, workspace, shadow), workspace)

    def _chosen(self, job: EpisodeJob, plane: InstalledPlane, workspace: Workspace, shadow: Shadow) -> Executor:
        options = job.options
        time = options.plane_time or fixed_time(job.loaded.scenario)
        cold = self._cold(time, options.sandbox)
        if options.executor == "cold":
            return cold
        warm = self._warm(plane, time, options.sandbox)
        if options.shadow_every < 1:
            return warm
        spec = job.loaded.scenario.call
        wrapped = catalog.module("executors", "shadow").ShadowExecutor(
            warm,
            cold,
            every=options.shadow_every,
            root=workspace.root,
            volatile=spec.volatile if spec else (),
            turn=self._turn,
            program=str(plane.python),
        )
        shadow.counts = wrapped.counts
        executor: Executor = wrapped
        return executor

    def _cold(self, time: str | None, sandbox: str) -> Stoppable:
        process = catalog.module("executors", "process").ProcessExecutor
        key = ("cold", time or "", sandbox)
        return self._shared(key, lambda: process(plane_time=_moment(time), confined=sandbox != "off"))

    def _warm(self, plane: InstalledPlane, time: str | None, sandbox: str) -> Stoppable:
        fallback = self._cold(time, sandbox)
        warm = catalog.module("executors", "warm").WarmExecutor
        key = ("warm", plane.identity.ref, time or "", sandbox)
        return self._shared(key, lambda: warm(plane.python, fallback=fallback, plane_time=_moment(time)))

    def _shared(self, key: tuple[str, ...], make: Callable[[], Stoppable]) -> Stoppable:
        with self._lock:
            if key not in self._executors:
                self._executors[key] = executor = make()
                self._stack.callback(executor.close)
                if self._stop.is_set():
                    executor.stop()
            return self._executors[key]


def _moment(time: str | None) -> datetime | None:
    return None if time is None else datetime.fromisoformat(time)


def run_episode(job: EpisodeJob, *, place: Settings) -> EpisodeResult:
    """One episode from a plain value to a plain value, on executors of its own."""
    with Session(place) as session:
        return session.run(job)


def trace_episode(job: EpisodeJob, *, place: Settings) -> tuple[EpisodeResult, EpisodeTrace | None]:
    """Like ``run_episode``, with what the episode really saw."""
    with Session(place) as session:
        return session.trace(job)


def _with_checks(log: RunLogEntry, counts: Tally) -> RunLogEntry:
    """The log with how warm calls compared with cold ones, and where they differed."""
    counted: dict[str, object] = {"shadow_checks": counts.checks, "shadow_differences": counts.differences}
    if counts.differing:
        places = ", ".join(sorted(set(counts.differing)))
        remark = f"{counts.differences} of {counts.checks} warm calls repeated cold had another {places}"
        counted["remarks"] = (*log.remarks, remark)
    return log.model_copy(update=counted)
