"""What the environment and ``harness.toml`` say of the network, looked at before anything is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from harness import catalog, config
from harness.errors import EnvironmentProblem
from harness.ports import Transport
from harness.wiring.places import Settings

__all__ = ["Line", "certificates", "http_transport", "network_problem", "provider_config", "require_network"]


class Line(Transport, Protocol):
    """A transport that tells whether a call is on it."""

    @property
    def is_busy(self) -> bool:
        """Whether one is: its owner may have given it up."""


def network_problem(place: Settings) -> str | None:
    """Which variable of the environment no request can be made with, and what is allowed; its value is not shown."""
    found: str | None = catalog.shared("providers", "surroundings").problem_of(place.environ)
    return found


def require_network(place: Settings) -> None:
    """Raise EnvironmentProblem where there is such a variable."""
    problem = network_problem(place)
    if problem is not None:
        raise EnvironmentProblem(problem)


def certificates(place: Settings) -> str | None:
    """The bundle of certificates that the environment names for tools which do not read it themselves."""
    found: str | None = catalog.shared("providers", "surroundings").bundle_of(place.environ)
    return found


def provider_config(place: Settings, name: str | None) -> config.ProviderConfig:
    """What ``harness.toml`` says of a provider, and over it the command line. Raises ConfigError."""
    nothing = config.ProviderConfig()
    written = config.load_providers(place.config).get(name or "", nothing)
    given = place.providers.get(name or "", nothing)
    return replace(written, connect_s=given.connect_s or written.connect_s, read_s=given.read_s or written.read_s)


def http_transport(
    place: Settings, provider: str | None, *, read_s: float | None = None, through: object = None
) -> Line:
    """A transport with the time-outs of a provider; ``read_s`` goes over that of ``harness.toml``.

    It sends ``through`` an httpx transport where one is given. Raises ConfigError and EnvironmentProblem.
    """
    told = provider_config(place, provider)
    http = catalog.shared("providers", "http")
    made: Line = http.HttpTransport(
        connect_s=told.connect_s or http.CONNECT_S,
        read_s=read_s or told.read_s,
        transport=through,
        bundle=certificates(place),
    )
    return made
