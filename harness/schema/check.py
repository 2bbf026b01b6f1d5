"""What ``harness check`` found out about a scenario."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import Frozen
from harness.schema.name import ScenarioId
from harness.schema.recording import Drift, Provenance, RerecordSpec

__all__ = ["CheckFinding", "CheckReport", "Coverage", "DeepCount", "DeepProbe", "RecordingReport", "Survivor"]


class CheckFinding(Frozen):
    """One reason not to trust a scenario: what is wrong, where (script, kind, pointer), and what to do about it."""

    scenario: ScenarioId
    what: str
    where: str
    todo: str


class Coverage(Frozen):
    """How many of the declared names some script reached."""

    reached: int
    total: int


#: Probes that play many episodes more, and are made where they are asked for.
DeepProbe = Literal["mutants", "fixtures", "walks"]


class DeepCount(Frozen):
    """How many mutants, parts of the world or walks were ``played``, and what came of them.

    ``noticed`` did not pass, or were missed by somebody; of walks it is none. Of mutants ``same`` passed with the
    effects of a right script (``alike`` names them, to be looked through), ``declared`` are equivalent by the
    scenario's own word, and ``left_out`` were too many.
    """

    played: int
    noticed: int = 0
    same: int = 0
    declared: int = 0
    left_out: int = 0
    alike: tuple[str, ...] = ()


class CheckReport(Frozen):
    """A scenario as its own scripts show it.

    ``scripts`` were played, the idle ones included. Of ``mutations`` made to stored answers and read texts, ``red``
    were noticed by the check they were aimed at. ``offers`` wrong paths were tried with their rule off, ``waived``
    findings are accepted by the scenario itself. The scenario holds if there are no ``findings``.
    """

    scenario: ScenarioId
    scripts: int
    kinds: Coverage
    facts: Coverage
    codes: Coverage
    mutations: int
    red: int
    findings: tuple[CheckFinding, ...]
    offers: int = 0
    waived: int = 0
    deep: dict[DeepProbe, DeepCount] = {}


class Survivor(Frozen):
    """A change of a recording that no drift named with its place: the way, where (exchange or step), the pointer."""

    way: str
    exchange: int | None = None
    step: int | None = None
    pointer: str


class RecordingReport(Frozen):
    """One recording, replayed: ``drifts`` say where it no longer fits, ``again`` how to record it anew.

    The rest is what its mutation showed, if that was asked for.
    """

    recording: str
    scenario: str
    provenance: Provenance = "live"
    drifts: tuple[Drift, ...] = ()
    again: RerecordSpec | None = None
    mutations: int = 0
    ways: dict[str, int] = {}
    survivors: tuple[Survivor, ...] = ()
