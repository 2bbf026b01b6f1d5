"""Options that may be set elsewhere are: the command line goes over the environment, that over the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import click
import pytest

from harness import config
from harness.cli import compare, grouped, qualify, report
from harness.cli.check import check
from harness.cli.configured import key_of
from harness.cli.record import record
from harness.cli.run import run


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class Asks(Protocol):
    def __call__(self, verb: str, key: str, *words: str) -> object: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path


VERBS: dict[str, click.Command] = {
    "run": run,
    "check": check,
    "record": record,
    "qualify": qualify.qualify,
    "compare": compare.command,
    "report": report.report,
}
#: Two values of each option that are not its default, as they are typed.
VALUES = {
    "actor": ("one", "two"),
    "plane": ("loopx==1.0.0", "loopx==2.0.0"),
    "trials": ("2", "3"),
    "jobs": ("2", "3"),
    "pool": ("threads", "processes"),
    "executor": ("cold", "warm"),
    "sandbox": ("off", "auto"),
    "shadow": ("7", "8"),
    "retries": ("4", "5"),
    "refusals": ("4", "5"),
    "max_time": ("2h", "90m"),
    "cut_off_calls": ("stop", "repeat"),
    "keep": ("all", "none"),
    "stale": ("warn", "fail"),
    "report": ("html", "junit"),
    "in_a_row": ("2", "3"),
    "margin": ("2", "3"),
    "policy": ("harness.toml", "pyproject.toml"),
}
#: What a command plays, prints, goes on with and may spend: said each time.
EACH_TIME = {
    *("set", "out", "format", "shard", "resume", "answer", "decide", "replay_damaged", "dry_run"),
    *(
        "max_cost",
        "yes_spend",
        "actor",
        "into",
        "replace",
        "stale_only",
        "provenance",
        "transcripts",
        "early",
        *("details", "baseline", "power_plan", "detect", "power", "expect"),
    ),
    *("mutate_recording", "mutate_script", "drop_fixtures", "walk", "deep"),
    # these have a place in [providers.NAME]
    *("provider_limit", "connect_timeout", "read_timeout"),
}
#: What a command cannot do without.
NEEDED = {"qualify": ("x",), "compare": ("x",), "report": ("x",), "record": ("--actor", "openai/m")}
OPTIONS = [(verb, key) for verb, options in config.COMMANDS.items() for key in options]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, harness: Harness, world: World) -> Asks:
    """What an option of a command says, for a command line; nothing is played."""

    def ask(verb: str, key: str, *words: str) -> object:
        found: list[object] = []

        def note(**values: object) -> None:
            context = click.get_current_context()
            (name,) = [str(one.name) for one in options(verb) if key_of(one) == key]
            found.append(values[name] if name in values else grouped.kept(context, name))

        monkeypatch.setattr(VERBS[verb], "callback", note)
        code, _, err = harness(verb, *words, *NEEDED.get(verb, ()))
        assert (code, err) == (0, "")
        return found[0]

    return ask


def options(verb: str) -> Iterator[click.Option]:
    return (one for one in VERBS[verb].params if isinstance(one, click.Option))


def written(world: World, verb: str, key: str, value: str, *, at: str = "harness.toml", above: str = "") -> None:
    kind = config.COMMANDS[verb][key]
    text = value if kind in {"whole number", "number", "true or false"} else json.dumps(value)
    (world.folder / at).write_text(f"[{above}{verb}]\n{key} = {text}\n", "utf-8")


@pytest.mark.parametrize(("verb", "key"), [one for one in OPTIONS if one[1] in VALUES])
def test_an_option_is_set_at_each_level_and_the_nearer_one_counts(
    said: Asks, world: World, monkeypatch: pytest.MonkeyPatch, verb: str, key: str
) -> None:
    one, other = VALUES[key]
    flag, variable = f"--{key.replace('_', '-')}", config.variable(key)
    default = said(verb, key)
    typed, alternative = said(verb, key, flag, one), said(verb, key, flag, other)
    assert typed not in (default, alternative)

    written(world, verb, key, one)
    assert said(verb, key) == typed
    assert said(verb, key, flag, other) == alternative
    monkeypatch.setenv(variable, other)
    assert said(verb, key) == alternative
    assert said(verb, key, flag, one) == typed
    monkeypatch.setenv(variable, "")
    assert said(verb, key) == typed

    (world.folder / "harness.toml").unlink()
    written(world, verb, key, one, at="pyproject.toml", above="tool.harness.")
    assert said(verb, key) == typed


@pytest.mark.parametrize(("verb", "key"), [one for one in OPTIONS if one[1] not in VALUES])
def test_a_switch_is_set_at_each_level_and_the_nearer_one_counts(
    said: Asks, world: World, monkeypatch: pytest.MonkeyPatch, verb: str, key: str
) -> None:
    flag, variable = f"--{key.replace('_', '-')}", config.variable(key)
    assert (said(verb, key), said(verb, key, flag)) == (False, True)

    written(world, verb, key, "true")
    assert said(verb, key) is True
    monkeypatch.setenv(variable, "0")
    assert said(verb, key) is False
    assert said(verb, key, flag) is True
    written(world, verb, key, "false")
    monkeypatch.setenv(variable, "1")
    assert said(verb, key) is True
    assert said(verb, key, flag.replace("--", "--no-", 1)) is False


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_in_the_table_or_said_each_time(verb: str) -> None:
    keys = {key_of(one) for one in options(verb)}
    assert keys - EACH_TIME - config.COMMANDS[verb].keys() == set()
    assert config.COMMANDS[verb].keys() - keys == set()


def test_the_folder_of_runs_is_set_at_each_level(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def places() -> list[str]:
        return sorted(path.parent.parent.name for path in world.folder.glob("*/*/manifest.json"))

    harness("run", "pack/a")
    (world.folder / "harness.toml").write_text('reports = "of-file"\n', "utf-8")
    harness("run", "pack/a")
    assert harness("history", "list")[1].count("\n") == 2
    monkeypatch.setenv("HARNESS_REPORTS", "of-environment")
    harness("run", "pack/a")
    harness("run", "pack/a", "--out", "of-option/run")
    assert places() == ["of-environment", "of-file", "of-option", "reports"]
    assert harness("history", "list", "--reports", "of-option")[0] == 0


def test_a_manifest_does_not_tell_who_set_an_option(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def left(name: str) -> tuple[object, object]:
        folder = world.folder / name
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        for key in ("run_id", "created_at", "finished_at", "log", "seal"):  # times, and digests of them
            del manifest[key]
        return manifest, json.loads((folder / "asked.json").read_text("utf-8"))

    harness("run", "pack/a", "--trials", "2", "--executor", "cold", "--keep", "all", "--out", "typed")
    (world.folder / "harness.toml").write_text('[run]\ntrials = 2\nexecutor = "cold"\nkeep = "all"\n', "utf-8")
    harness("run", "pack/a", "--out", "written")
    (world.folder / "harness.toml").unlink()
    for name, value in (("TRIALS", "2"), ("EXECUTOR", "cold"), ("KEEP", "all")):
        monkeypatch.setenv(f"HARNESS_{name}", value)
    harness("run", "pack/a", "--out", "of-environment")
    assert left("typed") == left("written") == left("of-environment")
    assert left("typed")[1] != {}


def test_a_run_that_is_gone_on_with_keeps_what_it_began_with(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = world.folder / "harness.toml"
    file.write_text('[run]\ntrials = 2\nkeep = "all"\nactor = "script"\n', "utf-8")
    harness("run", "pack/a", "--out", "run")
    before = json.loads((world.folder / "run" / "asked.json").read_text("utf-8"))
    assert before["said"] == {"keep": "all"}

    file.write_text('[run]\ntrials = 9\nkeep = "none"\nstale = "warn"\nactor = "other"\n', "utf-8")
    monkeypatch.setenv("HARNESS_EXECUTOR", "cold")
    code, out, err = harness("run", "--resume", "run", "--format", "json")
    manifest = json.loads((world.folder / "run" / "manifest.json").read_text("utf-8"))
    assert (code, "all 2 episodes are finished" in err) == (0, True)
    assert (manifest["stale"], manifest["enforcement"]["executor"]) == ("fail", "warm")
    assert json.loads((world.folder / "run" / "asked.json").read_text("utf-8")) == before
    assert len(json.loads(out)["receipts"]) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("jobs = 300", "harness.toml:2: [run] jobs: not such a value; allowed: from 1 to 256"),
        ("shadow = -1", "harness.toml:2: [run] shadow: not such a value; allowed: 0 and more"),
        ('pool = "fast"', "harness.toml:2: [run] pool: not such a value; allowed: auto, threads, processes"),
        ('max_time = "soon"', "harness.toml:2: [run] max_time: must be a time like 90s, 45m, 2h or 1h30m"),
        ('actor = "nobody"', "unknown actor 'nobody'; there are: script; {}/harness.toml:2 says so"),
        ("max_cost = 1", "harness.toml:2: [run]: max_cost: what may be spent is your word"),
    ],
)
def test_what_a_file_sets_wrong_is_told_with_its_line(harness: Harness, world: World, text: str, told: str) -> None:
    (world.folder / "harness.toml").write_text(f"[run]\n{text}\n", "utf-8")
    code, out, err = harness("run", "pack/a")
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert told.format(world.folder) in err
    assert "soon" not in err
    assert harness("run", "--help")[0] == 0
    assert harness("check", "--help")[0] == 0


def test_what_a_variable_sets_wrong_is_told_with_its_name(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_JOBS", "many")
    assert harness("run", "pack/a")[2].startswith("harness: HARNESS_JOBS: 'many' is not a whole number\n")
    assert harness("run", "pack/a", "-n", "1")[0] == 0
    monkeypatch.setenv("HARNESS_JOBS", "1")
    monkeypatch.setenv("HARNESS_ACTOR", "script nobody")
    assert harness("run", "pack/a")[2].endswith("there are: script; HARNESS_ACTOR says so\n")


def test_neither_a_file_nor_a_variable_agrees_to_spend(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_MAX_COST", "5")
    monkeypatch.setenv("HARNESS_YES_SPEND", "1")
    (world.folder / "harness.toml").write_text('[run]\nactor = "openai/priced"\n', "utf-8")
    code, _, err = harness("run", "pack/a")
    assert code == 4
    assert "--max-cost" in err


def test_doctor_tells_who_sets_each_option(harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (world.folder / "harness.toml").write_text('reports = "mine"\n[run]\nactor = ["a", "b"]\njobs = 3\n', "utf-8")
    monkeypatch.setenv("HARNESS_JOBS", "4")
    monkeypatch.setenv("HARNESS_TRIAL", "2")
    monkeypatch.setenv("HARNESS_NIGHTLY", "somebody else's")
    monkeypatch.setenv("HARNESS_MAX_COST", "2")
    monkeypatch.setenv("HARNESS_REPORT", "https://u:canary-secret@h.test")
    told = json.loads(harness("doctor", "--format", "json")[1])
    rows = {(row.pop("command"), row.pop("option")): row for row in told["settings"]}
    assert set(rows) == {("", "reports"), *OPTIONS}
    assert rows["", "reports"] == {"value": "mine", "source": "file", "place": "harness.toml:1"}
    assert rows["run", "actor"] == {"value": ["a", "b"], "source": "file", "place": "harness.toml:3"}
    assert rows["run", "jobs"] == {"value": 4, "source": "environment", "place": "HARNESS_JOBS"}
    assert rows["run", "trials"] == {"value": 1, "source": "default", "place": ""}
    assert rows["report", "report"]["value"] == "(looks like a credential)"
    hints = {fact["name"]: fact["hint"] for fact in told["facts"]}
    assert hints["variable HARNESS_TRIAL"] == "did you mean HARNESS_TRIALS?"
    assert "variable HARNESS_NIGHTLY" not in hints
    assert hints["variable HARNESS_MAX_COST"].startswith("what may be spent is your word")

    lines = [" ".join(line.split()) for line in harness("doctor")[1].splitlines()]
    assert {
        "run jobs 4 HARNESS_JOBS",
        "run actor a, b harness.toml:3",
        "run retries 2 default",
        "compare margin 5 default",
    } <= set(lines)


def test_doctor_tells_the_file_that_an_option_names(harness: Harness, world: World) -> None:
    (world.folder / "harness.toml").write_text('[run]\npolicy = "nightly/policy.toml"\n', "utf-8")
    lines = [" ".join(line.split()) for line in harness("doctor")[1].splitlines()]
    assert "run policy nightly/policy.toml harness.toml:2" in lines


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("[run]\njobs = 300", "setting run jobs", "[run] jobs: not such a value; allowed: from 1 to 256"),
        ("[run]\njob = 3", "configuration", "'job': unknown; did you mean jobs?"),
        ("[run]\nreport = ['html', 'pdf']", "setting run report", "unknown report 'pdf'; there are: csv, github, html"),
        ("[qualify]\npolicy = 'gone.toml'", "setting qualify policy", "gone.toml: cannot be read: No such file"),
        ("[runs]", "configuration", "runs: unknown; did you mean [run]?"),
        ("[run", "configuration", "harness.toml:1: is no TOML"),
    ],
)
def test_doctor_tells_once_what_is_set_wrong(harness: Harness, world: World, text: str, name: str, told: str) -> None:
    (world.folder / "harness.toml").write_text(f"{text}\n", "utf-8")
    code, out, err = harness("doctor", "--format", "json")
    wrong = [fact for fact in json.loads(out)["facts"] if told in fact["text"]]
    assert (code, err, [(fact["name"], fact["status"]) for fact in wrong]) == (4, "", [(name, "missing")])
