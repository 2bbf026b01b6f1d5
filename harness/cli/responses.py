"""What a person says to episodes of a run that wait: checked all together, and recorded all or none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from harness.cli.answers import parse_answers
from harness.cli.decisions import parse_decisions
from harness.cli.output import note
from harness.cli.spoken_to import Holder, spoken_to
from harness.errors import DecisionRefusedError, OpeningRefusedError, UsageError
from harness.receipt import read_run
from harness.schema.record import Decision

__all__ = ["Held", "Responses"]

_Recorder = Callable[[], object]


class Held:
    """Episodes that nobody else can drive, answer or decide about until ``record`` or ``release`` was called."""

    def __init__(self, stack: ExitStack, recorders: Sequence[_Recorder], places: Sequence[tuple[str, str]]) -> None:
        """``places`` are keys of episodes, each with how the command line calls it."""
        self._stack, self._recorders, self._places = stack, recorders, places

    def refuse_left_out(self, played: Collection[str]) -> None:
        """Raise UsageError for an episode whose key is not among those that are played now."""
        left_out = [told for key, told in self._places if key not in played]
        if left_out:
            raise UsageError(
                f"{', '.join(left_out)}: the episode is not gone on with, for what it plays changed since; "
                "nothing is recorded"
            )

    def record(self) -> None:
        """Record what was said to each of them, and let them go. Raises UsageError where that cannot be written."""
        try:
            for recorder in self._recorders:
                recorder()
        except (OpeningRefusedError, DecisionRefusedError) as error:
            raise UsageError(f"what was said to an episode cannot be recorded: {error}") from None
        finally:
            self.release()

    def release(self) -> None:
        """Let them go; idempotent."""
        self._stack.close()


@dataclass(frozen=True, slots=True)
class Responses:
    """Answers and decisions, each with what the command line calls its episode."""

    answers: tuple[tuple[str, str], ...] = ()
    decisions: tuple[tuple[str, Decision, bytes | None], ...] = ()

    @classmethod
    def of(cls, run: Path | None, answers: Sequence[str], decisions: Sequence[str]) -> Self:
        """What the command line says. Raises UsageError, also where it names no ``run`` that is gone on with."""
        if run is None and answers:
            raise UsageError("--answer goes beside --resume RUN: it answers an episode of a run that waits")
        if run is None and decisions:
            raise UsageError("--decide goes beside --resume RUN: it decides about an episode of a run that waits")
        return cls(parse_answers(answers), parse_decisions(decisions))

    @contextmanager
    def held(self, run: Path | None) -> Iterator[Held]:
        """Hold every episode of the run that something is said to.

        Raises UsageError that tells all that is wrong with any of it, StoreError for what is no run.
        """
        with ExitStack() as stack:
            if run is None or not (self.answers or self.decisions):
                yield Held(stack, [], [])
            else:
                yield self._hold(stack, run)

    def _hold(self, stack: ExitStack, run: Path) -> Held:
        view = read_run(run)
        said = spoken_to(view, run, self._said(run))
        recorders: list[_Recorder] = []
        problems: list[str] = []
        refused: list[str] = []
        for one in said:
            try:
                recorders.append(stack.enter_context(one.hold(view.receipts[one.number - 1].key)))
            except OpeningRefusedError as error:
                problems.append(f"{one.told}: the episode takes no answer: {error}")
            except (DecisionRefusedError, ValueError) as error:
                (refused if one.is_of_all else problems).append(f"{one.told}: {error}")
        if problems or (refused and not recorders):
            raise UsageError("; ".join(problems or refused))
        for problem in refused:
            note(f"harness: {problem}; it waits on")
        return Held(stack, recorders, [(view.receipts[one.number - 1].key, one.told) for one in said])

    def _said(self, run: Path) -> Iterator[tuple[str, str, Holder]]:
        # they take the loop, which no help waits for
        from harness.wiring.waiting import held_for_answer, held_for_decision  # noqa: PLC0415

        for who, text in self.answers:
            yield "--answer", who, partial(held_for_answer, run, text=text)
        for who, word, printed in self.decisions:
            yield "--decide", who, partial(held_for_decision, run, decision=word, printed=printed)
