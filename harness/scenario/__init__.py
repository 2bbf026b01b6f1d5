"""Scenario files: finding, reading, checking, choosing, and putting values in place."""

from harness.scenario.checking_classifiers import NoClassifiers
from harness.scenario.discovering import discover, select, variant_of, variants_in
from harness.scenario.fixed_clock import fixed_time
from harness.scenario.late import resolve_late
from harness.scenario.loading import json_schema, load
from harness.scenario.parts import UNPLAYED
from harness.scenario.placeholders import bind, static_values, substitute
from harness.scenario.scripts import load_scripts

__all__ = [
    "UNPLAYED",
    "NoClassifiers",
    "bind",
    "discover",
    "fixed_time",
    "json_schema",
    "load",
    "load_scripts",
    "resolve_late",
    "select",
    "static_values",
    "substitute",
    "variant_of",
    "variants_in",
]
