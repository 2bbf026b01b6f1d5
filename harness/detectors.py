"""Loops, told from the records of an episode: repeated calls, and turns that bring nothing new.

Nothing here is stored. The streaks are a fold over the records since the last input from outside, so a driver that
goes on with an episode has exactly those of the one before it (runner specification 2.10).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from harness.schema.base import Digest, JsonValue, digest_json, digest_text
from harness.schema.detectors import CallMarks, DetectorSpec, Stuck
from harness.schema.record import CallResulted, InputDelivered, OpReceipt, Payload, TurnCommitted, TurnOpened
from harness.schema.tool import ResultCode

__all__ = [
    "Seen",
    "Streaks",
    "alike",
    "error_digest",
    "is_long",
    "is_looping",
    "observe",
    "repetition_key",
    "streaks",
    "stuck",
]

#: Version of the repetition key: raised where its parts change.
KEY_VERSION: Final = 1
#: Shortest text, in characters, that can be prose which goes round in circles.
LONG_CHARS: Final = 400
#: How many characters of a text are compared.
COMPARED_CHARS: Final = 8_000
#: Part of two texts, in percent, that must be the same for them to be near-identical.
ALIKE_PERCENT: Final = 97
#: How many characters of an error's text are looked at.
ERROR_CHARS: Final = 8_000

#: A word, and what makes it an id or a number: a digit in it, or that it is long and hexadecimal.
_WORD, _CHANGING = re.compile(r"[\w-]+"), re.compile(r"[0-9]|\A[a-f]{8,}\Z", re.IGNORECASE)
#: Errors of a service in front of a tool that waiting may cure: they say nothing about the actor.
_TRANSIENT = re.compile(
    r"rate.?limit|too many requests|time[ds]?[ -]?out|overloaded"
    r"|temporar(?:y (?:failure|error)|ily unavailable)|service unavailable|try again"
    r"|\b(?:https?(?:/[0-9.]+)?|status(?: code)?|code|error)\W{1,3}(?:429|502|503|504)\b"
    r"|connection (?:was )?(?:reset|refused|aborted|closed|lost)",
    re.IGNORECASE,
)
#: Answers that say nothing about what the actor did: it was not its turn, or the tool was too slow.
_UNSAID: frozenset[ResultCode] = frozenset({"timeout"})
#: Inputs that the loop itself gives: they are no word from outside.
_OURS = ("nudge.",)
#: How the operations of calls end by which an actor speaks about its own episode, which have no row of a tool.
_CONTROL = "/control"


class Seen(NamedTuple):
    """What is remembered of one answer until its turn is over."""

    code: ResultCode
    marks: CallMarks


class Streaks(NamedTuple):
    """How often in a row, by detector; and the answers of the turn that is not over yet.

    ``repeated`` and the keys name what is repeated. ``repeats`` counts calls, the others turns.
    """

    repeated: Digest | None = None
    repeats: int = 0
    action: tuple[Digest, ...] = ()
    actions: int = 0
    malformed: int = 0
    error: frozenset[Digest] = frozenset()
    errors: int = 0
    prose: int = 0
    open: tuple[Seen, ...] = ()


_NONE = Streaks()
#: The records that may change a streak.
_TELLING = (InputDelivered, TurnOpened, CallResulted, OpReceipt, TurnCommitted)


def streaks(payloads: Iterable[Payload], known: Streaks = _NONE) -> Streaks:
    """The streaks after all of them, of which ``known`` are those before the first one."""
    for payload in payloads:
        if isinstance(payload, _TELLING):
            known = observe(known, payload)
    return known


def observe(known: Streaks, payload: Payload) -> Streaks:
    """The streaks after one more record; records that tell of no call, turn or input change nothing."""
    match payload:
        case InputDelivered():
            return known if payload.input.startswith(_OURS) else Streaks()
        case TurnOpened():
            return known._replace(open=()) if known.open else known
        case CallResulted() if payload.marks is not None and payload.code not in _UNSAID:
            return _called(known, payload, payload.marks)
        case OpReceipt() if payload.status == "failed" and payload.operation.endswith(_CONTROL):
            return known._replace(open=(*known.open, _refused_control(payload)))
        case TurnCommitted():
            return _turned(known, payload)
        case _:
            return known


def is_looping(known: Streaks, spec: DetectorSpec) -> bool:
    """Whether the last call ended in the same typed error once too often."""
    return spec.repetition is not False and known.repeats >= spec.repetition


def stuck(known: Streaks, spec: DetectorSpec) -> Stuck | None:
    """What the last turns did without getting on; asked between turns."""
    found: tuple[tuple[Stuck, int, int], ...] = (
        ("same_action", known.actions, spec.same_action),
        ("malformed", known.malformed, spec.malformed),
        ("similar_error", known.errors, spec.similar_error),
        ("long_text", known.prose, spec.long_text),
    )
    return next((kind for kind, count, threshold in found if threshold is not False and count >= threshold), None)


def repetition_key(
    *, tool: str, implementation: JsonValue, binding: JsonValue, arguments: JsonValue, code: str
) -> Digest:
    """What makes two typed errors the same: the call that ended in it, by what, and its code; never its text."""
    return digest_json([KEY_VERSION, tool, implementation, binding, arguments, code])


def error_digest(text: str) -> Digest | None:
    """What makes two untyped errors similar: the text without its ids and numbers; None for one that waiting cures.

    At most the first 8,000 characters count.
    """
    looked_at = text[:ERROR_CHARS]
    if _TRANSIENT.search(looked_at):
        return None
    return digest_text(" ".join(_WORD.sub(_collapsed, looked_at).split()))


def is_long(text: str) -> bool:
    """Whether a reply is long enough to be compared (400 characters)."""
    return len(text) >= LONG_CHARS


def alike(left: str, right: str) -> bool:
    """Whether two texts are near-identical: at least 97 % of both stand in both in the same order.

    At most the first 8,000 characters count. The longest common subsequence is exact, and costs the same for all texts
    of a length: one addition of whole numbers, of as many bits as ``left`` has characters, for each of ``right``.
    """
    one, other = left[:COMPARED_CHARS], right[:COMPARED_CHARS]
    return 200 * _common(one, other) >= ALIKE_PERCENT * (len(one) + len(other))


def _common(left: str, right: str) -> int:
    """Length of the longest common subsequence, by bit-parallel dynamic programming: zeros of ``rows`` are steps."""
    places: dict[str, int] = {}
    for place, character in enumerate(left):
        places[character] = places.get(character, 0) | (1 << place)
    full = (1 << len(left)) - 1
    rows = full
    for character in right:
        matching = rows & places.get(character, 0)
        rows = ((rows + matching) | (rows - matching)) & full
    return len(left) - rows.bit_count()


def _collapsed(word: re.Match[str]) -> str:
    return "#" if _CHANGING.search(word[0]) else word[0]


def _called(known: Streaks, payload: CallResulted, marks: CallMarks) -> Streaks:
    key = marks.repeats
    count = 0 if key is None else known.repeats + 1 if key == known.repeated else 1
    return known._replace(repeated=key, repeats=count, open=(*known.open, Seen(payload.code, marks)))


def _refused_control(payload: OpReceipt) -> Seen:
    """A refused claim is a failing call, known by why it was refused."""
    why = digest_text(payload.detail or "")
    return Seen("error_recoverable", CallMarks(action=why, error=why))


def _turned(known: Streaks, payload: TurnCommitted) -> Streaks:
    if payload.prose is not None:
        known = known._replace(prose=known.prose + 1 if payload.prose == "alike" else 1)
    calls = known.open
    if not calls:
        return known
    action = tuple(call.marks.action for call in calls)
    malformed = all(call.code == "parse_error" for call in calls)
    known = known._replace(
        action=action,
        actions=known.actions + 1 if action == known.action else 1,
        malformed=known.malformed + 1 if malformed else 0,
        open=(),
    )
    return _failed(known, calls)


def _failed(known: Streaks, calls: tuple[Seen, ...]) -> Streaks:
    """Similar errors: a success resets, an error of another kind breaks the streak, one that waiting cures does not."""
    if any(call.code == "succeeded" for call in calls):
        return known._replace(error=frozenset(), errors=0) if known.errors else known
    error = frozenset(call.marks.error for call in calls if call.marks.error is not None)
    if error:
        return known._replace(error=error, errors=known.errors + 1 if error == known.error else 1)
    if any(call.marks.repeats is not None for call in calls):
        return known._replace(error=frozenset(), errors=0)
    return known
