"""Installs control planes, each in a directory of its own, pinned by version and wheel hash."""

from harness.provision.inspection import damage, damaged, ensure_layout, find, installed, packages, verify
from harness.provision.installation import install
from harness.provision.node import NODE, installed_nodes
from harness.provision.plane import KNOWN, InstalledPlane, parse_ref

__all__ = [
    "KNOWN",
    "NODE",
    "InstalledPlane",
    "damage",
    "damaged",
    "ensure_layout",
    "find",
    "install",
    "installed",
    "installed_nodes",
    "packages",
    "parse_ref",
    "verify",
]
