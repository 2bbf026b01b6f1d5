"""What README and docs name exists: links, commands, options, exit codes, keys, fields."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

import click
import pytest
from pages import DOCS, PAGES, README, REPOSITORY, SCENARIO_PAGES, blocks, commands, fences, prose
from pydantic import BaseModel

from harness import config
from harness.cli import main as entry
from harness.cli.exit_codes import PRECEDENCE, ExitCode
from harness.schema import command, control, limits, rules, script, waiver
from harness.schema import scenario as whole
from harness.schema.command import Refusal
from harness.schema.message import FinishReason, GenerationSettings, Quirk
from harness.schema.receipt import Receipt
from harness.schema.scenario import Scenario
from harness.schema.tool import ResultCode

MAKEFILE = (REPOSITORY / "Makefile").read_text("utf-8")
RUNNING = REPOSITORY / "docs" / "running.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose(page))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_the_readme_leads_to_every_page_of_docs() -> None:
    text = README.read_text("utf-8")
    assert [page.name for page in DOCS if f"](docs/{page.name})" not in text] == []


def code_table(page: Path) -> list[ExitCode]:
    return [ExitCode(int(code)) for code in re.findall(r"^\| (\d+) \|", page.read_text("utf-8"), re.MULTILINE)]


def test_the_readme_lists_every_exit_code() -> None:
    assert code_table(README) == sorted(ExitCode)


def test_running_lists_the_exit_codes_by_precedence() -> None:
    assert code_table(RUNNING) == list(PRECEDENCE)


def verbs() -> dict[str, click.Command]:
    """Every command by the words that call it, groups too."""
    group = entry._top()
    found: dict[str, click.Command] = {"": group}
    waiting = [("", group)]
    while waiting:
        words, parent = waiting.pop()
        context = click.Context(parent)
        for name in parent.list_commands(context):
            child = parent.get_command(context, name)
            assert child is not None
            found[f"{words} {name}".strip()] = child
            if isinstance(child, type(group)):
                waiting.append((f"{words} {name}".strip(), child))
    return found


def options(one: click.Command) -> set[str]:
    """The options of a command that its help shows, and the help itself."""
    shown = [param for param in one.params if isinstance(param, click.Option) and not param.hidden]
    return {"--help", *(name for param in shown for name in (*param.opts, *param.secondary_opts))}


def named_commands(page: Path) -> Iterator[list[str]]:
    """The words after ``harness`` wherever a page calls it."""
    for _, body in fences(page):
        yield from (words(line)[1:] for line in re.findall(r"^(?:\$ )?(harness .*)$", body, re.MULTILINE))
    yield from (words(span)[1:] for span in re.findall(r"`(harness [^`]+)`", prose(page)))


def words(line: str) -> list[str]:
    """The words of a command line as a shell would see them."""
    return shlex.split(line, comments=True)


def unknown_words(line: Iterable[str], known: dict[str, click.Command]) -> list[str]:
    """What of one call of harness does not exist."""
    name, rest = "", list(line)
    while rest and f"{name} {rest[0]}".strip() in known:
        name = f"{name} {rest.pop(0)}".strip()
    if isinstance(known[name], click.Group) and rest and not rest[0].startswith("-"):
        return [f"harness {name} {rest[0]}".replace("  ", " ")]
    return [
        f"{name} {word}"
        for word in rest
        if re.match(r"--?[a-z]", word) and word.split("=")[0] not in options(known[name])
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_commands_and_options_that_a_page_names_exist(page: Path) -> None:
    known = verbs()
    assert [word for line in named_commands(page) for word in unknown_words(line, known)] == []
    everything = {name for one in known.values() for name in options(one)}
    spans = re.findall(r"`(--[a-z][a-z-]*)[^`]*`", prose(page))
    assert [option for option in spans if option not in everything] == []
    typed = [one.text.split()[1] for one in commands(page) if one.text.startswith("make ")]
    targets = [*re.findall(r"`make ([a-z-]+)", prose(page)), *typed]
    assert [target for target in targets if not re.search(rf"^{target}: ", MAKEFILE, re.MULTILINE)] == []


def test_running_names_every_command_and_option() -> None:
    text = RUNNING.read_text("utf-8")
    for name, one in verbs().items():
        assert f"harness {name}".strip() in text
        missing = [option for option in options(one) if not re.search(rf"(?<![\w-]){option}(?![\w-])", text)]
        assert missing == [], name


def test_running_lists_every_option_in_the_row_of_its_command_and_no_other() -> None:
    rows = dict(
        re.findall(r"^\| `harness ([a-z ]+?)(?: [A-Z\[][^`]*)?` \|(.*)\|$", RUNNING.read_text("utf-8"), re.MULTILINE)
    )
    own = re.findall(r"^\| (`-[^|]*) \|", RUNNING.read_text("utf-8"), re.MULTILINE)
    rows["run"] = " ".join(own)
    wrong = {}
    for name, one in verbs().items():
        if isinstance(one, click.Group):
            continue
        listed = set(re.findall(r"`(--[a-z][a-z-]*)", rows[name]))
        known = {option for option in options(one) if option.startswith("--")} - {"--help"}
        if listed != known:
            wrong[name] = (sorted(known - listed), sorted(listed - known))
    assert wrong == {}


def test_running_names_every_generation_setting() -> None:
    text = RUNNING.read_text("utf-8")
    assert [name for name in GenerationSettings.model_fields if f"`{name}`" not in text] == []


def test_configuration_lists_every_key_in_the_row_of_its_table_and_its_example_is_read(tmp_path: Path) -> None:
    page = REPOSITORY / "docs" / "configuration.md"
    rows = re.findall(r"^\| `\[([a-z]+)\]` \|(.*)\|$", page.read_text("utf-8"), re.MULTILINE)
    listed = {name: set(re.findall(r"`([a-z_]+)`", keys)) for name, keys in rows}
    assert listed == {name: set(keys) for name, keys in config.COMMANDS.items()}
    (example,) = blocks(page, "toml")
    path = tmp_path / "harness.toml"
    path.write_text(example, "utf-8")
    assert config.load_defaults(path)["run"]["trials"].value == 20
    assert list(config.load_actors(path)) == ["candidate"]


def test_receipts_names_every_field_of_a_receipt() -> None:
    text = (REPOSITORY / "docs" / "receipts.md").read_text("utf-8")
    assert [name for name in Receipt.model_fields if f"`{name}`" not in text] == []


@pytest.mark.parametrize(
    "words", [ResultCode, Refusal, FinishReason, Quirk], ids=["result", "refused", "finish", "quirks"]
)
def test_receipts_tells_every_word_of_a_step_and_a_turn(words: object) -> None:
    text = (REPOSITORY / "docs" / "receipts.md").read_text("utf-8")
    assert len(get_args(words)) > 5
    assert [word for word in get_args(words) if f"`{word}`" not in text] == []


def keys(kind: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[str]:
    """Every key that a scenario file may have, at any depth."""
    seen.add(kind)
    for name, info in kind.model_fields.items():
        yield info.alias or name
        text = repr(info.annotation)
        for other in MODELS:
            if other not in seen and re.search(rf"\b{re.escape(other.__name__)}\b", text):
                yield from keys(other, seen)


def models() -> list[type[BaseModel]]:
    modules = (control, limits, rules, script, waiver, whole)
    found = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    return [*(value for value in found if issubclass(value, BaseModel)), command.CallSpec]


MODELS = models()


def test_scenarios_and_rules_tell_every_key() -> None:
    text = "".join(page.read_text("utf-8") for page in SCENARIO_PAGES)
    wanted = sorted(set(keys(Scenario, set())))
    assert len(wanted) > 60
    assert [key for key in wanted if not re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", text)] == []


def test_a_command_or_an_option_that_is_not_there_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`harness fly`, `harness run --wings 2`\n\n```console\n$ harness plane lend x\n```\n", "utf-8")
    known = verbs()
    found = [word for line in named_commands(page) for word in unknown_words(line, known)]
    assert sorted(found) == ["harness fly", "harness plane lend", "run --wings"]
