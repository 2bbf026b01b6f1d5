"""A recording as a conversation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.schema.base import JsonValue
from harness.schema.message import Reply
from harness.schema.recording import Exchange, PlaneAnswer, Recording
from harness.schema.transcript import Passage, Transcript, TranscriptTurn
from harness.transcript.speech import Said, as_text, asked, messages, offered, replied, told_beside

__all__ = ["transcript"]


@dataclass(frozen=True, slots=True)
class _Shears:
    """Makes passages, none longer than ``limit`` bytes; None for whole ones."""

    limit: int | None

    def passage(self, said: Said, line: int) -> Passage:
        data = said.text.encode("utf-8", "replace")
        size = len(data)
        if self.limit is not None and size > self.limit:
            data = data[: self.limit].decode("utf-8", "ignore").encode("utf-8")
        return Passage(
            speaker=said.speaker,
            about=said.about,
            text=data.decode("utf-8"),
            shown=len(data),
            size=size,
            line=line,
        )


def transcript(
    recording: Recording,
    file: str,
    *,
    size: int,
    text_bytes: int | None = None,
    read: Callable[[Exchange], Reply | None] | None = None,
) -> Transcript:
    """A recording, told: of each request only what no earlier request of it said.

    ``file`` is how the recording is called and ``size`` its bytes; no text is longer than ``text_bytes`` bytes of
    UTF-8. ``read`` decodes an answer that is no chat completion; it gives None where that fails. What the control plane
    answered stands under the exchange whose reply called for it.
    """
    shears = _Shears(text_bytes)
    answers = _answers(recording, shears)
    turns: list[TranscriptTurn] = []
    before: list[JsonValue] = []
    said: Sequence[Said] = ()
    steps = 0
    for exchange in recording.exchanges:
        line = 1 + exchange.number
        now = messages(exchange.request)
        fresh = _fresh(before, now, exchange, said)
        said = tuple(replied(exchange.response, None if read is None else read(exchange)))
        calls = sum(one.speaker == "model" and one.about.startswith("calls") for one in said)
        last = exchange.number == len(recording.exchanges)
        turns.append(
            TranscriptTurn(
                number=exchange.number,
                asked=tuple(shears.passage(one, line) for one in fresh),
                said=tuple(shears.passage(one, line) for one in said),
                answers=tuple(one for step, one in answers if step > steps and (last or step <= steps + calls)),
            )
        )
        before, steps = now, steps + calls
    return Transcript(file=file, size=size, header=recording.header, turns=tuple(turns))


def _fresh(
    before: Sequence[JsonValue], now: Sequence[JsonValue], exchange: Exchange, said: Sequence[Said]
) -> Iterable[Said]:
    """What a request says that the one before it did not, without the reply that it repeats."""
    same = next((at for at, (one, other) in enumerate(zip(before, now, strict=False)) if one != other), None)
    start = min(len(before), len(now)) if same is None else same
    found: list[Said] = []
    if not before:
        tools = offered(exchange.request)
        found += [Said("harness", "offers", tools)] if tools else []
        beside = told_beside(exchange.request)
        found += [Said("system", "", beside)] if beside else []
    if not now:
        found.append(Said("user", "", as_text(exchange.request.body)))
    repeats = True
    for message in now[start:]:
        texts = list(asked(message))
        repeats = repeats and all(any(_alike(text, one) for one in said) for text in texts)
        found += [] if repeats else texts
    return found


def _alike(one: Said, other: Said) -> bool:
    """Whether two texts say the same; JSON may be written in another way."""
    if one == other or one[:2] != other[:2]:
        return one == other
    try:
        return bool(json.loads(one.text) == json.loads(other.text))
    except (ValueError, RecursionError):
        return False


def _answers(recording: Recording, shears: _Shears) -> list[tuple[int, Passage]]:
    first = 2 + len(recording.exchanges)
    return [(one.step, shears.passage(_answer(one), first + at)) for at, one in enumerate(recording.answers)]


def _answer(answer: PlaneAnswer) -> Said:
    ended = "did not end by itself" if answer.exit_code is None else f"exit code {answer.exit_code}"
    return Said("control plane", f"step {answer.step}, {answer.kind or 'no kind'}, {ended}", as_text(answer.answer))
