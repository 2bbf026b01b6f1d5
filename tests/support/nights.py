"""Made-up nights of models that share scenarios of different difficulty."""

from __future__ import annotations

import numpy as np

__all__ = ["at_least", "rates"]


def rates(draws: np.random.Generator, scenarios: int) -> list[float]:
    """Of the first model, one of each scenario."""
    found = draws.beta(4, 1.2, scenarios) + draws.normal(0, 0.08, scenarios)
    return [min(1.0, max(0.0, float(rate))) for rate in found]


def at_least(count: int, of: int) -> float:
    """The one-sided 99 % lower bound of a share."""
    from scipy.special import betaincinv

    return 0.0 if count == 0 else float(betaincinv(count, of - count + 1, 0.01))
