"""How much of each provider a run takes: what the command line says goes over ``harness.toml``."""

from __future__ import annotations

from collections.abc import Iterable

from harness import config
from harness.suite import Care
from harness.wiring.places import Settings

__all__ = ["care"]


def care(place: Settings, limits: Iterable[str], *, retries: int, refusals: int) -> Care:
    """``limits`` are ``NAME=N`` texts. Raises UsageError or ConfigError."""
    given = config.read_limits(limits)
    written = {
        name: one.concurrency
        for name, one in config.load_providers(place.config).items()
        if one.concurrency is not None
    }
    return Care(concurrency={**written, **given}, retries=retries, refusals=refusals)
