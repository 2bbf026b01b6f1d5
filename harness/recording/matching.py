"""Where a request differs from the recorded ones, and which of them it is nearest to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from harness import redaction
from harness.recording.keys import embedded, stable_body
from harness.recording.wording import wording_at
from harness.schema.base import JsonValue
from harness.schema.pointer import MISSING, Missing
from harness.schema.receipt import RedactedText
from harness.schema.recording import Drift, Exchange, PlaneAnswer, RecordedRequest

__all__ = ["LINE", "Difference", "Scrub", "differences", "explain", "explain_answer", "nearest", "place_of"]

#: Where the pointers begin that name a place in a recorded line, and not in a request's body or a plane's answer.
LINE: Final = "/entry"

#: Differences beyond this many are not told.
LIMIT: Final = 8

#: A pointer, what was recorded there, and what is there now; ``MISSING`` where there is nothing.
Difference = tuple[str, JsonValue | Missing, JsonValue | Missing]

#: Takes secrets out of a JSON value.
Scrub = Callable[[JsonValue], JsonValue]


def differences(
    recorded: JsonValue, now: JsonValue, volatile: Sequence[str] = (), limit: int = LIMIT
) -> tuple[str, ...]:
    """Pointers to the first ``limit`` places where two request bodies differ, in order.

    A pointer is one of RFC 6901, with one addition: ``/messages/4/content#/a/b`` is the place ``/a/b`` in the JSON
    text that stands at ``/messages/4/content``. What is in only one of them is named as a whole.
    """
    return tuple(at for at, _, _ in islice(_compared(recorded, now, volatile), limit))


def nearest(exchanges: Iterable[Exchange], body: JsonValue, volatile: Sequence[str] = ()) -> Exchange | None:
    """The exchange whose request lacks and adds the fewest leaves, then the one with the fewest differing leaves.

    Of equals the first. An answer that was passed on and differs in much makes no shorter conversation the nearer one:
    only leaves outside of texts can be lacking. None without exchanges.
    """
    best: Exchange | None = None
    fewest = (0, 0)
    stable = stable_body(body, volatile)
    for exchange in exchanges:
        recorded = stable_body(exchange.request.body, volatile)
        lacking = sum(1 for _ in _lacking_leaves(recorded, stable))
        if best is not None and lacking > fewest[0]:
            continue
        bound = fewest[1] if best is not None and lacking == fewest[0] else None
        distance = (lacking, sum(1 for _ in islice(_differing_leaves(recorded, stable), bound)))
        if best is None or distance < fewest:
            best, fewest = exchange, distance
        if fewest == (0, 0):
            break
    return best


def explain(
    exchange: Exchange,
    asked: RecordedRequest,
    volatile: Sequence[str] = (),
    *,
    sayable: frozenset[str] = frozenset(),
    scrub: Scrub | None = None,
    limit: int = LIMIT,
) -> tuple[Drift, ...]:
    """What differs between a recorded request and the one that is asked now, each place with both values.

    Method, path and kept headers come first. A text of a body is shown only where it is ``sayable``; else its length
    and digest are told, and the line from which on it differs. Where nothing differs but the request was not to be
    answered, one drift without a pointer is given. Words are shown only with a ``scrub``, which takes secrets out.
    """
    found = [
        Drift(stale="request", exchange=exchange.number, pointer=at, recorded=_redacted(one), now=_redacted(other))
        for at, one, other in _beside_body(exchange.request, asked)
    ]
    found += [
        Drift(
            stale="request",
            exchange=exchange.number,
            pointer=at,
            recorded=_told(MISSING, recorded, sayable),
            now=_told(recorded, now, sayable),
            wording=None if scrub is None else wording_at(at, exchange.request.body, asked.body, scrub),
        )
        for at, recorded, now in islice(_compared(exchange.request.body, asked.body, volatile), limit)
    ]
    return tuple(found) or (Drift(stale="request", exchange=exchange.number),)


def explain_answer(
    recorded: PlaneAnswer, now: PlaneAnswer, *, sayable: frozenset[str] = frozenset(), limit: int = LIMIT
) -> tuple[Drift, ...]:
    """What differs between a recorded answer of the control plane and the one that came now, in order."""
    if (recorded.step, recorded.key) == (now.step, now.key):
        return ()
    facts: tuple[tuple[str, JsonValue, JsonValue], ...] = (
        ("kind", recorded.kind, now.kind),
        ("exit_code", recorded.exit_code, now.exit_code),
        ("step", recorded.step, now.step),
    )
    found = [
        Drift(
            stale="plane_answer",
            step=now.step,
            pointer=f"{LINE}/{name}",
            recorded=_redacted(one),
            now=_redacted(other),
        )
        for name, one, other in facts
        if one != other
    ]
    found += [
        Drift(
            stale="plane_answer",
            step=now.step,
            pointer=at,
            recorded=_told(MISSING, one, sayable),
            now=_told(one, other, sayable),
        )
        for at, one, other in islice(_differing(recorded.answer, now.answer, ""), limit)
    ]
    return tuple(found)


def _beside_body(recorded: RecordedRequest, asked: RecordedRequest) -> Iterator[Difference]:
    """Differences in all that a request holds besides its body."""
    one, other = (request.model_dump(mode="json", exclude={"body"}) for request in (recorded, asked))
    return _differing(one, other, f"{LINE}/request")


def _redacted(value: JsonValue | Missing) -> RedactedText:
    """A value that holds nothing but what was redacted before, or what is fixed."""
    if isinstance(value, Missing):
        return redaction.missing()
    return redaction.value(value, frozenset({value}) if isinstance(value, str) else frozenset())


def place_of(path: Sequence[str | int]) -> str:
    """The RFC 6901 pointer of a path of keys and positions."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def _compared(recorded: JsonValue, now: JsonValue, volatile: Sequence[str]) -> Iterator[Difference]:
    return _differing(stable_body(recorded, volatile), stable_body(now, volatile), "")


def _differing(recorded: JsonValue, now: JsonValue, at: str, *, inside: bool = True) -> Iterator[Difference]:
    """All places that differ; ``inside``: those in texts that are JSON too."""
    if _same(recorded, now):
        return
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in [*recorded, *(key for key in now if key not in recorded)]:
            one, other = recorded.get(key, MISSING), now.get(key, MISSING)
            if not _same(one, other):
                yield from _between(one, other, at + place_of([key]), inside=inside)
    elif isinstance(recorded, list) and isinstance(now, list):
        for number in range(max(len(recorded), len(now))):
            one = recorded[number] if number < len(recorded) else MISSING
            other = now[number] if number < len(now) else MISSING
            if not _same(one, other):
                yield from _between(one, other, f"{at}/{number}", inside=inside)
    elif inside and isinstance(recorded, str) and isinstance(now, str):
        yield from _texts(recorded, now, at)
    else:
        yield at, recorded, now


def _between(recorded: JsonValue | Missing, now: JsonValue | Missing, at: str, *, inside: bool) -> Iterator[Difference]:
    if isinstance(recorded, Missing) or isinstance(now, Missing):
        yield at, recorded, now
    else:
        yield from _differing(recorded, now, at, inside=inside)


def _texts(recorded: str, now: str, at: str) -> Iterator[Difference]:
    """Two texts that differ; where both are JSON and differ in more than spelling, the places in them."""
    one, other = embedded(recorded), embedded(now)
    alike = one is not None and other is not None and type(one) is type(other) and not _same(one, other)
    if alike:
        yield from _differing(one, other, f"{at}#")
    else:
        yield at, recorded, now


def _differing_leaves(recorded: JsonValue, now: JsonValue) -> Iterator[None]:
    """One item for each leaf that differs; all leaves of what is in only one of the two."""
    for _, one, other in _differing(recorded, now, "/"):
        for side in (one, other):
            if not isinstance(side, Missing):
                yield from _leaves(side)


def _lacking_leaves(recorded: JsonValue, now: JsonValue) -> Iterator[None]:
    """One item for each leaf, outside of texts, that is in only one of the two."""
    for _, one, other in _differing(recorded, now, "/", inside=False):
        if isinstance(one, Missing) != isinstance(other, Missing):
            there = other if isinstance(one, Missing) else one
            yield from () if isinstance(there, Missing) else _leaves(there)


def _leaves(value: JsonValue) -> Iterator[None]:
    if isinstance(value, list | dict) and value:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield None


def _same(one: JsonValue | Missing, other: JsonValue | Missing) -> bool:
    """Equal as their canonical JSON is: ``true`` is not 1, and 1 is not 1.0."""
    if isinstance(one, str) or one != other:
        return one == other
    # repr, which is fast, tells sorts apart too; only the order of keys needs the slower look
    return repr(one) == repr(other) or _alike(one, other)


def _alike(one: JsonValue | Missing, other: JsonValue | Missing) -> bool:
    """Whether two equal values are also of the same sorts, all the way down."""
    if isinstance(one, dict) and isinstance(other, dict):
        return all(_alike(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return all(_alike(left, right) for left, right in zip(one, other, strict=True))
    return type(one) is type(other) and (not isinstance(one, float) or repr(one) == repr(other))


def _told(was: JsonValue | Missing, value: JsonValue | Missing, sayable: frozenset[str]) -> RedactedText:
    if isinstance(value, Missing):
        return redaction.missing()
    return redaction.value(value, sayable) if isinstance(was, Missing) else redaction.changed(was, value, sayable)
