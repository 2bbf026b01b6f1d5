"""Whether a scenario allows more than its episodes need: places that may be written, values that may differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from os.path import commonpath
from typing import Final

from harness.schema.base import JsonValue, canonical_json
from harness.schema.check import CheckFinding
from harness.schema.pointer import Missing, pointer
from harness.schema.scenario import Scenario
from harness.schema.trace import EpisodeTrace

__all__ = ["too_wide"]

_UNWRITTEN: Final = "nothing that was played writes there"
_UNANSWERED: Final = "no answer has it"
#: What is said of a place that is not needed at all.
_UNUSED: Final = frozenset({_UNWRITTEN, _UNANSWERED})
#: Fewer values than these may be the same by chance: a time in seconds, of episodes that are faster.
_ENOUGH: Final = 4


def too_wide(scenario: Scenario, traces: Sequence[EpisodeTrace], *, shared: bool = False) -> list[CheckFinding]:
    """Findings about ``boundary`` and ``call.volatile``, held against all that was played.

    A place is allowed for nothing if nothing is written there; ``dir/**`` allows too much if all that is written lies
    deeper, or is one file. A volatile value hides something if no answer has it, if it is an object or an array, if a
    check looks there, or if it is the same in every episode. What is ``shared`` with other scenarios of the file may be
    for them, where it is not needed here.
    """
    if not traces:
        return []
    found = [*_writes(scenario, traces), *_volatile(scenario, traces)]
    return [one for one in found if not (shared and one.what in _UNUSED)]


def _writes(scenario: Scenario, traces: Sequence[EpisodeTrace]) -> Iterator[CheckFinding]:
    bound = traces[0].bound.boundary
    for by, said, real in (
        ("control_plane", scenario.boundary.plane_writes, bound.plane_writes),
        ("tool", scenario.boundary.tool_writes, bound.tool_writes),
    ):
        changed = sorted({one.path for trace in traces for one in trace.changes if one.by == by})
        files = [path for path in changed if not any(other.startswith(f"{path}/") for other in changed)]
        for name, pattern in zip(said, real, strict=True):
            below = pattern.removesuffix("/**")
            here = [path for path in files if path == below or (pattern != below and path.startswith(f"{below}/"))]
            what, todo = _of_pattern(pattern, here)
            if what is not None:
                yield CheckFinding(scenario=scenario.id, what=what, where=f"write {name}", todo=todo)


def _of_pattern(pattern: str, written: Sequence[str]) -> tuple[str | None, str]:
    if not written:
        return _UNWRITTEN, "remove it from [boundary], or add a script that writes there"
    if not pattern.endswith("/**"):
        return None, ""
    if len(written) == 1:
        return f"it allows more than is written: {written[0]} is all", "name that file in [boundary]"
    shared = commonpath([path.rpartition("/")[0] for path in written])
    if shared != pattern.removesuffix("/**"):
        return f"it allows more than is written: all of it is below {shared}", "name that folder in [boundary]"
    return None, ""


def _volatile(scenario: Scenario, traces: Sequence[EpisodeTrace]) -> Iterator[CheckFinding]:
    if scenario.call is None:
        return
    looked_at = list(chain.from_iterable(check.answer for check in scenario.check))
    for at in scenario.call.volatile:
        what = _hides(at, looked_at, _values(at, traces))
        if what is not None:
            todo = "name only the single values that differ between equal runs in call.volatile"
            yield CheckFinding(scenario=scenario.id, what=what, where=f"volatile {at}", todo=todo)


def _values(at: str, traces: Sequence[EpisodeTrace]) -> list[JsonValue]:
    """The value there in the first answer of each episode that has one."""
    found: list[JsonValue] = []
    for trace in traces:
        answers = (step.observation.answer for step in trace.steps if step.observation is not None)
        values = (pointer(answer, at) for answer in answers if answer is not None)
        found.extend(islice((value for value in values if not isinstance(value, Missing)), 1))
    return found


def _hides(at: str, looked_at: Sequence[str], values: Sequence[JsonValue]) -> str | None:
    check = next((one for one in looked_at if f"{one}/".startswith(f"{at}/")), None)
    if check is not None:
        return f"what may differ is what a check looks at: {check}"
    if not values:
        return _UNANSWERED
    if any(isinstance(value, dict | list) for value in values):
        return "all that is in it may differ, for it is no single value"
    if len(values) >= _ENOUGH and len({canonical_json(value) for value in values}) == 1:
        return "it is the same in every episode"
    return None
