"""One test: an episode is run, and its receipt is held against the snapshot."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from syrupy.assertion import SnapshotAssertion

from harness import wiring
from harness.errors import HarnessError
from harness.pytest_plugin import telling
from harness.pytest_plugin.since import changed_since
from harness.pytest_plugin.snapshots import ReceiptSnapshot
from harness.receipt import canonical
from harness.schema.quarantine import entry_for
from harness.schema.receipt import Receipt
from harness.schema.recording import Drift, RerecordSpec
from harness.schema.run import EpisodeJob, EpisodeOptions, EpisodeResult
from harness.schema.scenario import LoadedScenario
from harness.suite import is_stale, run_suite
from harness.wiring.quarantine import Quarantine

__all__ = ["Part", "play"]

#: Warm needs what only Linux gives.
_EXECUTOR: Literal["warm", "cold"] = "warm" if sys.platform == "linux" else "cold"


@dataclass(frozen=True, slots=True)
class Part:
    """What one test plays; ``actor`` as ``harness run`` takes it, ``twin`` another recording of the same episode.

    ``standing``: what ``quarantine.toml`` beside the folder of scenarios says.
    """

    loaded: LoadedScenario
    actor: str
    standing: Quarantine
    twin: str | None = None


def play(
    request: pytest.FixtureRequest,
    snapshot: SnapshotAssertion,
    harness_settings: wiring.Settings,
    harness_session: wiring.Session,
) -> None:
    """Run the episode; fail, in words, where its receipt is not the snapshot's or its recording no longer fits."""
    part: Part = request.node.part
    if part.twin is not None:
        pytest.fail(
            f"harness: {request.node.name}: records the same episode as {part.twin} (same actor and trial) and would "
            "count twice; remove one of them",
            pytrace=False,
        )
    result = _episode(harness_settings, harness_session, part)
    if isinstance(result, HarnessError):
        # told where nothing is being handled, so that pytest tells it once
        pytest.fail(_refusal(request.node, result), pytrace=False)
    receipt = result.receipt
    request.node.user_properties.append(("verdict", receipt.verdict))
    ended = _set_aside(request, part.standing, receipt)
    columns = request.config.get_terminal_writer().fullwidth
    if is_stale(receipt):
        drifts, again = _drifted(harness_settings, harness_session, part, result)
        pytest.fail("\n".join((*telling.stale(receipt, drifts, again, columns), *ended)), pytrace=False)
    text = canonical(receipt).encode("ascii")
    if snapshot.use_extension(ReceiptSnapshot) == text:
        return
    file = Path(ReceiptSnapshot.get_location(test_location=snapshot.test_location, index=0))
    kept = _kept(file)
    lines = telling.differing(
        kept,
        receipt,
        problem=result.log.problem,
        parts=changed_since(harness_settings, part.loaded, kept),
        width=columns,
    )
    accept = f"if that is right: pytest --snapshot-update {telling.quoted(request.node.nodeid)}"
    where = f"snapshot: {telling.near(file, request.config.rootpath)}"
    pytest.fail("\n".join((*lines, *ended, where, accept)), pytrace=False)


def _set_aside(request: pytest.FixtureRequest, standing: Quarantine, receipt: Receipt) -> tuple[str, ...]:
    """Let the test not fail the session where it is in quarantine; a line where it was, and is so no more."""
    place = (receipt.scenario, receipt.actor.ref)
    entry = entry_for(standing.holding, *place)
    if entry is not None:
        request.applymarker(pytest.mark.xfail(reason=f"in quarantine {entry.terms}", strict=False))
        return ()
    return standing.ended([place])


def _episode(place: wiring.Settings, session: wiring.Session, part: Part) -> EpisodeResult | HarnessError:
    """The episode's result, or why there is none; a bug of ours is told without any value of it."""
    results: list[EpisodeResult] = []
    try:
        end = run_suite(
            (_job(place, part),),
            episode=session.run,
            jobs_at_once=1,
            done=lambda _, result: results.append(result),
            stop=threading.Event(),
        )
    except HarnessError as error:
        return error
    if not results:
        return HarnessError(f"a bug of harness: {end.crashes[0].place}" if end.crashes else "the episode was cancelled")
    return results[0]


def _drifted(
    place: wiring.Settings, session: wiring.Session, part: Part, result: EpisodeResult
) -> tuple[tuple[Drift, ...], RerecordSpec | None]:
    """The drifts once more, with the words that no receipt holds; those of the receipt where that cannot be."""
    try:
        return wiring.recording_report(place, session, _job(place, part)).drifts, result.log.again
    except HarnessError:
        return (), result.log.again


def _job(place: wiring.Settings, part: Part) -> EpisodeJob:
    """Raises HarnessError for a recording that cannot be read, and for a control plane that is not there."""
    spec = wiring.actor_specs(place, part.actor, part.loaded, ())[0]
    return EpisodeJob(
        loaded=part.loaded,
        actor=spec,
        plane=wiring.plane_identity(place, part.loaded.scenario.plane),
        trial=spec.trial or 1,
        options=EpisodeOptions(executor=_EXECUTOR),
    )


def _refusal(node: pytest.Item, error: HarnessError) -> str:
    return f"harness: {node.name}: {error}"


def _kept(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None
