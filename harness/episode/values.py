"""The scenario's values that are computed while the episode runs: each resolved once, on first use."""

from __future__ import annotations

import json
from collections.abc import Callable

from harness.scenario import resolve_late, substitute
from harness.schema.base import JsonValue
from harness.schema.process import Completed
from harness.schema.scenario import Scenario

__all__ = ["LateValues", "json_object"]


def json_object(data: bytes) -> dict[str, JsonValue] | None:
    """The JSON object that bytes hold, None where they hold anything else."""
    try:
        value: JsonValue = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _over(args: tuple[str, ...]) -> Completed:  # pragma: no cover  (nobody asks behind the end)
    raise AssertionError(args)


class LateValues:
    """Looks names up in the bound scenario; what was found once stays.

    ``invoke`` calls the control plane; ``answers`` holds the first answer of each kind so far, ``shown`` every
    result as it was shown; ``prompt`` is the user message, known once it was made.
    """

    def __init__(
        self,
        scenario: Scenario,
        fixed: dict[str, str],
        invoke: Callable[[tuple[str, ...]], Completed],
    ) -> None:
        self._scenario = scenario
        self._found = dict(fixed)
        self._invoke = invoke
        self._ended: dict[tuple[str, ...], str] = {}
        self.prompt = ""
        self.answers: dict[str, dict[str, JsonValue]] = {}
        self.shown: list[str] = []

    def _plane(self, args: tuple[str, ...]) -> dict[str, JsonValue] | None:
        completed = self._invoke(args)
        self._ended[args] = "timed out" if completed.timed_out else f"ended with exit code {completed.exit_code}"
        return json_object(completed.stdout) if completed.exit_code == 0 else None

    def close(self) -> None:
        """Nothing more is computed; what computed it, the whole world, is let go."""
        self._invoke = _over

    def failed(self, name: str) -> bool:
        """Whether the control-plane call that should have given a late name did not end well."""
        late = self._scenario.late[name]
        return late.plane is not None and not self._ended.get(late.plane, "").endswith(" 0")

    def reason(self, name: str) -> str:
        """Why a declared late name has no value, in our words only."""
        late = self._scenario.late[name]
        if late.prompt is not None:
            return "its pattern matches nothing in the user message"
        if late.shown is not None:
            return "its pattern matches nothing that was shown so far"
        at = f"has no text at {late.at or 'its root'}"
        if late.plane is not None:
            ended = self._ended.get(late.plane, "was not made")
            return f"its control-plane call {ended}" + (f" and {at}" if ended.endswith(" 0") else "")
        return f"no answer of kind {late.answer!r} came so far, or it {at}"

    def lookup(self, name: str) -> str | None:
        """The value of a declared name, None where there is none (yet)."""
        if name in self._found:
            return self._found[name]
        late = self._scenario.late.get(name)
        if late is None:
            return None
        value = resolve_late(late, prompt=self.prompt, answer=self.answers.get, plane=self._plane, shown=self.shown)
        if value is not None and late.shown is None:
            self._found[name] = value
        return value

    def put(self, name: str, text: str) -> None:
        """Make a name known that the scenario does not declare."""
        self._found[name] = text

    def missing(self, text: str) -> tuple[str, ...]:
        """Declared late names in a text that cannot be resolved now, in order."""
        absent: list[str] = []

        def look(name: str) -> str | None:
            found = self.lookup(name)
            if found is None and name in self._scenario.late and name not in absent:
                absent.append(name)
            return found

        substitute(text, look)
        return tuple(absent)

    def fill(self, text: str) -> str:
        """The text with every resolvable name replaced."""
        return substitute(text, self.lookup)
