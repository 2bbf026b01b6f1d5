"""A receipt holds facts only: the same bytes wherever, whenever and however it was made."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

from harness import wiring
from harness.receipt import canonical
from harness.schema.run import EpisodeJob, EpisodeOptions

pytestmark = pytest.mark.plane

SCENARIOS = ("loopx/capability-repair", "loopx/selected-todo")
#: One script of each sort: a pass, a refusal, a failed call, a failed read, silence, the whole budget.
ACTORS = {
    "loopx/capability-repair": ("reference", "monitor_fallback", "quota_reentry_failed", "tool_call_budget_exhausted"),
    "loopx/selected-todo": ("reference", "with-metadata", "wrong_selected_todo_target", "workspace_read_failed"),
}
LONG = "a long way/with spaces/and ünïcödé/" + "deep/" * 12


def receipts(line: CommandLine, *more: str, umask: int = -1, **environ: str) -> bytes:
    """Receipts of all chosen episodes as they are printed."""
    printed = b""
    for name in SCENARIOS:
        actors = [word for actor in ACTORS[name] for word in ("--actor", f"script:{actor}")]
        out = line.folder / "out" / name.replace("/", "-")
        done = line.run("run", name, *actors, "--format", "jsonl", "--out", str(out), *more, umask=umask, **environ)
        assert done.returncode in {0, 1}, done.stderr.decode()
        assert done.stderr == b""
        printed += done.stdout
    return printed


def world(plane_home: Path, folder: Path, name: str) -> CommandLine:
    """Folders of its own."""
    return CommandLine(plane_home, folder / name)


@pytest.mark.slow
def test_warm_and_cold_in_two_places_give_the_same_bytes(plane_home: Path, tmp_path: Path) -> None:
    here, there = world(plane_home, tmp_path, "a"), world(plane_home, tmp_path, LONG)
    one = receipts(here, "--executor", "warm", "-n", "2")
    other = receipts(there, "--executor", "cold", "-n", "1", umask=0o077, TZ="Asia/Tokyo", LC_ALL="C")
    assert one == other
    assert one.count(b"\n") == sum(map(len, ACTORS.values()))


VARIATIONS: dict[str, tuple[tuple[str, ...], int, dict[str, str]]] = {
    "temporary directory": ((), -1, {}),
    "home that is not there": ((), -1, {"HOME": "/nonexistent"}),
    "no home at all": ((), -1, {"HOME": ""}),
    "time zone": ((), -1, {"TZ": "America/St_Johns"}),
    "locale": ((), -1, {"LC_ALL": "POSIX", "LANG": "tr_TR.UTF-8"}),
    "strict umask": ((), 0o777 & ~0o700, {}),
    "open umask": ((), 0, {}),
    "hash seed": ((), -1, {"PYTHONHASHSEED": "12345"}),
    "one at a time": (("-n", "1"), -1, {}),
    "four at a time": (("-n", "4"), -1, {}),
    "shadowed": (("--shadow", "2"), -1, {}),
    "no sandbox": (("--sandbox", "off"), -1, {}),
    "no sandbox, cold": (("--sandbox", "off", "--executor", "cold"), -1, {}),
    "other environment": (
        (),
        -1,
        {"LOOPX_REGISTRY": "/elsewhere", "GIT_DIR": "/nowhere", "COLUMNS": "20", "CDPATH": "/"},
    ),
}


@pytest.mark.slow
def test_nothing_around_a_run_changes_its_receipts(plane_home: Path, tmp_path: Path) -> None:
    plain = receipts(world(plane_home, tmp_path, "plain"))
    differing = []
    for name, (more, umask, environ) in VARIATIONS.items():
        place = world(plane_home, tmp_path, LONG + name if name == "temporary directory" else name)
        if receipts(place, *more, umask=umask, **environ) != plain:
            differing.append(name)
    assert differing == []


CLOCKS = (("warm", None), ("warm", "2020"), ("warm", "2031"), ("cold", None), ("cold", "2031"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_control_planes_clock_changes_no_receipt(plane_home: Path, name: str) -> None:
    place = wiring.settings({"HARNESS_HOME": str(plane_home), "PATH": "/usr/local/bin:/usr/bin:/bin"})
    loaded = wiring.load_scenario(place, name)
    plane = wiring.plane_identity(place, loaded.scenario.plane)
    seen: dict[str, str] = {}
    with wiring.Session(place) as session:
        for actor in ACTORS[name]:
            spec = wiring.actor_specs(place, f"script:{actor}", loaded, ())[0]
            for executor, year in CLOCKS:
                time = None if year is None else f"{year}-02-28T23:59:58+00:00"
                options = EpisodeOptions.model_validate({"executor": executor, "plane_time": time})
                result = session.run(EpisodeJob(loaded=loaded, actor=spec, plane=plane, options=options))
                text = canonical(result.receipt)
                assert seen.setdefault(actor, text) == text, (actor, executor, year)
