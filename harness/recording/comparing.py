"""A witness that holds an episode against its recording and names every difference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from harness import redaction
from harness.errors import ReplayMismatchError
from harness.recording.keys import answer_key, succeeded
from harness.recording.matching import LINE, Scrub, explain_answer
from harness.recording.parts import changed_parts
from harness.recording.replaying import Replayer
from harness.schema.actor import ActorIdentity
from harness.schema.base import Digest, JsonValue
from harness.schema.name import Pointer
from harness.schema.pointer import without
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import RedactedText
from harness.schema.recording import Drift, Exchange, PlaneAnswer, RecordedRequest, Recording, Stale
from harness.schema.run import EpisodeJob

__all__ = ["Comparer", "Seen", "drifts_of", "header_drifts", "volatile_of"]

#: Parts of a scenario that stand in the header by themselves.
_SAME_AS: Final = {"id": "scenario", "call.volatile": "volatile"}
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def header_drifts(recording: Recording, job: EpisodeJob, classifier_version: int) -> tuple[Drift, ...]:
    """What can be told before anything runs: scenario, control plane, judge."""
    header, scenario = recording.header, job.loaded.scenario
    parts = changed_parts(header, job.loaded)
    pairs: tuple[tuple[Stale, str, JsonValue, JsonValue], ...] = (
        ("scenario", "scenario", header.scenario, scenario.id),
        ("scenario", "scenario_digest", header.scenario_digest, job.loaded.digest),
        ("scenario", "volatile", list(header.volatile), list(_volatile(job))),
        ("plane_version", "plane", _plane(header.plane), _plane(job.plane)),
        ("settings", "actor/model", header.actor.model, job.actor.identity.model),
        ("settings", "actor/settings", _settings(header.actor), _settings(job.actor.identity)),
        ("classifier", "classifier_version", header.classifier_version, classifier_version),
    )
    # which of its parts changed says more than the digest over them, and each change is told once
    known = {"scenario_digest" for _ in parts} | {_SAME_AS[name] for name in parts if name in _SAME_AS}
    frozen = (_of_header(*pair) for pair in pairs if pair[2] != pair[3] and pair[1] not in known)
    return (*parts.values(), *frozen)


def volatile_of(recording: Recording, job: EpisodeJob) -> tuple[Pointer, ...]:
    """The places of answers that are not compared: those declared when it was recorded, and those declared now.

    That they are not the same is told by itself.
    """
    return tuple(dict.fromkeys((*recording.header.volatile, *_volatile(job))))


def _volatile(job: EpisodeJob) -> tuple[Pointer, ...]:
    call = job.loaded.scenario.call
    return call.volatile if call else ()


def _plane(identity: PlaneIdentity | None) -> JsonValue:
    return None if identity is None else identity.model_dump(mode="json")


def _settings(actor: ActorIdentity) -> JsonValue:
    return None if actor.settings is None else actor.settings.model_dump(mode="json")


def _of_header(stale: Stale, name: str, recorded: JsonValue, now: JsonValue) -> Drift:
    return Drift(stale=stale, pointer=f"{LINE}/{name}", recorded=_told(recorded), now=_told(now))


def _told(value: JsonValue) -> RedactedText:
    """Versions and digests are facts of the two files: they may be shown, a digest as it is."""
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return redaction.name(value, (value,))
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
        self._before, self._since = recording.header.volatile, _volatile(job)
        self._next = 0
        self._seen = Seen()

    @property
    def seen(self) -> Seen:
        """What the episode met so far."""
        return replace(self._seen, requests=self._replayer.asked)

    def goes_on_with_the_same(self) -> bool:
        """Whether the request that was answered last was sent once more at once, when it was recorded."""
        return self._replayer.goes_on_with_the_same

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
            return (Drift(stale="plane_answer", step=answer.step, recorded=redaction.missing()),)
        due = answers[self._next]
        self._next += 1
        return explain_answer(
            _without(due, self._since, self._before),
            _without(answer, self._before, self._since),
            sayable=self._sayable,
        )

    def closed(self) -> tuple[Drift, ...]:
        """Requests that differed, requests that were not asked, answers that never came."""
        missing = tuple(
            Drift(stale="plane_answer", step=left.step, now=redaction.missing())
            for left in self._recording.answers[self._next :]
        )
        replies = tuple(_failing(self._recording.exchanges))
        return (*self._replayer.drifts, *replies, *self._replayer.unplayed, *missing)


def _without(answer: PlaneAnswer, places: Sequence[Pointer], left_out: Sequence[Pointer]) -> PlaneAnswer:
    """An answer without what only the other side declares as volatile; it has been kept without ``left_out``."""
    if set(places) <= set(left_out):
        return answer
    kept = without(answer.answer, places)
    return answer.model_copy(update={"answer": kept, "key": answer_key(answer.kind, answer.exit_code, kept)})


def drifts_of(
    recording: Recording,
    seen: Seen,
    job: EpisodeJob,
    *,
    sayable: frozenset[str],
    classifier_version: int,
    scrub: Scrub | None = None,
) -> tuple[Drift, ...]:
    """What an episode that met ``seen`` would be told of this recording: the same check as while it runs.

    The first request that does not fit ends the episode, as it does there. With ``scrub``, which takes secrets out of
    what was recorded and of what is asked now, the words of texts that differ are given too.
    """
    replayer = Replayer(recording, volatile_of(recording, job), sayable=sayable, scrub=scrub)
    comparer = Comparer(recording, job, replayer, sayable=sayable, classifier_version=classifier_version)
    found = list(comparer.opened(seen.prompt, seen.tools))
    answers = iter(seen.answers)
    due = next(answers, None)
    ending: tuple[Drift, ...] = ()
    for number, (request, key) in enumerate(seen.requests, 1):
        try:
            replayer.take(request, key)
        except ReplayMismatchError:
            break
        while due is not None and due[0] <= number:
            found += comparer.answered(due[1])
            due = next(answers, None)
    else:
        # of a request that was not answered nothing became
        ending = tuple(_ending(recording, seen))
    return (*found, *ending, *comparer.closed())


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
        stale="reply",
        exchange=exchange.number,
        pointer=f"{LINE}/response/status",
        recorded=_told(exchange.response.status),
        now=redaction.name(now, (now,)),
    )
