"""Both sides of the wire: what was sent to the control plane, and what its own log says that it got."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import Field

from harness.schema.base import canonical_json
from harness.schema.classifier import CallEvidence, Evidence, ReceivedCall, SettingProblem, Violation
from harness.schema.judging import Classifier
from harness.schema.name import Code
from harness.schema.scenario import Scenario
from harness.schema.verdict import Cause

__all__ = ["CLASSIFIER", "TwoSided"]

_SAME = "the call as it was sent"
_LOGGED = "a call in the log of the control plane"
_SENT = "only calls that were sent"
_LOG = "a log of the control plane"
_CAME_TO = "the same outcome in the log"


class TwoSided(Classifier):
    """The operations that were called are those that the control plane's log tells, in the same order.

    Calls that ended with an error of ``unlogged`` did not get as far as the log. ``lost``: sent, and not in the log;
    ``altered``: in the log with another operation, arguments or outcome; ``unsent``: in the log, and sent by nobody;
    ``silent``: there is no log. Of calls that were made before an episode was gone on with, the log may lack the last.
    """

    grounds: ClassVar[tuple[str, ...]] = ("lost", "altered", "unsent", "silent")
    cause: ClassVar[Cause] = "control_plane"

    unlogged: tuple[Code, ...] = Field(default=(), max_length=64)

    def problems(self, scenario: Scenario) -> Sequence[SettingProblem]:
        """A scenario without an operation of its control plane."""
        if scenario.plane_tools:
            return ()
        text = "no tool is an operation of the control plane"
        return (SettingProblem(at=(), text=text, allowed="a scenario with such a tool"),)

    def phrases(self) -> Sequence[str]:
        """What was wanted."""
        return (_SAME, _LOGGED, _SENT, _LOG, _CAME_TO)

    def classify(self, evidence: Evidence) -> Sequence[Violation]:
        """The first place at which both sides part: what follows it would only follow from it."""
        if evidence.received is None:
            return (Violation(ground="silent", expected=_LOG, missing=True),)
        sent = [
            call
            for call in evidence.calls
            if call.reached_plane and call.operation is not None and call.error not in self.unlogged
        ]
        return tuple(self._parting(_logged(sent, len(evidence.received)), evidence.received))[:1]

    @staticmethod
    def _parting(sent: Sequence[CallEvidence], received: Sequence[ReceivedCall]) -> Iterator[Violation]:
        for place, call in enumerate(sent):
            if place == len(received):
                yield Violation(ground="lost", steps=(call.step,), expected=_LOGGED)
                return
            logged = received[place]
            if not _same(call, logged):
                following = received[place + 1] if place + 1 < len(received) else None
                if following is not None and _same(call, following) and len(received) > len(sent):
                    yield Violation(ground="unsent", steps=(call.step,), expected=_SENT)
                elif len(received) < len(sent) and place + 1 < len(sent) and _same(sent[place + 1], logged):
                    yield Violation(ground="lost", steps=(call.step,), expected=_LOGGED)
                else:
                    yield Violation(ground="altered", steps=(call.step,), expected=_SAME)
                return
            if (logged.error is None) != call.ended_well:
                yield Violation(ground="altered", steps=(call.step,), expected=_CAME_TO)
                return
        if len(received) > len(sent):
            yield Violation(ground="unsent", steps=(sent[-1].step,) if sent else (), expected=_SENT)


def _logged(sent: Sequence[CallEvidence], rows: int) -> Sequence[CallEvidence]:
    """The calls that a log of so many rows should tell.

    Where an episode was gone on with its world was put back to the last state that differed, and so was the log: of
    the calls before, it lacks those that came after that.
    """
    before = [call for call in sent if call.replayed]
    after = [call for call in sent if not call.replayed]
    return (*before[: max(rows - len(after), 0)], *after)


def _same(call: CallEvidence, logged: ReceivedCall) -> bool:
    return call.operation == logged.operation and canonical_json(call.arguments) == canonical_json(logged.arguments)


CLASSIFIER = TwoSided
