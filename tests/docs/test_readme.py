"""README and docs, held: a shell types every command in order, and what they quote is what is printed."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest
from chat_server import call, serving
from machine import PATIENCE_S
from pages import DOCS, README, REPOSITORY, SCENARIO_PAGES, Typed, blocks, commands, shell_commands

PORT = "8000"
KEY = "the-key-of-your-model"

#: What differs between two runs that are the same: run ids, seconds, digests, and the folders of the reader.
VARYING = (
    (re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4}"), "RUN"),
    (re.compile(r"\d+\.\d+ s\b"), "TIME"),
    (re.compile(r"sha256:[0-9a-f]+"), "DIGEST"),
    (re.compile(r"/.*(?=/(?:reports|planes|scenarios)/)"), "PLACE"),
)


def steady(text: str) -> str:
    """A text without what differs between two runs."""
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return text


def is_quoted(printed: str, quoted: str) -> bool:
    """Whether a quotation, with its ``...`` lines, is of what was printed."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", steady(quoted), flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*?".join(parts), steady(printed)) is not None


@dataclass
class Shell:
    """Types commands one after the other; folder, variables and the last exit code live on, as in a terminal."""

    cwd: Path
    environ: dict[str, str]
    states: Path
    code: int = 0
    said: list[str] = field(default_factory=list)
    job: subprocess.Popen[str] | None = None

    def type(self, text: str) -> str:
        """What the command printed, errors last; of one in the background (the only one), its first line."""
        if text.rstrip().endswith("&"):
            return self._start(text.rstrip().removesuffix("&"))
        if text.strip() == "kill %1":
            return self._kill()
        state = self.states / f"{len(self.said)}.env"
        kept = f"__code=$?; pwd > '{state}.cwd'; env -0 > '{state}'; exit $__code"
        done = subprocess.run(
            ["bash", "-c", f"(exit {self.code})\n{text}\n{kept}"],  # noqa: S607  (the shell of whoever reads)
            cwd=self.cwd,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        self.code = done.returncode
        self.cwd = Path(Path(f"{state}.cwd").read_text("utf-8").removesuffix("\n"))
        pairs = (pair.split("=", 1) for pair in state.read_text("utf-8").split("\0") if pair)
        self.environ = {name: value for name, value in pairs if name not in {"_", "SHLVL"}}
        self.said.append(done.stdout.decode() + done.stderr.decode())
        return self.said[-1]

    def _start(self, text: str) -> str:
        self.job = subprocess.Popen(
            ["bash", "-c", f"exec {text}"],  # noqa: S607  (the shell of whoever reads)
            cwd=self.cwd,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.job.stdout is not None
        self.said.append(self.job.stdout.readline())
        self.code = 0
        return self.said[-1]

    def _kill(self) -> str:
        assert self.job is not None, "kill: %1: no such job"
        self.job.terminate()
        self.said.append(self.job.communicate(timeout=PATIENCE_S)[0])
        self.code = 0
        return self.said[-1]


def make_recipe(target: str) -> str:
    """What ``make TARGET`` types, without the part that makes .venv; a target that is not there is an error."""
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    found = re.search(rf"^{target}: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert found is not None, f"make {target}: there is no such target"
    lines = [line.strip().replace("$(BIN)", ".venv/bin") for line in found[1].splitlines()]
    return "".join(f"echo '{line}'\n{line}\n" for line in lines)


class Typing(NamedTuple):
    """README as it was typed: each command, how it ended, what it printed."""

    commands: list[Typed]
    codes: list[int]
    printed: list[str]
    shell: Shell


def reader(folder: Path, home: Path) -> Shell:
    """A shell in a folder that looks like a checkout with its .venv."""
    program = folder / "checkout" / ".venv" / "bin" / "harness"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness "$@"\n', "utf-8")
    program.chmod(0o755)
    for name in ("states", "tmp", "user"):
        (folder / name).mkdir()
    kept = {name: value for name, value in os.environ.items() if name == "COVERAGE_PROCESS_CONFIG"}
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "HARNESS_HOME": str(home), "TMPDIR": str(folder / "tmp"), "HOME": str(folder / "user")}
    return Shell(folder / "checkout", {**kept, **own, "LANG": "C.UTF-8"}, folder / "states")


@pytest.fixture(scope="module")
def typed(plane_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Typing:
    """Every command of README, typed one after the other, with a port that is free."""
    shell = reader(tmp_path_factory.mktemp("readme"), plane_home)
    asked, codes, printed = commands(README), [], []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
    try:
        for one in asked:
            target = re.fullmatch(r"make (\w+)", one.text)
            text = make_recipe(target[1]) if target else one.text
            printed.append(shell.type(text.replace(PORT, port)).replace(port, PORT))
            codes.append(shell.code)
    finally:
        if shell.job is not None:
            shell.job.kill()
            shell.job.communicate()
    return Typing(asked, codes, printed, shell)


@pytest.fixture
def tour(plane_home: Path, tmp_path: Path) -> Shell:
    """A shell in the folder of README's tutorial, its scenario written."""
    shell = reader(tmp_path, plane_home)
    for text in shell_commands(next(blocks(README, "sh"))):
        shell.type(text)
    return shell


@pytest.mark.slow
@pytest.mark.plane
def test_every_command_of_the_readme_ends_as_it_says(typed: Typing) -> None:
    ends = list(zip(typed.commands, typed.codes, typed.printed, strict=True))
    assert len(ends) >= 20
    assert [(one.text, code, printed) for one, code, printed in ends if code != one.code] == []


@pytest.mark.slow
@pytest.mark.plane
def test_the_readme_quotes_what_its_commands_print(typed: Typing) -> None:
    quoted = [(one, printed) for one, printed in zip(typed.commands, typed.printed, strict=True) if one.printed]
    assert len(quoted) >= 10
    for one, printed in quoted:
        assert is_quoted(printed, one.printed or ""), f"$ {one.text}\n{printed}"


@pytest.mark.slow
@pytest.mark.plane
def test_the_readme_quotes_the_receipt_of_its_failing_script(typed: Typing) -> None:
    (quotation,) = blocks(README, "json")
    runs = typed.shell.states.with_name("checkout").glob("reports/*/receipts.jsonl")
    receipts = [json.loads(line) for run in runs for line in run.read_text("utf-8").splitlines()]
    (receipt,) = [one for one in receipts if one["verdict"] == "fail"]
    quoted = json.loads(quotation)
    assert {name: receipt[name] for name in quoted} == quoted


@pytest.mark.slow
@pytest.mark.plane
def test_the_readmes_named_model_is_asked_with_its_key_and_settings(typed: Typing) -> None:
    (asks,) = [one for one in typed.commands if one.text.endswith("--actor candidate --yes-spend\n")]
    with serving(lambda _: call("ls")) as server:
        settings = typed.shell.cwd / "harness.toml"
        text = settings.read_text("utf-8")
        settings.write_text(re.sub(r'base_url = ".*"', f'base_url = "{server.url}"', text), "utf-8")
        typed.shell.type(asks.text)
    body, key = server.bodies[-1], server.keys[-1]
    assert (key, body["temperature"], body["max_tokens"]) == (f"Bearer {KEY}", 0, 1000)
    assert [said for said in typed.shell.said if KEY in said] == []


@pytest.mark.slow
@pytest.mark.plane
@pytest.mark.parametrize("page", [page for page in DOCS if commands(page)], ids=lambda page: str(page.stem))
def test_the_commands_of_a_page_do_what_it_says(page: Path, tour: Shell) -> None:
    for one in commands(page):
        printed = tour.type(one.text)
        assert tour.code == one.code, f"$ {one.text}\n{printed}"
        assert one.printed is None or is_quoted(printed, one.printed), f"$ {one.text}\n{printed}"
    for quotation in blocks(page, "json"):
        (receipts,) = tour.cwd.glob("*/receipts.jsonl")
        assert json.loads(receipts.read_text("utf-8"))["findings"] == json.loads(quotation)


def test_a_quotation_is_held_against_every_line_that_it_shows() -> None:
    said = "one\nrun 20260812T070000Z-0a1b, 1.23 s\nthree\nfour\n"
    assert is_quoted(said, "one\nrun 20200101T000000Z-ffff, 9.99 s\n...\nfour\n")
    assert is_quoted(said, "one\n...\n")
    assert not is_quoted(said, "one\nthree\n...\n")
    assert not is_quoted(said, "...\nthree\n")


@pytest.mark.slow
@pytest.mark.plane
def test_the_blocks_of_scenarios_and_rules_are_one_scenario_that_is_fine(tour: Shell) -> None:
    text = "".join(body for page in SCENARIO_PAGES for body in blocks(page, "toml"))
    name = str(tomllib.loads(text)["id"])
    path = tour.cwd / "scenarios" / f"{name}.toml"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    assert tour.type(f"harness check {name}").startswith(f"fine  {name}  ")
    assert tour.code == 0
