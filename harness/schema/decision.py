"""What a policy comes to: for each actor a verdict, and for each demand what it rests on."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import Frozen
from harness.schema.comparison import Contender
from harness.schema.name import ScenarioId
from harness.schema.qualification import Difference, Interval

__all__ = ["Answer", "Decision", "DecisionTold", "Demand", "Evidence", "Finding", "Reason", "SetAside"]

#: ``not_judged``: more was not judged than the policy allows.
Answer = Literal["pass", "fail", "inconclusive", "not_judged"]
#: ``met`` and ``missed``: shown. ``undecided``: not enough trials. ``open``: it hangs on trials that were not judged.
#: ``too_few``: it would be met, but some scenario has fewer trials than are asked for. ``empty``: all of its scenarios
#: are set aside.
Finding = Literal["met", "missed", "undecided", "open", "too_few", "empty"]


class Demand(Frozen):
    """One thing that is asked of some scenarios; ``tier`` None: of all of them.

    ``rate``: at least the share ``wanted`` of trials passes. ``every``: all do (``wanted`` is 1). ``drop``: against the
    baseline no more than ``wanted`` is lost, a share. ``trials``: judged ones that each scenario has at least.
    """

    tier: str | None
    kind: Literal["rate", "every", "drop"]
    scenarios: tuple[ScenarioId, ...]
    wanted: float
    trials: int


class Evidence(Frozen):
    """What some trials say about a demand, in one way of counting those that were not judged.

    ``between`` holds the rate: each end is one-sided, at ``level_met`` and ``level_missed``. ``difference`` is the rate
    less that of the baseline, its interval at twice ``level_met``. ``chance_met`` is how likely so good a result is at
    most where the demand is just not met, ``chance_missed`` how likely so bad a one is where nothing is wrong; each is
    held against its level. Those of ``every`` are 0 or 1, for nothing is inferred there.
    """

    passes: int
    n: int
    between: Interval | None
    difference: Difference | None
    baseline_passes: int | None
    baseline_n: int | None
    chance_met: float
    chance_missed: float
    level_met: float
    level_missed: float
    finding: Literal["met", "missed", "undecided"]


class Reason(Frozen):
    """What was found about one demand, which names those of its scenarios that are not set aside: all where all are.

    ``counted`` is what it was decided by, ``otherwise`` the same with trials counted the other way that were not
    judged. ``trials`` are how many each of its scenarios would need to tell, those that are there too; None where that
    is out of reach or nothing is to be told. ``passes`` are how many in a row would show it, where so far all passed.
    ``short`` has judged trials of scenarios with fewer than are asked for, ``short_baseline`` those of the baseline;
    ``failed`` the failures of each scenario where all trials are to pass.
    """

    demand: Demand
    finding: Finding
    counted: Evidence
    otherwise: Evidence
    trials: int | None = None
    passes: int | None = None
    short: dict[ScenarioId, int] = {}
    short_baseline: dict[ScenarioId, int] = {}
    failed: dict[ScenarioId, int] = {}


class SetAside(Frozen):
    """A scenario that is played and shown, and of which nothing is demanded for now."""

    scenario: ScenarioId
    why: str
    passes: int
    n: int


class Decision(Frozen):
    """Of one actor in one run. ``planned`` trials were to be judged, ``not_judged`` counts by cause what was not.

    ``against`` is whom it was held against, None without a baseline. ``models`` are those that the provider said
    answered, ``models_before`` those of the baseline.
    """

    run: str
    actor: str
    answer: Answer
    planned: int
    not_judged: dict[str, int]
    allowed: float
    against: Contender | None
    models: tuple[str, ...]
    models_before: tuple[str, ...]
    reasons: tuple[Reason, ...]
    set_aside: tuple[SetAside, ...]


class DecisionTold(Frozen):
    """One in plain words: about whom, as reports call it, what it is, by which policy.

    ``sentences`` say what it rests on, each behind its label, which is empty where it is that of the one before.
    """

    who: str
    answer: Answer
    word: str
    policy: str
    sentences: tuple[tuple[str, str], ...]

    @property
    def headline(self) -> str:
        """``candidate: PASS by policy.toml``."""
        return f"{self.who}: {self.word} by {self.policy}"

    @property
    def lines(self) -> tuple[str, ...]:
        """Each sentence behind the label that it goes with."""
        label, found = "", []
        for own, said in self.sentences:
            label = own or label
            found.append(f"{label}: {said}")
        return tuple(found)
