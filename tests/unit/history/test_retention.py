"""Which runs may go."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from harness.history import outdated
from harness.schema.history import IndexedRun


def run(number: int, state: str = "complete") -> IndexedRun:
    return IndexedRun.model_validate(
        {
            "folder": f"run-{number}",
            "run_id": f"id-{number}",
            "created_at": f"2026-01-{number:02}T00:00:00+00:00",
            "finished_at": None,
            "state": state,
            "harness_version": "1",
            "planned": 0,
            "seal": None,
            "episodes": (),
        }
    )


runs = st.lists(
    st.builds(run, st.integers(1, 28), st.sampled_from(["complete", "running", "interrupted"])), unique=True
)


@given(runs, st.none() | st.integers(0, 5), st.none() | st.integers(1, 28), st.sets(st.integers(1, 28)))
def test_only_old_complete_runs_that_nobody_pinned_go(
    there: list[IndexedRun], keep: int | None, day: int | None, pins: set[int]
) -> None:
    before = None if day is None else datetime(2026, 1, day, tzinfo=UTC)
    pinned = {f"run-{number}" if number % 2 else f"id-{number}" for number in pins}
    going = outdated(there, keep=keep, before=before, pinned=pinned)
    may = [one for one in there if one.state == "complete" and not {one.folder, one.run_id} & pinned]
    assert set(going) <= set(may)
    stay = [one for one in may if one not in going]
    if keep is None and before is None:
        assert going == ()
    if keep is not None and before is None:
        assert len(stay) == min(keep, len(may))
        assert all(old.created_at <= new.created_at for old in going for new in stay)
    if before is not None:
        assert all(datetime.fromisoformat(one.created_at) < before for one in going)
    if before is not None and keep is None:
        assert all(datetime.fromisoformat(one.created_at) >= before for one in stay)
