"""A scenario is qualified before it qualifies anyone: its own scripts, played against the real control plane."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.schema.check import CheckFinding, CheckReport, Coverage, DeepCount, DeepProbe
from harness.schema.counting import counted
from harness.schema.scenario import LoadedScenario, Scenario
from harness.suite.allowances import too_wide
from harness.suite.answer_key import told_answers
from harness.suite.control_run import Offer, came_to, not_on_offer, offers
from harness.suite.coverage import covered
from harness.suite.dropped_fixtures import check_fixtures
from harness.suite.idle import idle_scripts
from harness.suite.mutated_scripts import check_mutants
from harness.suite.playing import Play, Played, ending, is_variant, play_all, play_script
from harness.suite.probe import probe
from harness.suite.proofs import unproved
from harness.suite.waiving import waived
from harness.suite.walking import check_walks

__all__ = ["Deep", "check_scenario"]

#: First words of the findings that are looked for always.
_ALWAYS = frozenset({"kind", "fact", "code", "check", "proof", "answer", "write", "volatile", "offer"})


@dataclass(frozen=True, slots=True)
class Deep:
    """Which probes are made that play many episodes more: mutants of scripts, parts dropped, so many walks."""

    mutants: bool = False
    fixtures: bool = False
    walks: int = 0


@dataclass(frozen=True, slots=True)
class _Stage:
    """Everything that the scripts of a scenario were played for."""

    passing: Sequence[Played]
    idle: Sequence[Played]
    wrong: Sequence[Played]

    @property
    def all(self) -> list[Played]:
        """In the order in which they were played."""
        return [*self.passing, *self.idle, *self.wrong]


def check_scenario(loaded: LoadedScenario, *, play: Play, deep: Deep = Deep(), jobs: int = 1) -> CheckReport:
    """Play every script of the scenario and two that do nothing, ``jobs`` at once, then question what was seen.

    Demands: the reference and every right script pass; doing nothing fails; every wrong script gets the code it is
    named by; every kind, fact and code is reached; every answer check and read proof goes red when what it looks at
    is changed; every fact that a pass depends on is proved; nothing that the actor sees has the answer key; no more is
    allowed than is needed; every wrong path that a rule forbids can be taken where it does not. What ``deep`` asks for
    is played where all of that could be played. Findings that the scenario waives are left out, and counted.
    """
    scenario = loaded.scenario
    first = play_script(play, loaded, "reference", scenario.script.reference)
    unopened = _unopened(scenario, first)
    if unopened is not None:
        none = Coverage(reached=0, total=0)
        return CheckReport(
            scenario=scenario.id,
            scripts=1,
            kinds=none,
            facts=none,
            codes=none,
            mutations=0,
            red=0,
            findings=(unopened,),
        )
    stage = _staged(play, loaded, first, jobs=jobs)
    traces = [one.trace for one in stage.all if one.trace is not None]
    right = [one for one in stage.passing if one.passed and one.trace is not None]
    probed = probe({one.name: one.trace for one in right if one.trace is not None})
    reached = covered(scenario, [one.receipt for one in stage.all], probed.codes)
    offered = list(offers(loaded, stage.wrong))
    came = [came_to(offer, play_script(play, offer.loaded, offer.code, offer.script)) for offer in offered]
    tried = list(zip(offered, came, strict=True))
    findings = [
        *_not_passing(scenario, stage.passing),
        *_left_over(scenario, stage.passing),
        *_idle_not_failing(scenario, stage.idle),
        *_wrong_code(scenario, stage.wrong),
        *(finding for _, missing in reached.values() for finding in missing),
        *probed.findings,
        *unproved(scenario),
        *told_answers(scenario, traces),
        *too_wide(scenario, traces, shared=is_variant(loaded)),
        *filter(None, (not_on_offer(scenario, offer, how) for offer, how in tried)),
    ]
    counts, more = _deepened(play, loaded, stage, right, tried=tried, deep=deep, jobs=jobs)
    asked = _ALWAYS | ({"fixture"} if deep.fixtures else frozenset())
    left, accepted = waived(scenario, [*findings, *more], asked=asked, shared=is_variant(loaded))
    return CheckReport(
        scenario=scenario.id,
        scripts=len(stage.all),
        kinds=reached["kind"][0],
        facts=reached["fact"][0],
        codes=reached["code"][0],
        mutations=probed.mutations,
        red=probed.red,
        findings=tuple(left),
        offers=len(offered),
        waived=accepted,
        deep=counts,
    )


def _staged(play: Play, loaded: LoadedScenario, first: Played, *, jobs: int) -> _Stage:
    scripts = loaded.scenario.script
    idle = idle_scripts(loaded.scenario.control)
    named = [*scripts.right.items(), *idle.items(), *scripts.wrong.items()]
    played = list(play_all(play, loaded, named, jobs=jobs))
    right, rest = played[: len(scripts.right)], played[len(scripts.right) :]
    return _Stage(passing=[first, *right], idle=rest[: len(idle)], wrong=rest[len(idle) :])


def _deepened(
    play: Play,
    loaded: LoadedScenario,
    stage: _Stage,
    right: Sequence[Played],
    *,
    tried: Sequence[tuple[Offer, str | None]],
    deep: Deep,
    jobs: int,
) -> tuple[dict[DeepProbe, DeepCount], list[CheckFinding]]:
    """What was asked for beyond the scripts: counts and findings."""
    counts: dict[DeepProbe, DeepCount] = {}
    findings: list[CheckFinding] = []
    if deep.mutants:
        counts["mutants"], more = check_mutants(play, loaded, right, jobs=jobs)
        findings += more
    if deep.fixtures:
        counts["fixtures"], more = check_fixtures(
            play, loaded, passing=stage.passing, wrong=stage.wrong, offers=tried, jobs=jobs
        )
        findings += more
    if deep.walks:
        counts["walks"], more = check_walks(play, loaded, right, deep.walks)
        findings += more
    return counts, findings


def _unopened(scenario: Scenario, played: Played) -> CheckFinding | None:
    """The one finding of a world that cannot be made: everything else would only follow from it."""
    if played.receipt.outcome.status != "rejected":
        return None
    return CheckFinding(
        scenario=scenario.id,
        what=f"its world cannot be made: {played.result.log.problem}",
        where="workspace, late values and prompt",
        todo="correct what the message names; nothing else was checked",
    )


def _not_passing(scenario: Scenario, played: Iterable[Played]) -> Iterator[CheckFinding]:
    for one in played:
        if not one.passed:
            yield CheckFinding(
                scenario=scenario.id,
                what=f"should pass, but: {ending(one.result)}",
                where=f"script {one.name}",
                todo="correct the script, or the rule that it breaks",
            )


def _left_over(scenario: Scenario, played: Iterable[Played]) -> Iterator[CheckFinding]:
    scripts = {"reference": scenario.script.reference, **scenario.script.right}
    for one in played:
        left = len(scripts[one.name]) - one.receipt.counters.model_turns
        if one.passed and left > 0:
            yield CheckFinding(
                scenario=scenario.id,
                what=f"passes before its end: {counted(left, 'answer')} of it nobody asked for",
                where=f"script {one.name}",
                todo="let [end] ask for all that the script does, or shorten it",
            )


def _idle_not_failing(scenario: Scenario, played: Iterable[Played]) -> Iterator[CheckFinding]:
    waits = scenario.control.no_call == "wait_user"  # then it may be waited for who does nothing, but never passed
    for one in played:
        if one.receipt.verdict != "fail" and not (waits and one.receipt.verdict == "pending"):
            yield CheckFinding(
                scenario=scenario.id,
                what=f"an actor that does nothing should fail, but: {ending(one.result)}",
                where=f"idle actor {one.name}",
                todo="let [end] accept only facts that a call must earn, and give silence a code",
            )


def _wrong_code(scenario: Scenario, played: Iterable[Played]) -> Iterator[CheckFinding]:
    for one in played:
        if one.receipt.verdict != "fail" or one.receipt.failure_code != one.name:
            yield CheckFinding(
                scenario=scenario.id,
                what=f"should fail with the code it is named by, but: {ending(one.result)}",
                where=f"wrong script {one.name}",
                todo="correct the script, or the rule whose code it is named by",
            )
