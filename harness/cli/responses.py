"""What a person says to episodes of a run that wait: checked all together, and recorded all or none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from harness.cli.answers import parse_answers
from harness.cli.decisions import parse_decisions
from harness.errors import DecisionRefusedError, OpeningRefusedError, UsageError
from harness.receipt import read_run
from harness.schema.counting import counted
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
    """Answers and decisions by the numbers of episodes, from 1, in the summary of their run."""

    answers: tuple[tuple[int, str], ...] = ()
    decisions: tuple[tuple[int, Decision, bytes | None], ...] = ()

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
            recorders, places = self._hold(stack, run) if run is not None and self._numbers else ([], [])
            yield Held(stack, recorders, places)

    @property
    def _numbers(self) -> list[tuple[str, int]]:
        answered = [("--answer", number) for number, _ in self.answers]
        return [*answered, *(("--decide", number) for number, _, _ in self.decisions)]

    def _hold(self, stack: ExitStack, run: Path) -> tuple[list[_Recorder], list[tuple[str, str]]]:
        receipts = read_run(run).receipts
        problems = [
            f"{option} {number}: {run} has {counted(len(receipts), 'episode')}"
            for option, number in self._numbers
            if not 1 <= number <= len(receipts)
        ]
        numbers = [number for _, number in self._numbers]
        problems += [
            f"episode {number} is spoken to {numbers.count(number)} times; say one thing to it"
            for number in dict.fromkeys(numbers)
            if numbers.count(number) > 1
        ]
        if problems:
            raise UsageError("; ".join(problems))
        recorders: list[_Recorder] = []
        places = [(receipts[number - 1].key, f"{option} {number}") for option, number in self._numbers]
        for (_, told), held in zip(places, self._holders(run, [key for key, _ in places]), strict=True):
            try:
                recorders.append(stack.enter_context(held))
            except OpeningRefusedError as error:
                problems.append(f"{told}: the episode takes no answer: {error}")
            except (DecisionRefusedError, ValueError) as error:
                problems.append(f"{told}: {error}")
        if problems:
            raise UsageError("; ".join(problems))
        return recorders, places

    def _holders(self, run: Path, keys: Sequence[str]) -> Iterator[AbstractContextManager[_Recorder]]:
        # they take the loop, which no help waits for
        from harness.wiring.waiting import held_for_answer, held_for_decision  # noqa: PLC0415

        of_answers, of_decisions = keys[: len(self.answers)], keys[len(self.answers) :]
        for key, (_, text) in zip(of_answers, self.answers, strict=True):
            yield held_for_answer(run, key, text)
        for key, (_, word, printed) in zip(of_decisions, self.decisions, strict=True):
            yield held_for_decision(run, key, word, printed)
