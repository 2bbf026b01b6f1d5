"""Runs as the index tells them, made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from harness.schema.base import digest_text
from harness.schema.history import IndexedEpisode, IndexedRun
from harness.schema.process import PlaneIdentity

__all__ = ["PLANE", "indexed_episode", "indexed_run", "told"]

PLANE = PlaneIdentity(name="loopx", version="1", wheel_sha256=digest_text("loopx 1"))


def indexed_episode(**more: object) -> IndexedEpisode:
    """A scripted episode that passed, but for what is said."""
    plain: dict[str, object] = {
        "scenario": "pack/a",
        "scenario_digest": digest_text("a"),
        "actor": "script",
        "actor_digest": digest_text("script"),
        "kind": "script",
        "plane": PLANE,
        "classifier_version": 1,
        "trial": 1,
        "attempt": 1,
        "verdict": "pass",
        "code": None,
        "cause": None,
        "outcome": "completed/scenario_satisfied",
        "models": (),
        "fingerprints": (),
        "seconds": 0.5,
        "tokens": None,
        "calls": 0,
        "unknown_calls": 0,
        "micro_usd": Decimal(0),
    }
    return IndexedEpisode.model_validate({**plain, **more})


def told(verdicts: str, **more: object) -> list[IndexedEpisode]:
    """A trial for each letter: passed, Failed, Not judged for want of a provider, Waiting."""
    kinds: dict[str, dict[str, object]] = {
        "P": {"verdict": "pass"},
        "F": {"verdict": "fail", "cause": "model", "code": "wrong_answer"},
        "N": {"verdict": "not_judged", "cause": "provider", "code": "provider_error"},
        "W": {"verdict": "pending", "cause": "model", "code": "needs_input"},
    }
    return [
        indexed_episode(**{"trial": number, **kinds[letter.upper()], **more})
        for number, letter in enumerate(verdicts, start=1)
    ]


def indexed_run(number: int, episodes: Iterable[IndexedEpisode] = (), **more: object) -> IndexedRun:
    """A complete run of that day of January."""
    rows = tuple(episodes)
    plain: dict[str, object] = {
        "folder": f"run-{number:02}",
        "run_id": f"id-{number}",
        "created_at": f"2026-01-{number:02}T00:00:00+00:00",
        "finished_at": None,
        "state": "complete",
        "harness_version": "1",
        "planned": len(rows),
        "seal": None,
        "episodes": rows,
    }
    return IndexedRun.model_validate({**plain, **more})
