"""A witness that holds an episode against its recording and names every difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from harness import redaction
from harness.errors import ReplayMismatchError
from harness.recording.keys import succeeded
from harness.recording.matching import LINE, explain_answer
from harness.recording.replaying import Replayer
from harness.schema.actor import ActorIdentity
from harness.schema.base import Digest, JsonValue
from harness.schema.receipt import RedactedText
from harness.schema.recording import Drift, DriftCause, Exchange, PlaneAnswer, RecordedRequest, Recording
from harness.schema.run import EpisodeJob

__all__ = ["Comparer", "Seen", "drifts_of", "header_drifts"]


def header_drifts(recording: Recording, job: EpisodeJob, classifier_version: int) -> tuple[Drift, ...]:
    """What can be told before anything runs: scenario, control plane, judge."""
    header, scenario = recording.header, job.loaded.scenario
    volatile = scenario.call.volatile if scenario.call else ()
    pairs: tuple[tuple[DriftCause, str, JsonValue, JsonValue], ...] = (
        ("scenario", "scenario", header.scenario, scenario.id),
        ("scenario", "scenario_digest", header.scenario_digest, job.loaded.digest),
        ("scenario", "volatile", list(header.volatile), list(volatile)),
        ("plane_version", "plane", header.plane.model_dump(mode="json"), job.plane.model_dump(mode="json")),
        ("settings", "actor/model", header.actor.model, job.actor.identity.model),
        ("settings", "actor/settings", _settings(header.actor), _settings(job.actor.identity)),
        ("classifier", "classifier_version", header.classifier_version, classifier_version),
    )
    return tuple(_of_header(cause, name, recorded, now) for cause, name, recorded, now in pairs if recorded != now)


def _settings(actor: ActorIdentity) -> JsonValue:
    return None if actor.settings is None else actor.settings.model_dump(mode="json")


def _of_header(cause: DriftCause, name: str, recorded: JsonValue, now: JsonValue) -> Drift:
    return Drift(cause=cause, pointer=f"{LINE}/{name}", recorded=_told(recorded), now=_told(now))


def _told(value: JsonValue) -> RedactedText:
    """Versions and digests are facts of the two files: they may be shown."""
    return redaction.value(value, frozenset(_texts(value)))


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one episode really met: prompt, tools, requests, and each answer with how many requests came before it.

    ``replied`` says whether its last request got a reply that could be used; None where nobody knows.
    """

    prompt: Digest = ""
    tools: Digest = ""
    requests: tuple[tuple[RecordedRequest, Digest], ...] = ()
    answers: tuple[tuple[int, PlaneAnswer], ...] = ()
    replied: bool | None = None


class Comparer:
    """Compares one episode, in order: the frozen facts, the prompt, the tools, every plane answer, every request.

    ``replayer`` answers the requests; what it could not answer and what was never asked is told at the end.
    """

    def __init__(
        self,
        recording: Recording,
        job: EpisodeJob,
        replayer: Replayer,
        *,
        sayable: frozenset[str],
        classifier_version: int,
    ) -> None:
        self._recording, self._replayer, self._sayable = recording, replayer, sayable
        self._frozen = header_drifts(recording, job, classifier_version)
        self._next = 0
        self._seen = Seen()

    @property
    def seen(self) -> Seen:
        """What the episode met so far."""
        return replace(self._seen, requests=self._replayer.asked)

    def opened(self, prompt: Digest, tools: Digest) -> tuple[Drift, ...]:
        """What was frozen, then prompt and tools."""
        self._seen = replace(self._seen, prompt=prompt, tools=tools)
        header = self._recording.header
        found = list(self._frozen)
        if header.prompt != prompt:
            found.append(_of_header("prompt", "prompt", header.prompt, prompt))
        if header.tools != tools:
            found.append(_of_header("tools", "tools", header.tools, tools))
        return tuple(found)

    def answered(self, answer: PlaneAnswer) -> tuple[Drift, ...]:
        """One answer of the control plane against the one that is due."""
        asked = len(self._replayer.asked)
        self._seen = replace(self._seen, answers=(*self._seen.answers, (asked, answer)))
        answers = self._recording.answers
        if self._next >= len(answers):
            return (Drift(cause="plane_answer", step=answer.step, recorded=redaction.missing()),)
        due = answers[self._next]
        self._next += 1
        return explain_answer(due, answer, sayable=self._sayable)

    def closed(self) -> tuple[Drift, ...]:
        """Requests that differed, requests that were not asked, answers that never came."""
        missing = tuple(
            Drift(cause="plane_answer", step=left.step, now=redaction.missing())
            for left in self._recording.answers[self._next :]
        )
        replies = tuple(_failing(self._recording.exchanges))
        return (*self._replayer.drifts, *replies, *self._replayer.unplayed, *missing)


def drifts_of(
    recording: Recording, seen: Seen, job: EpisodeJob, *, sayable: frozenset[str], classifier_version: int
) -> tuple[Drift, ...]:
    """What an episode that met ``seen`` would be told of this recording: the same check as while it runs.

    The first request that does not fit ends the episode, as it does there.
    """
    replayer = Replayer(recording, recording.header.volatile, sayable=sayable)
    comparer = Comparer(recording, job, replayer, sayable=sayable, classifier_version=classifier_version)
    found = list(comparer.opened(seen.prompt, seen.tools))
    answers = iter(seen.answers)
    due = next(answers, None)
    for number, (request, key) in enumerate(seen.requests, 1):
        try:
            replayer.take(request, key)
        except ReplayMismatchError:
            break
        while due is not None and due[0] <= number:
            found += comparer.answered(due[1])
            due = next(answers, None)
    return (*found, *_ending(recording, seen), *comparer.closed())


def _failing(exchanges: Sequence[Exchange]) -> Iterator[Drift]:
    """Replies from which another request followed although their status is a failure's.

    A request that is asked again may well follow a failure.
    """
    for one, following in pairwise(exchanges):
        if not succeeded(one.response.status) and one.key != following.key:
            yield _of_reply(one, now="the episode went on")


def _ending(recording: Recording, seen: Seen) -> Iterator[Drift]:
    """The last reply, where its status does not say what became of it."""
    last = recording.exchanges[-1] if recording.exchanges else None
    if last is None or seen.replied is None or len(seen.requests) < len(recording.exchanges):
        return
    if seen.replied and not succeeded(last.response.status):
        yield _of_reply(last, now="the reply was used")
    elif not seen.replied and succeeded(last.response.status):
        yield _of_reply(last, now="there was no reply that could be used")


def _of_reply(exchange: Exchange, now: str) -> Drift:
    return Drift(
        cause="reply",
        exchange=exchange.number,
        pointer=f"{LINE}/response/status",
        recorded=_told(exchange.response.status),
        now=redaction.name(now, (now,)),
    )
