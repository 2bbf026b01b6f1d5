"""What ``harness history diff`` tells, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from harness.cli.gaps_told import points
from harness.cli.output import folded, harmless
from harness.cli.rates_told import line
from harness.schema.changes import ActorChanges, Counts, PlaceChange, PlaceKind, RunChanges, Shift
from harness.schema.counting import counted
from harness.schema.money import told_usd

__all__ = ["changes_told"]

#: So many scenarios are named of each kind.
_MOST: Final = 20
#: So many keys of a scenario are named that are other ones.
_PARTS: Final = 3
_LABELS: Final[dict[PlaceKind, str]] = {
    "new_fail": "fails now",
    "worse": "worse",
    "fixed": "fixed",
    "better": "better",
    "not_judged": "not judged",
    "judged": "judged more",
    "changed": "other text",
    "added": "added",
    "removed": "not played",
}


def changes_told(found: RunChanges) -> str:
    """Both runs, then each actor with what is different, a line each."""
    head = [
        f"{label} {harmless(side.run)} ({side.created_at[:16].replace('T', ' ')}"
        f"{'' if side.state == 'complete' else f', {side.state}'})"
        for label, side in (("before:", found.before), ("now:   ", found.now))
    ]
    return "\n\n".join(["\n".join(map(folded, head)), *("\n".join(_actor(one)) for one in found.actors)])


def _actor(one: ActorChanges) -> Iterator[str]:
    name = harmless(f"{one.actor} on {one.plane}" if one.plane else one.actor)
    if one.before is None or one.now is None:
        there = "is new" if one.before is None else "does not play any more"
        yield folded(f"{name} {there}: {_passed(one.now or one.before)}")
        return
    yield folded(f"{name}: {_passed(one.now)}, {_passed(one.before)} before")
    lines = [*_places(one), *_moved(one), *_rate(one), *_shifts(one)]
    yield from lines or [line("as before", f"{counted(one.alike, 'scenario')}, but for what chance explains")]


def _passed(counts: Counts | None) -> str:
    if counts is None:
        return "nothing"
    left_out = sum(counts.not_judged.values())
    more = f" and {left_out} not judged" if left_out else ""
    return f"{counts.passes:,} of {counts.n:,} passed{more}"


def _places(one: ActorChanges) -> Iterator[str]:
    for kind, label in _LABELS.items():
        places = [place for place in one.places if kind in place.kinds]
        for place in places[:_MOST]:
            aside = " (in quarantine)" if place.set_aside else ""
            yield line(label, f"{place.scenario}{aside}{_ABOUT[kind](place)}")
        if len(places) > _MOST:
            yield line(label, f"and {len(places) - _MOST} more; --format json has all of them")


def _rates(place: PlaceChange) -> str:
    """Of one trial its verdict is all there is to say."""
    now, before = place.now, place.before
    if now is None or before is None:
        return ""
    codes = ", ".join(now.codes)
    why = f"; {codes}" if codes else ""
    if now.n == before.n == 1:
        chance = "" if place.is_sure else "one trial may differ by chance"
        told = "; ".join(filter(None, (codes, chance)))
        return f": {told}" if told else ""
    chance = "" if place.is_sure else "; so few trials may differ as much by chance"
    return f": passed {now.passes} of {now.n}, {before.passes} of {before.n} before{why}{chance}"


def _judged(place: PlaceChange) -> str:
    now, before = place.now or Counts(passes=0, n=0), place.before or Counts(passes=0, n=0)
    causes = Counter(now.not_judged) - Counter(before.not_judged) or Counter(before.not_judged)
    total, was = sum(now.not_judged.values()), sum(before.not_judged.values())
    told = ", ".join(cause.replace("_", " ") for cause in causes)
    return f": {counted(total, 'trial')} not judged, {was} before ({told})"


def _another(place: PlaceChange) -> str:
    named = ", ".join(place.parts[:_PARTS]) + (" and others" if len(place.parts) > _PARTS else "")
    what = f"other {named}" if named else "its text, or how it is judged, is another one"
    return f": {what}; {_passed(place.now)}, {_passed(place.before)} before"


def _one_side(place: PlaceChange) -> str:
    return f": {_passed(place.now or place.before)}{'' if place.now else ' before'}"


_ABOUT: Final[dict[PlaceKind, Callable[[PlaceChange], str]]] = {
    **dict.fromkeys(("new_fail", "worse", "fixed", "better"), _rates),
    **dict.fromkeys(("not_judged", "judged"), _judged),
    "changed": _another,
    **dict.fromkeys(("added", "removed"), _one_side),
}


def _moved(one: ActorChanges) -> Iterator[str]:
    for what, label, sides in (
        ("model", "model", one.models),
        ("fingerprint", "fingerprint", one.fingerprints),
        ("plane", "plane", one.planes),
    ):
        if what in one.moved:
            before, now = (", ".join(map(harmless, side)) for side in sides)
            told = f"now {now}; before {before}" if now != before else f"{now}, of another wheel than before"
            yield line(label, told)
    if "actor" in one.moved:
        yield line("actor", "its settings, its address or its script are other ones")


def _rate(one: ActorChanges) -> Iterator[str]:
    if one.finding is None or one.rate is None:
        return
    low, high = points(one.rate)
    side, near, far = ("less", -high, -low) if one.finding == "worse" else ("more", low, high)
    # two methods look at it: the interval of one may reach a little beyond no difference
    yield line(
        "rate",
        f"it passes {side} often than before, by {max(0, near)} to {far} points of 100 over "
        f"{counted(one.rate.scenarios, 'scenario')}: more than chance explains",
    )


def _shifts(one: ActorChanges) -> Iterator[str]:
    if one.usd is not None and one.usd.is_beyond:
        yield line("cost", f"{told_usd(one.usd.now)} an episode, {told_usd(one.usd.before)} before{_times(one.usd)}")
    if one.seconds is not None and one.seconds.is_beyond:
        told = f"half within {one.seconds.now:.2f} s, within {one.seconds.before:.2f} s before{_times(one.seconds)}"
        yield line("time", told)


def _times(one: Shift) -> str:
    less, larger = sorted((one.before, one.now))
    if not less:
        return ": more than chance explains"
    which = ": " if one.now > one.before else ", which was "
    return f"{which}{larger / less:.1f} times as much; more than chance explains"
