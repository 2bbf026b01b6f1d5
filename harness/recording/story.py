"""What drifted as a person is told it: causes first, and what only follows from them in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from harness.recording.matching import LINE
from harness.recording.parts import ORDER, PARTS
from harness.schema.counting import worded
from harness.schema.receipt import Finding, RedactedText
from harness.schema.recording import Drift, Stale, Wording

__all__ = ["Change", "Place", "Story", "drifts_in", "part_names", "story"]

#: Parts of a scenario, or places of one change, that are told one by one.
_SHOWN: Final = 8

_WHAT: Final[dict[Stale, str]] = {
    "scenario": "the scenario changed",
    "prompt": "the prompt changed",
    "tools": "the tools changed",
    "plane_version": "the control plane is another version",
    "plane_answer": "the control plane answered differently",
    "settings": "the actor's settings changed",
    "classifier": "the classifiers changed",
    "request": "the model was asked something else",
    "extra_request": "there was one request more than the recording has",
    "reply": "a recorded reply is not one that the episode can go on from",
    "not_asked": "a recorded request was not asked",
}
_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS: Final = ("", "a first", "a second", "a third", "a fourth", "a fifth", "a sixth", "a seventh", "an eighth")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something differs, and both sides as far as they may be told; ``pointer`` None: no place is known."""

    pointer: str | None
    recorded: RedactedText | None = None
    now: RedactedText | None = None
    wording: Wording | None = None

    @property
    def sides(self) -> tuple[tuple[str, str], ...]:
        """Each side that is known with its name; the words where there are some."""
        if self.wording is not None:
            return ("recorded", f"“{self.wording.recorded}”"), ("now", f"“{self.wording.now}”")
        both = (("recorded", self.recorded), ("now", self.now))
        return tuple((name, text) for name, text in both if text is not None)


@dataclass(frozen=True, slots=True)
class Change:
    """One cause: what changed in a sentence, where, and how many more places are not told."""

    stale: Stale
    what: str
    places: tuple[Place, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Story:
    """Causes, and one sentence about what follows from them; ``unworded``: texts differ whose words are not here."""

    changes: tuple[Change, ...]
    follows: str | None = None
    unworded: bool = False


def drifts_in(findings: Iterable[Finding]) -> tuple[Drift, ...]:
    """The drifts that a receipt tells, in its order."""
    return tuple(
        Drift.model_validate(
            {
                "stale": finding.code.removeprefix("stale_"),
                "step": finding.step,
                "exchange": finding.exchange,
                "pointer": finding.pointer,
                "recorded": finding.expected,
                "now": finding.got,
            }
        )
        for finding in findings
        if finding.check == "drift"
    )


def story(drifts: Sequence[Drift]) -> Story:
    """Causes in their order. What is only met because of them, and what is met no more, is no cause of its own."""
    causes = [drift for drift in drifts if not _is_end(drift)]
    if not causes:
        return Story(tuple(_ended(drifts)))
    frozen = [drift for drift in causes if drift.stale != "extra_request" and not _is_more(drift)]
    told, details, echoes = _asked(frozen or causes)
    words = {(echo.pointer or "").partition("#")[2]: echo.wording for echo in echoes}
    groups = groupby(told, key=lambda one: (one.stale, one.exchange, one.step))
    changes = [_change([*group], details, words) for _, group in groups]
    ends = [drift for drift in drifts if _is_end(drift)]
    more = [drift for drift in causes if drift not in frozen] if frozen else []
    shown = [place for change in changes if change.stale in {"prompt", "tools", "request"} for place in change.places]
    unworded = any(place.wording is None and (place.now or "").startswith("text of ") for place in shown)
    return Story(tuple(changes), _follows(echoes, ends, more), unworded)


def _is_end(drift: Drift) -> bool:
    """Something recorded that this episode did not come to."""
    return drift.stale == "not_asked" or (
        drift.stale == "plane_answer" and drift.pointer is None and drift.now is not None
    )


def _is_more(drift: Drift) -> bool:
    return drift.stale == "plane_answer" and drift.pointer is None and drift.recorded is not None


def _asked(causes: Sequence[Drift]) -> tuple[list[Drift], dict[Stale, list[Drift]], list[Drift]]:
    """The causes; of each changed prompt and tools the places in the request; requests that only repeat an answer."""
    there = {drift.stale for drift in causes}
    answered = [drift.pointer for drift in causes if drift.stale == "plane_answer" and drift.pointer is not None]
    told: list[Drift] = []
    details: dict[Stale, list[Drift]] = {}
    echoes: list[Drift] = []
    for drift in causes:
        part: Stale = "tools" if (drift.pointer or "").startswith("/tools") else "prompt"
        if drift.stale != "request":
            told.append(drift)
        elif part in there and not (drift.pointer or "").startswith(LINE):
            details.setdefault(part, []).append(drift)
        elif _repeats(drift.pointer or "", answered):
            echoes.append(drift)
        else:
            told.append(drift)
    return told, details, echoes


def _repeats(pointer: str, answered: Iterable[str]) -> bool:
    """Whether a place in a request is one of those in an answer that the request passes on."""
    _, passed_on, inner = pointer.partition("#")
    return any(inner == at if passed_on else at == "" for at in answered)


def _change(group: list[Drift], details: dict[Stale, list[Drift]], words: dict[str, Wording | None]) -> Change:
    """``words`` are those of an answer, by their places in it, as the next request passed them on."""
    first = group[0]
    what = _WHAT[first.stale]
    if first.stale == "scenario":
        return _of_scenario(group)
    if first.stale == "extra_request":
        return Change(first.stale, _extra(first))
    if _is_more(first):
        return Change(first.stale, f"the control plane was called once more than the recording has, step {first.step}")
    where = "" if first.step is None else f", step {first.step}"
    where += "" if first.exchange is None else f", exchange {first.exchange}"
    # places in a request say more than digests over what it is made of
    drifts = details.get(first.stale, group)
    lent = words if first.stale == "plane_answer" else {}
    places = tuple(
        Place(one.pointer, one.recorded, one.now, one.wording or lent.get(one.pointer or "")) for one in drifts
    )
    return Change(first.stale, f"{what}{where}", places[:_SHOWN], max(0, len(places) - _SHOWN))


def _of_scenario(group: list[Drift]) -> Change:
    parts = [drift for drift in group if (drift.pointer or "").startswith(f"{PARTS}/")]
    others = tuple(Place(one.pointer, one.recorded, one.now) for one in group if one not in parts)
    names = part_names(parts)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    listed = f": {', '.join(names[:_SHOWN])}{more}" if names else ""
    return Change("scenario", f"{_WHAT['scenario']}{listed}", others)


def part_names(drifts: Iterable[Drift]) -> tuple[str, ...]:
    """Parts of a scenario that changed as they are called, each with whether it came or went."""
    return tuple(map(_part, drifts))


def _part(drift: Drift) -> str:
    name = (drift.pointer or "").removeprefix(f"{PARTS}/").replace("~1", "/").replace("~0", "~")
    words = "the order of kind" if name == ORDER else name
    return (
        f"{words} (added)" if drift.recorded is not None else f"{words} (removed)" if drift.now is not None else words
    )


def _extra(drift: Drift) -> str:
    recorded, now = (int(text) if text is not None and text.isdecimal() else 0 for text in (drift.recorded, drift.now))
    if not now:
        return _WHAT["extra_request"]
    which = _ORDINALS[now] if now < len(_ORDINALS) else f"request {now}"
    return f"{which}{' request' if now < len(_ORDINALS) else ''}; the recording has {_number(recorded)}"


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _ended(drifts: Sequence[Drift]) -> Iterable[Change]:
    """Where nothing else differs, that something was not met is the cause itself."""
    exchanges, steps = _ends(drifts)
    if exchanges:
        requests = worded(len(exchanges), "request was", "requests were")
        yield Change("not_asked", f"the recorded {requests} not asked: {_named('exchange', exchanges)}")
    if steps:
        yield Change("plane_answer", f"the control plane was not called: {_named('step', steps)}")
    if drifts and not exchanges and not steps:
        yield Change(drifts[0].stale, _WHAT[drifts[0].stale])


def _ends(drifts: Iterable[Drift]) -> tuple[list[int], list[int]]:
    ends = [*drifts]
    exchanges = sorted({drift.exchange for drift in ends if drift.exchange is not None})
    return exchanges, sorted({drift.step for drift in ends if drift.step is not None})


def _follows(echoes: Sequence[Drift], ends: Sequence[Drift], more: Sequence[Drift]) -> str | None:
    told = []
    passed = sorted({drift.exchange for drift in echoes if drift.exchange is not None})
    exchanges, steps = _ends(ends)
    exchanges = [number for number in exchanges if number not in passed]
    if passed:
        told.append(f"{_named('exchange', passed)} passed it on")
    unmet = [_named(noun, numbers) for noun, numbers in (("exchange", exchanges), ("step", steps)) if numbers]
    if unmet:
        plural = len(exchanges) + len(steps) > 1
        told.append(f"{' and '.join(unmet)} {'were' if plural else 'was'} not reached")
    told += [f"there was {_extra(one)}" for one in more if one.stale == "extra_request"]
    told += [f"step {one.step} is one more than the recording has" for one in more if one.stale == "plane_answer"]
    return f"so {', and '.join(told)}" if told else None


def _named(noun: str, numbers: Sequence[int]) -> str:
    """``exchange 1``, ``exchanges 2 and 3``, ``exchanges 2 to 9``."""
    if len(numbers) == 1:
        return f"{noun} {numbers[0]}"
    between = "and" if len(numbers) == 2 else "to"  # noqa: PLR2004  (a pair)
    return f"{noun}s {numbers[0]} {between} {numbers[-1]}"
