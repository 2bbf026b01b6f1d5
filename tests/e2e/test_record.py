"""What interrupted recordings left behind is dealt with, in words, by the next recording of the same episode."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from chat_server import serving, text
from command_line import CommandLine

from harness import catalog, recording, wiring
from harness.rehearsal import Rehearsal, bundled

pytestmark = [pytest.mark.plane, pytest.mark.slow]

NAME = "loopx/selected-todo"


def record(line: CommandLine, *more: str) -> tuple[subprocess.CompletedProcess[bytes], int]:
    """What came of recording a model that only talks, and how often it was asked."""
    with serving(lambda _: text("All done!")) as server:
        done = line.run("record", NAME, "--actor", f"openai-compatible/toy@{server.url}", "--yes-spend", *more)
        return done, len(server.bodies)


def left(line: CommandLine) -> dict[str, int]:
    """What lies in the folder of recordings, by size."""
    return {path.name: path.stat().st_size for path in (line.cwd / "recordings" / NAME).iterdir()}


def test_halves_are_kept_until_something_whole_replaces_them_and_told_when_they_go(line: CommandLine) -> None:
    done, asked = record(line)
    assert (done.returncode, done.stderr, asked) == (0, b"", 1)
    (name,) = left(line)
    path = line.cwd / "recordings" / NAME / name
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    fuller, emptier = Path(f"{path}.partial"), Path(f"{path}.2.partial")
    fuller.write_bytes(b"".join(lines[:2]))
    emptier.write_bytes(lines[0])

    done, asked = record(line)
    assert (done.returncode, asked) == (4, 0)
    assert done.stderr.count(b"\n") == 1
    assert b"half a recording, " in done.stderr
    assert b"--replace records anew and removes it" in done.stderr
    assert left(line).keys() == {fuller.name, emptier.name}

    done, asked = record(line, "--replace")
    assert (done.returncode, asked) == (0, 1)
    told = done.stderr.decode().splitlines()
    assert [one.startswith("harness: removed half a recording, ") for one in told] == [True, True]
    assert str(emptier) in told[0]
    assert str(fuller) in told[1]
    assert left(line).keys() == {name}
    assert len(recording.load(path).exchanges) == 1


def test_the_fullest_half_outlives_an_attempt_that_gave_nothing(line: CommandLine) -> None:
    record(line)
    (name,) = left(line)
    path = line.cwd / "recordings" / NAME / name
    whole = path.read_bytes()
    for number, lines in ((1, 2), (2, 1)):
        half = Path(f"{path}.{number}.partial")
        half.write_bytes(b"".join(whole.splitlines(keepends=True)[:lines]))
    with serving(lambda _: (503, b"busy")) as server:
        argv = ("record", NAME, "--actor", f"openai-compatible/toy@{server.url}", "--yes-spend", "--replace")
        done = line.run(*argv)
    assert done.returncode == 2
    assert done.stderr.count(b"removed half a recording") == 1
    assert left(line).keys() == {name, f"{name}.1.partial"}
    assert path.read_bytes() == whole


def test_stale_only_says_what_is_true_of_this_actor_and_of_the_others(line: CommandLine) -> None:
    assert record(line, "--set", "temperature=1")[0].returncode == 0
    done, asked = record(line, "--stale-only")
    assert (done.returncode, done.stdout, asked) == (5, b"", 0)
    told = done.stderr.decode()
    assert told.count("\n") == 1
    assert "0 of this actor exist, 1 of this actor with other settings still fits: " in told
    done, asked = record(line, "--stale-only", "--set", "temperature=1")
    assert (done.returncode, asked) == (0, 0)
    assert b"nothing to record: no recording of what was asked for is stale; 1 of this actor exists and still fits" in (
        done.stdout
    )
    own = line.cwd / "scenarios" / f"{NAME}.toml"
    own.parent.mkdir(parents=True)
    text_ = wiring.scenarios(wiring.settings())[NAME].read_text("utf-8")
    own.write_text(text_.replace('name = "clock"', 'name = "time"'), "utf-8")
    with serving(lambda _: text("All done!")) as server:
        other = f"openai-compatible/other@{server.url}"
        done = line.run("record", NAME, "--actor", other, "--yes-spend", "--stale-only")
    assert (done.returncode, server.bodies) == (5, [])
    assert b"0 of this actor exist, 1 of another actor is stale: " in done.stderr
    done, asked = record(line, "--stale-only", "--set", "temperature=1")
    assert (done.returncode, asked) == (0, 1)
    assert b"1 of 1 recorded" in done.stdout


def test_what_a_rehearsal_answers_is_simulated_and_is_never_recorded_as_live(line: CommandLine) -> None:
    loaded = wiring.load_scenario(wiring.settings(), NAME)
    codec = catalog.module("providers", "openai").build()
    with Rehearsal([loaded.scenario], bundled(), 0, codec).serve() as serving_:
        argv = ("record", NAME, "--actor", f"openai-compatible/hasty@{serving_.url}", "--yes-spend")
        done = line.run(*argv, "--provenance", "live")
        assert (done.returncode, done.stderr.count(b"\n")) == (4, 1)
        assert b"a rehearsal server answers, which is no live model" in done.stderr
        assert not (line.cwd / "recordings").exists()
        done = line.run(*argv)
        assert done.returncode == 0, done.stderr
        (path,) = (line.cwd / "recordings" / NAME).iterdir()
        assert recording.load(path).header.provenance == "simulated"
        wrong = line.run(
            "record",
            NAME,
            "--actor",
            f"openai-compatible/hasty@{serving_.url.removesuffix('/v1')}",
            *argv[-1:],
            "--into",
            "a/b",
        )
    assert wrong.returncode == 2
    assert (
        b"HTTP 404; nothing answers there: harness adds /chat/completions to the address, which mostly ends in /v1"
        in wrong.stderr
    )
    assert not (line.cwd / "a").exists()


def test_a_rehearsal_that_has_no_script_for_a_chosen_scenario_is_refused_before_any_call(line: CommandLine) -> None:
    loaded = wiring.load_scenario(wiring.settings(), NAME)
    codec = catalog.module("providers", "openai").build()
    file = bundled()
    elsewhere = {
        name: policy.model_copy(update={"scenarios": ("other/one",)}) if name.startswith("hurries") else policy
        for name, policy in file.policy.items()
    }
    with Rehearsal([loaded.scenario], file.model_copy(update={"policy": elsewhere}), 0, codec).serve() as served:
        for verb in ("run", "record"):
            done = line.run(verb, NAME, "--actor", f"openai-compatible/hasty@{served.url}", "--yes-spend")
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (4, b"", 1), done.stderr
            assert f"model 'hasty' has no script for scenario {NAME}; it plays: none".encode() in done.stderr
        assert served.calls == ()
    assert sorted(path.name for path in line.cwd.iterdir()) == []
