"""What runs come to by a policy, alone or against a baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, ParamSpec, Self, TypeVar

import click

from harness import qualification, wiring
from harness.cli import decision_told
from harness.cli.early import refuse_cut_short
from harness.cli.exit_codes import ExitCode, gravest
from harness.cli.grouped import in_order, keep, kept
from harness.cli.judged_runs import JudgedTrials, beside, read_whole, trials_by_actor
from harness.cli.options import NONE
from harness.errors import UsageError
from harness.qualification.agreement import refuse_other_judges
from harness.qualification.deciding import Candidate, decide
from harness.schema.base import JsonValue
from harness.schema.comparison import Contender
from harness.schema.decision import Decision, Demand
from harness.schema.policy import Policy
from harness.schema.qualification import Trial
from harness.schema.run import EpisodeJob, Manifest, RunView, ScenarioSummary
from harness.wiring.policy_file import demands, read_policy

__all__ = ["Judging", "ended", "judging_options"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_BY_ANSWER: Final = {
    "pass": ExitCode.PASSED,
    "fail": ExitCode.FAILED,
    "inconclusive": ExitCode.NOT_ENOUGH_EVIDENCE,
    "not_judged": ExitCode.NOT_JUDGED,
}
#: What receipts alone come to; a policy says better.
_OF_RECEIPTS: Final = {ExitCode.PASSED, ExitCode.FAILED, ExitCode.NOT_JUDGED, ExitCode.PENDING}


@dataclass(frozen=True, slots=True)
class Judging:
    """A policy, the file that it stands in, and the baseline by the name of its folder, where there is one."""

    policy: Policy
    where: str
    baseline: Mapping[str, RunView] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, context: click.Context) -> Self | None:
        """That of a command whose options were read. Raises InputError as ``read`` does."""
        policy, baseline = (kept(context, name) for name in ("policy", "baseline"))
        is_off = policy == Path(NONE)
        return cls.read(*(path if isinstance(path, Path) else None for path in (None if is_off else policy, baseline)))

    @classmethod
    def read(cls, policy: Path | None, baseline: Path | None) -> Self | None:
        """What ``--policy`` and ``--baseline`` name; None without a policy.

        Raises InputError: ConfigError for the file, UsageError where one of both is missing.
        """
        if policy is None:
            if baseline is not None:
                raise UsageError("--baseline is what a policy holds a run against: add --policy FILE")
            return None
        found = read_policy(policy)
        if found.wants_baseline and baseline is None:
            raise UsageError(f"{policy}: says which margin may be lost against a baseline: add --baseline RUN")
        if baseline is None:
            return cls(found, str(policy))
        if not found.wants_baseline:
            raise UsageError(f"{policy}: says no margin, so nothing is held against a baseline; leave --baseline out")
        return cls(found, str(policy), read_whole((baseline,)))

    def refuse(self, name: str, manifest: Manifest, jobs: Iterable[EpisodeJob]) -> None:
        """Before a run is played, by the name to call it by: raise UsageError where it could not be judged."""
        if manifest.early is not None:
            raise UsageError(
                f"{self.where}: a policy's chances hold where the number of trials does not hang on what comes out, "
                "and --early ends by that; leave one of them out (--policy none)"
            )
        self.candidates({name: RunView(manifest=manifest, receipts=(), log=())})
        # what judges is told by receipts, and the run has none yet
        now = {job.loaded.scenario.id: wiring.judged_by(job.loaded) for job in jobs}
        for known, view in self.baseline.items():
            refuse_other_judges(known, view, name, now)

    def decisions(self, runs: Mapping[str, RunView]) -> tuple[Decision, ...]:
        """For each actor of whole runs, by the names to call them by. Raises UsageError."""
        return decide(self.candidates(runs), self.policy)

    def as_text(self, decisions: Sequence[Decision], letters: Mapping[str, str]) -> str:
        """The answers with their reasons; ``letters`` go before names, by run."""
        return decision_told.as_text(
            decision_told.in_words(one, self.policy, self.where, f"{letters[one.run]}{one.actor}") for one in decisions
        )

    def told(self, decisions: Sequence[Decision], name: str, view: RunView) -> RunView:
        """A run, by the name that it was decided about by, with its decisions in words, as reports tell them."""
        several = view.manifest.in_versions
        planes = {
            part: ", ".join(plane.ref for plane in one.manifest.planes if plane.name in several)
            for part, one in qualification.by_version(name, view).items()
        }
        words = tuple(
            decision_told.in_words(one, self.policy, self.where, ", ".join(filter(None, (one.actor, planes[one.run]))))
            for one in decisions
        )
        return view.model_copy(update={"decisions": words})

    def as_rows(self, decisions: Sequence[Decision]) -> Iterator[JsonValue]:
        """A line for each decision."""
        return decision_told.as_rows(self.policy, decisions)

    def as_json(self, decisions: Sequence[Decision]) -> dict[str, JsonValue]:
        """The policy, the decisions, and the names of the methods."""
        return decision_told.as_json(self.policy, self.where, decisions)

    def candidates(self, runs: Mapping[str, RunView]) -> list[Candidate]:
        """Each actor of each run, on each version of its control plane. Raises UsageError."""
        known = {one.manifest.run_id: name for name, one in self.baseline.items()}
        for name, view in runs.items():
            if view.manifest.run_id in known:
                raise UsageError(f"{name} is the same run as its baseline, {known[view.manifest.run_id]}")
        refuse_cut_short(
            {**runs, **self.baseline}, "no policy decides by its rates; decide by a run that was played whole"
        )
        views = beside({**runs, **self.baseline})
        before = {name: view for name, view in views.items() if view.manifest.run_id in known}
        own = {name: view for name, view in views.items() if name not in before}
        asked = {
            view.manifest.run_id: demands(self.policy, view.manifest.scenarios, self.where) for view in runs.values()
        }
        trials, trials_before = trials_by_actor(own), trials_by_actor(before)
        found = []
        for (name, actor), some in trials.items():
            view = own[name]
            against, others = self._against(view, actor, before, trials_before)
            found.append(
                Candidate(
                    run=name,
                    actor=actor,
                    trials=some,
                    demands=tuple(_of(asked[view.manifest.run_id], view.manifest.scenarios)),
                    against=against,
                    baseline=others,
                    set_aside={
                        scenario: f"in quarantine {entry.terms}"
                        for (scenario, who), entry in view.manifest.set_aside.items()
                        if who == actor
                    },
                )
            )
        return found

    def _against(
        self, view: RunView, actor: str, before: Mapping[str, RunView], trials: JudgedTrials
    ) -> tuple[Contender | None, Sequence[Trial]]:
        """Whom an actor is held against: one of the same name on the same control planes, else the only one there."""
        if not before:
            return None, ()
        name = next((name for name, other in before.items() if _planes(other) == _planes(view)), None)
        (baseline,) = self.baseline
        if name is None:
            raise UsageError(f"{baseline} was not played on {', '.join(_planes(view))}, as what is held against it")
        there = [ref for run, ref in trials if run == name]
        if actor not in there and len(there) > 1:
            raise UsageError(
                f"{baseline}: {actor} did not play there, and {', '.join(there)} did: nobody says which of them it is "
                "held against; name a baseline in which one actor played"
            )
        ref = actor if actor in there else there[0]
        return Contender(run=name, actor=ref), trials[name, ref]


def judging_options(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """``--policy`` and ``--baseline``; the verb finds what they say with ``Judging.of``."""
    return in_order(verb, _OPTIONS)


_OPTIONS: Final = (
    click.option(
        "--policy",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        expose_value=False,
        callback=keep,
        help="Decide by what this file demands: pass (0), fail (1), too much not judged (2), not enough evidence (7); "
        "none for no policy.",
    ),
    click.option(
        "--baseline",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="RUN",
        expose_value=False,
        callback=keep,
        help="The run against which the policy's margin holds.",
    ),
)


def ended(codes: set[ExitCode], decisions: Sequence[Decision]) -> ExitCode:
    """What a command ends with: where a policy decided, its answers stand for what receipts say."""
    if not decisions:
        return gravest(codes)
    return gravest({*(codes - _OF_RECEIPTS), *(_BY_ANSWER[one.answer] for one in decisions)})


def _planes(view: RunView) -> list[str]:
    return sorted(plane.ref for plane in view.manifest.planes)


def _of(asked: Sequence[Demand], scenarios: Sequence[ScenarioSummary]) -> Iterator[Demand]:
    """What is asked of a part of a run: what it does not play is asked of another part."""
    there = {one.id for one in scenarios}
    for demand in asked:
        own = tuple(name for name in demand.scenarios if name in there)
        if own:
            yield demand.model_copy(update={"scenarios": own})
