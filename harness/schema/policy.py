"""What a team demands of an actor before it trusts it: the file that ``--policy`` names."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import OF_ITS_TYPE, Frozen

__all__ = ["NotJudged", "Policy", "Tier"]

_Rate = Annotated[float, Field(gt=0, lt=1)]
_Margin = Annotated[float, Field(gt=0, le=0.5)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Trials = Annotated[int, Field(ge=1, le=10_000)]
_Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")]
_Pattern = Annotated[str, Field(min_length=1, max_length=200)]


class _Demands(Frozen):
    """The share ``rate`` of trials is to pass; ``every`` trial is; no more than the share ``margin`` is to be lost."""

    rate: _Rate | None = None
    every: bool = False
    margin: _Margin | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is demanded."""
        return self.rate is None and not self.every and self.margin is None


class Tier(_Demands):
    """Demands on those scenarios that ``scenarios`` chooses: ids, globs, ``tag:TAG``.

    ``trials`` are judged trials that each of them has at least; None: as many as the policy says.
    """

    scenarios: Annotated[tuple[_Pattern, ...], Field(min_length=1, max_length=1_000)]
    trials: _Trials | None = None


class NotJudged(Frozen):
    """How trials count that say nothing about the actor: ``exclude`` leaves them out, ``fail`` takes them for failures.

    Where more than the share ``most`` of all planned trials is not judged, nothing is decided; None: a tenth where they
    are left out, and no bound where they count as failures.
    """

    count: Literal["exclude", "fail"] = "exclude"
    most: _Share | None = None

    @property
    def allowed(self) -> float:
        """The share of planned trials that may be not judged."""
        if self.most is not None:
            return self.most
        return 0.1 if self.count == "exclude" else 1.0


class Policy(_Demands):
    """Demands on all scenarios of a run together, and on tiers of them.

    ``alpha``: how often an actor may be passed that does not deserve it, and how often, of all nights in which nothing
    is wrong, one may be failed. ``power``: how often the trials that are said to be missing would tell. ``trials`` are
    judged trials that each scenario has at least before anything passes.
    """

    schema_version: Annotated[Literal[1], OF_ITS_TYPE] = Field(alias="schema")
    alpha: Annotated[float, Field(ge=0.0001, le=0.2)] = 0.05
    power: Annotated[float, Field(ge=0.5, le=0.99)] = 0.8
    trials: _Trials = 1
    not_judged: NotJudged = NotJudged()
    tier: Annotated[dict[_Name, Tier], Field(max_length=100)] = {}

    @property
    def wants_baseline(self) -> bool:
        """Whether something is to be held against a baseline."""
        return any(one.margin is not None for one in (self, *self.tier.values()))
