"""A small task registry, kept in one SQLite file in the workspace: a real system that needs no installation."""

from harness.controlplanes.registry.plane import ENVIRONMENT, IDENTITY, RegistryPlane, open_plane
from harness.controlplanes.registry.tools import OPERATIONS

__all__ = ["ENVIRONMENT", "IDENTITY", "OPERATIONS", "RegistryPlane", "open_plane"]
