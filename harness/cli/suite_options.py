"""Options of ``harness run`` about many episodes: how providers are spared, and which shard of the plan is played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, ParamSpec, TypeVar

import click

from harness import config, suite, wiring
from harness.cli.folder import planned
from harness.cli.grouped import in_order, keep, kept
from harness.schema.base import digest_json
from harness.schema.run import EpisodeJob, Shard
from harness.wiring.providers import care

__all__ = ["Scale", "part_of", "suite_options"]

#: As many live episodes at once as one process keeps up with.
ONE_PROCESS: Final = 16

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Scale:
    """What the command line says; None where it says nothing."""

    retries: int | None
    limits: tuple[str, ...]
    refusals: int
    shard: str | None
    pool: str = "auto"
    connect: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    early: bool = False

    @classmethod
    def of(cls, context: click.Context) -> Scale:
        """That of a command whose options were read."""
        names = ("retries", "refusals", "shard", "pool")
        retries, refusals, shard, pool = (kept(context, name) for name in names)
        return cls(
            retries=retries if isinstance(retries, int) else None,
            limits=_texts(context, "limits"),
            refusals=refusals if isinstance(refusals, int) else suite.REFUSALS,
            shard=shard if isinstance(shard, str) else None,
            pool=str(pool),
            connect=_texts(context, "connect"),
            read=_texts(context, "read"),
            early=bool(kept(context, "early")),
        )

    @property
    def asked(self) -> dict[str, str | bool | None]:
        """What of it decides what is played."""
        return {"shard": self.shard, "early": self.early}

    def over(self, settings: wiring.Settings) -> wiring.Settings:
        """The settings with the time-outs that the command line gives. Raises UsageError."""
        return replace(settings, providers=config.read_time_outs(self.connect, self.read))

    def care(self, settings: wiring.Settings) -> suite.Care:
        """How providers are spared, with ``harness.toml``. Raises UsageError or ConfigError."""
        told = suite.RETRIES if self.retries is None else self.retries
        return care(settings, self.limits, retries=told, refusals=self.refusals)

    def pool_for(self, jobs: Sequence[EpisodeJob], at_once: int, processors: int) -> str:
        """Where these jobs run, so many of them at once: ``threads`` of this process, or ``processes``."""
        if self.pool != "auto":
            return self.pool
        live = any(job.actor.identity.kind == "live" for job in jobs)
        return "processes" if live and at_once > ONE_PROCESS and processors > 1 else "threads"


def _texts(context: click.Context, name: str) -> tuple[str, ...]:
    given = kept(context, name)
    return tuple(map(str, given)) if isinstance(given, tuple) else ()


def part_of(plan: tuple[EpisodeJob, ...], text: str | None) -> tuple[tuple[EpisodeJob, ...], Shard | None]:
    """What ``--shard`` leaves of a plan, and what the manifest says of it; all of it where the text is None.

    Raises UsageError, and NothingSelectedError for a shard without an episode.
    """
    if text is None:
        return plan, None
    number, count = suite.parse_shard(text)
    whole = tuple(planned(job) for job in plan)
    digest = digest_json([job.key for job in plan])
    return suite.slice_of(plan, number, count), Shard(number=number, count=count, plan=whole, digest=digest)


def suite_options(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """The options; the verb finds what they say with ``Scale.of``."""
    return in_order(verb, _OPTIONS)


_OPTIONS: Final = (
    click.option(
        "--retries",
        type=click.IntRange(0, 10),
        expose_value=False,
        callback=keep,
        help=f"Further attempts where a provider's outage left nothing to judge.  [default: {suite.RETRIES}]",
    ),
    click.option(
        "--provider-limit",
        "limits",
        multiple=True,
        metavar="NAME=N",
        expose_value=False,
        callback=keep,
        help="Episodes of one provider at a time; repeatable.  [default: as --jobs]",
    ),
    click.option(
        "--connect-timeout",
        "connect",
        multiple=True,
        metavar="NAME=S",
        expose_value=False,
        callback=keep,
        help="Longest wait for a connection to a provider; repeatable.  [default: 10]",
    ),
    click.option(
        "--read-timeout",
        "read",
        multiple=True,
        metavar="NAME=S",
        expose_value=False,
        callback=keep,
        help="Longest silence of a provider; repeatable.  [default: the call's deadline]",
    ),
    click.option(
        "--refusals",
        type=click.IntRange(0, 1000),
        default=suite.REFUSALS,
        show_default=True,
        expose_value=False,
        callback=keep,
        help="Refusals in a row (key, quota) after which a provider is left alone; 0 for never.",
    ),
    click.option(
        "--pool",
        type=click.Choice(["auto", "threads", "processes"]),
        default="auto",
        show_default=True,
        expose_value=False,
        callback=keep,
        help=f"Where episodes run. auto: threads; processes for live models where --jobs is over {ONE_PROCESS}.",
    ),
    click.option(
        "--shard",
        metavar="I/N",
        expose_value=False,
        callback=keep,
        help="Play one of N equal parts of the plan; harness history merge puts them together.",
    ),
    click.option(
        "--early",
        is_flag=True,
        expose_value=False,
        callback=keep,
        help="Play trial by trial, and end once it is known which actor passes more often.",
    ),
)
