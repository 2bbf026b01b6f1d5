from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from harness import command, wiring
from harness.errors import SetupRejectedError
from harness.schema.command import CallSpec, GrammarContext
from harness.schema.scenario import LoadedScenario
from harness.wiring import Classification


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path
    swept: int


@pytest.fixture
def after(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Classifies by whether there is anything to read; the kinds it was told came before are in the list."""
    told: list[str] = []
    context = GrammarContext(
        profile="loopx-0.4",
        roots={"project": str(tmp_path.resolve())},
        cwd="project",
        call=CallSpec(allow={"quota should-run": ("goal-id",)}),
    )

    def classify(text: str) -> Classification:
        if text == "{nope}":
            return Classification(kind=None, code=None, problem="the value 'nope' cannot be resolved here")
        if text == "unread":
            return Classification(kind=None, code=None)
        if text == "explode":
            raise SetupRejectedError("the world is gone")
        parsed = command.parse(text, context)
        kind = "look" if parsed.reads or parsed.clock or parsed.call else None
        return Classification(kind=kind, code=None if kind else "unexpected_command", parsed=parsed)

    @contextmanager
    def classifier(
        place: wiring.Settings, loaded: LoadedScenario, kinds: Sequence[str]
    ) -> Iterator[Callable[[str], Classification]]:
        del place, loaded
        told.extend(kinds)
        yield classify

    monkeypatch.setattr(wiring, "classifier", classifier)
    return told


def _lines(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines()]


def test_commands_are_numbered_and_classified(harness: Harness, world: World, after: list[str]) -> None:
    code, out, err = harness("scenario", "classify", "pack/a", "date -u", "rm -rf /", "--format", "jsonl")

    assert (code, err, world.swept) == (0, "", 1)
    assert [(line["id"], line["kind"], line["code"]) for line in _lines(out)] == [
        ("1", "look", None),
        ("2", None, "unexpected_command"),
    ]
    assert _lines(out)[0]["plan"] == {"clock": {"utc": True}}


def test_every_entry_of_a_file_gives_one_object_bad_ones_included(
    harness: Harness, world: World, after: list[str]
) -> None:
    file = world.folder / "commands.json"
    entries = [
        {"id": "nul", "command": "cat \u0000"},
        {"id": "odd", "command": "\ud800 \u00b2"},
        {"id": 7, "command": "{nope}"},
        {"id": "gone", "command": "explode"},
        {"id": "none"},
        "text",
        {"command": "date"},
    ]
    file.write_text(json.dumps(entries))

    code, out, err = harness("scenario", "classify", "pack/a", "--commands", str(file), "--format", "jsonl")

    lines = _lines(out)
    assert (code, err) == (0, "")
    assert [line["id"] for line in lines] == ["nul", "odd", 7, "gone", "none", "6", "7"]
    assert [line["problem"] for line in lines] == [
        None,
        None,
        "the value 'nope' cannot be resolved here",
        "the world is gone",
        "the entry has no text command",
        "the entry is no object with id and command",
        None,
    ]
    assert all(line["kind"] is None for line in lines[2:6])


def test_json_is_one_object(harness: Harness, world: World, after: list[str]) -> None:
    lines = _lines(harness("scenario", "classify", "pack/a", "date", "--format", "jsonl")[1])

    assert json.loads(harness("scenario", "classify", "pack/a", "date", "--format", "json")[1]) == {"commands": lines}


def test_text_is_a_table_of_kind_code_and_plan(harness: Harness, world: World, after: list[str]) -> None:
    out = harness(
        *("scenario", "classify", "pack/a", "date", "rm x", "ls && cat a | head -3", "{nope}"),
        *("loopx quota should-run --goal-id g", "echo a; loopx quota should-run --goal-id g"),
    )[1]

    assert [" ".join(line.split()) for line in out.splitlines()] == [
        "id kind code plan",
        "1 look - clock",
        "2 - unexpected_command nothing that may be run",
        "3 look - other: ls && cat project/a | first 3",
        "4 - - the value 'nope' cannot be resolved here",
        "5 look - call quota should-run (is run)",
        "6 look - call quota should-run (not run: text_before)",
    ]


def test_a_cell_with_control_characters_is_shown_as_json(harness: Harness, world: World, after: list[str]) -> None:
    file = world.folder / "commands.json"
    file.write_text(json.dumps([{"id": "a\u001b[31m", "command": "date"}, {"id": 7}]))

    out = harness("scenario", "classify", "pack/a", "--commands", str(file))[1]

    assert "\x1b" not in out
    assert '"a\\u001b[31m"' in out
    assert out.splitlines()[2].startswith("7 ")


def test_kinds_that_came_before_are_handed_on(harness: Harness, world: World, after: list[str]) -> None:
    harness("scenario", "classify", "pack/a", "date", "--after", "look", "--after", "look")

    assert after == ["look", "look"]


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (("date", "--after", "fly"), "harness: unknown kind 'fly'; there are: look\n"),
        ((), "harness: no command to classify; give some, or --commands FILE\n"),
        (("--commands", "no.json"), "harness: Invalid value for '--commands': File 'no.json' does not exist; see: "),
    ],
)
def test_what_cannot_be_used_is_one_line(
    harness: Harness, world: World, after: list[str], argv: tuple[str, ...], line: str
) -> None:
    code, out, err = harness("scenario", "classify", "pack/a", *argv)

    assert (code, out, err.count("\n")) == (4, "", 1)
    assert err.startswith(line)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[\n{]", ":2: is no JSON; expected a list of objects with id and command"),
        ("{}", ": holds no list; expected a list of objects with id and command"),
        ("[" * 200_000, ": is nested too deeply; expected a list of objects with id and command"),
    ],
)
def test_a_file_that_is_no_list_of_commands_is_refused(
    harness: Harness, world: World, after: list[str], text: str, problem: str
) -> None:
    (world.folder / "bad.json").write_text(text)

    code, out, err = harness("scenario", "classify", "pack/a", "--commands", "bad.json")

    assert (code, out, err) == (4, "", f"harness: bad.json{problem}\n")


def test_a_file_with_bytes_that_are_no_utf8_is_read_all_the_same(
    harness: Harness, world: World, after: list[str]
) -> None:
    (world.folder / "odd.json").write_bytes(b'[{"id": "\xff", "command": "\xff"}]')

    code, out, _ = harness("scenario", "classify", "pack/a", "--commands", "odd.json", "--format", "jsonl")

    assert (code, [line["kind"] for line in _lines(out)]) == (0, [None])
