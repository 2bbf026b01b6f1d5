"""An actor that walks at random over what scripts, tools and grammar offer, looking for what must never be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

from harness.errors import InputError, UsageError
from harness.schema.base import JsonValue, canonical_json
from harness.schema.check import CheckFinding, DeepCount
from harness.schema.outcome import REASONS
from harness.schema.receipt import Receipt
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.script import Action, Script
from harness.suite.effects import Effects
from harness.suite.playing import Play, Played, ending, play_script

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["check_walks", "require_walker"]

#: How many times the walks asked for may be played at most to make a walk that was found shorter.
_SHORTENING: Final = 2
#: Longest text of a walk that is told, in characters.
_TOLD: Final = 800


def require_walker() -> None:
    """Raises UsageError where the library that walks is not installed."""
    try:
        import hypothesis  # noqa: F401, PLC0415
    except ImportError:
        raise UsageError("walks need hypothesis; type: pip install 'behavior-harness[walk]'") from None


@dataclass(slots=True)
class _Walker:
    """Plays each walk once and remembers what was wrong with it."""

    play: Play
    loaded: LoadedScenario
    right: Sequence[Effects]
    most: int
    known: dict[str, str | None] = field(default_factory=dict)

    def complaint(self, script: Script) -> str | None:
        """What must not be in the episode of that script; None where nothing is, and where enough was played."""
        key = _text(script)
        if key not in self.known:
            if len(self.known) >= self.most:
                return None
            self.known[key] = _complaint(self.loaded.scenario, self._played(script), self.right)
        return self.known[key]

    def _played(self, script: Script) -> Played | str:
        try:
            return play_script(self.play, self.loaded, "walk", script)
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001  (a crash is what a walk looks for)
            return type(error).__name__


def check_walks(
    play: Play, loaded: LoadedScenario, passing: Sequence[Played], count: int
) -> tuple[DeepCount, list[CheckFinding]]:
    """Play ``count`` walks, the same ones each time; of a walk that finds something the shortest form is told.

    Looked for are a crash, a call that runs though no rule names it or an ending without a code, a pass with facts or
    changes that no right script has, and a change that the scenario does not allow.
    """
    from hypothesis import HealthCheck, Phase, find, settings  # noqa: PLC0415
    from hypothesis.errors import NoSuchExample  # noqa: PLC0415

    from harness.suite.steps import walks  # noqa: PLC0415

    traces = [one.trace for one in passing if one.trace is not None]
    right = [Effects.of(one.receipt, one.trace) for one in passing if one.trace is not None]
    walker = _Walker(play, loaded, right, most=count)

    def is_found(script: Script) -> bool:
        if any(walker.known.values()):
            walker.most = count * _SHORTENING
        return walker.complaint(script) is not None

    how = settings(
        max_examples=count,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    strategy: SearchStrategy[Script] = walks(loaded.scenario, traces)
    try:
        shortest = find(strategy, is_found, settings=how)
    except NoSuchExample:
        return DeepCount(played=len(walker.known)), []
    finding = CheckFinding(
        scenario=loaded.scenario.id,
        what=f"{walker.complaint(shortest)}, after {_text(shortest)[:_TOLD]}",
        where=f"walk of {len(shortest)}",
        todo="play it as a script; correct the rule, the check or the boundary that lets it pass",
    )
    return DeepCount(played=len(walker.known)), [finding]


def _complaint(scenario: Scenario, played: Played | str, right: Sequence[Effects]) -> str | None:
    if isinstance(played, str):
        return f"the harness crashes ({played})"
    receipt = played.receipt
    if receipt.cause == "harness":
        return f"the harness fails: {ending(played.result)}"
    changed = [one.path for one in played.trace.changes if not one.allowed] if played.trace is not None else []
    if changed:
        return f"it changes what the scenario does not allow: {changed[0]}"
    return _unclassified(scenario, receipt) or _by_accident(played, right)


def _unclassified(scenario: Scenario, receipt: Receipt) -> str | None:
    if any(step.executed and step.kind is None for step in receipt.steps):
        return "a call runs that no rule names"
    known = {*scenario.codes, *chain.from_iterable(REASONS.values())}
    if receipt.verdict == "fail" and receipt.failure_code not in known:
        return f"it fails with a code that nobody declares: {receipt.failure_code}"
    return None


def _by_accident(played: Played, right: Sequence[Effects]) -> str | None:
    """A pass with facts or changes that no right script has; what the control plane holds may be worded otherwise."""
    if not played.passed or played.trace is None:
        return None
    effects = Effects.of(played.receipt, played.trace)
    if any((one.facts, one.changes) == (effects.facts, effects.changes) for one in right):
        return None
    return f"it passes by accident: {effects.unlike(right[0]) if right else 'no script passes'}"


def _text(script: Script) -> str:
    return canonical_json([_said(action) for action in script])


def _said(action: str | Action) -> JsonValue:
    if isinstance(action, str):
        return action
    told: JsonValue = action.model_dump(mode="json", exclude_defaults=True)
    return told
