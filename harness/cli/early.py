"""``harness run --early``: a run that ends once it is known which of its actors passes more often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.errors import UsageError
from harness.qualification.comparing import ALPHA
from harness.qualification.stopping import Stopping
from harness.receipt import Remainder
from harness.schema.early import EarlyStop
from harness.schema.run import EpisodeJob, EpisodeResult, Manifest, RunView

__all__ = ["looks_of", "narrowed", "refuse_cut_short", "refuse_early", "stopping_of"]


def refuse_early(jobs: Sequence[EpisodeJob], *, shard: str | None) -> None:
    """Raise UsageError where looking in between could end nothing, or would not see what it needs."""
    if shard is not None:
        raise UsageError("--early looks at whole trials, and a --shard plays a part of each; leave one of them out")
    actors = {(job.actor.identity.ref, job.actor.identity.digest): job.actor for job in jobs}
    names = list(dict.fromkeys(ref for ref, _ in actors))
    if len(names) < 2:  # noqa: PLR2004  (a pair)
        raise UsageError(f"--early compares actors, and only {names[0]} plays; give two or more --actor")
    if len(names) < len(actors):
        twice = next(name for name in names if sum(ref == name for ref, _ in actors) > 1)
        raise UsageError(f"--early: two actors are called {twice}, and nobody could tell which of them is better")
    recorded = next((actor.identity.ref for actor in actors.values() if actor.recording is not None), None)
    if recorded is not None:
        raise UsageError(
            f"--early: {recorded} is a recording, which costs nothing; harness compare --early looks at it"
        )
    versions = sorted({job.plane.ref for job in jobs})
    if len(versions) > len({job.plane.name for job in jobs}):
        raise UsageError(
            f"--early compares actors on one version of a control plane, and there are {', '.join(versions)}"
        )
    if max(job.trial for job in jobs) < 2:  # noqa: PLR2004  (nothing is left after the first)
        raise UsageError("--early may end a run after any trial but the last; give --trials 2 or more")
    stopping_of(jobs)


def stopping_of(jobs: Sequence[EpisodeJob], left: Remainder | None = None) -> Stopping:
    """What looks at a plan; it knows what was finished before and is not played again. Raises UsageError."""
    places = ((job.loaded.scenario.id, job.actor.identity.ref, job.trial) for job in jobs)
    try:
        stopping = Stopping(places, ALPHA)
    except ValueError as error:
        raise UsageError(f"--early: {error}; nobody could tell which of them is better") from None
    again = set() if left is None else {place for place, _ in left.jobs}
    for result in _last(() if left is None else (one for place, one in left.finished if place not in again)):
        receipt = result.receipt
        stopping.over(receipt.scenario, receipt.actor.ref, receipt.trial, receipt.verdict)
    return stopping


def _last(results: Iterable[EpisodeResult]) -> Iterator[EpisodeResult]:
    """Of several attempts at an episode the one that counts."""
    by_episode: dict[str, EpisodeResult] = {}
    for result in results:
        before = by_episode.get(result.receipt.episode)
        if before is None or before.receipt.attempt < result.receipt.attempt:
            by_episode[result.receipt.episode] = result
    yield from by_episode.values()


def narrowed(manifest: Manifest, jobs: Sequence[EpisodeJob], left: Remainder) -> Remainder:
    """What is left of a plan without what nobody needs any more; nothing where the run ended for that reason."""
    if manifest.early is None:
        return left
    is_over = manifest.state == "complete" and manifest.early.is_decided
    if is_over and not left.superseded and not left.changed:
        return replace(left, jobs=(), failed=0, aside=())
    stopping = stopping_of(jobs, left)
    kept = tuple((place, job) for place, job in left.jobs if stopping.needs(job.actor.identity.ref, job.trial))
    return replace(left, jobs=kept)


def looks_of(views: Mapping[str, RunView]) -> EarlyStop | None:
    """How a run looked in between that is compared; None where none did.

    Raises UsageError where it is held against another one, for when it ended hung on its own actors.
    """
    early = [view.manifest.early for view in views.values()]
    if len(views) == 1:
        return early[0]
    refuse_cut_short(views, "its rates are not held against those of another run; compare it alone")
    return None


def refuse_cut_short(views: Mapping[str, RunView], why: str) -> None:
    """Raise UsageError for a run whose number of trials hung on what came out, with what cannot be done for that."""
    for name, view in views.items():
        early = view.manifest.early
        if early is not None and early.is_cut_short:
            raise UsageError(
                f"{name} ended early, when its own actors were told apart, so {why}, or play it without --early"
            )
