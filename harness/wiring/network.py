"""What the environment says of the network: proxies and certificates, looked at before anything is sent."""

from __future__ import annotations

from harness import catalog
from harness.errors import EnvironmentProblem
from harness.wiring.places import Settings

__all__ = ["network_problem", "require_network"]


def network_problem(place: Settings) -> str | None:
    """Which variable of the environment no request can be made with, and what is allowed; its value is not shown."""
    found: str | None = catalog.shared("providers", "surroundings").problem_of(place.environ)
    return found


def require_network(place: Settings) -> None:
    """Raise EnvironmentProblem where there is such a variable."""
    problem = network_problem(place)
    if problem is not None:
        raise EnvironmentProblem(problem)
