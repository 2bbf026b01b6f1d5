"""A run is gone on with after something changed; the test is named by its case.

A verdict comes from the rules that also decide when an episode ends, so a changed rule is another episode: it is
played anew and never graded again. That is stricter than the case, which lets a stored answer be graded again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from chat_server import ChatServer, serving, text

from harness.cli.main import main
from harness.receipt import read_run

pytestmark = pytest.mark.plane

SCENARIO = """
schema = 1
id = "mine/c1"
asks = "Says hi."
plane = "loopx==0.4.8"

[workspace]
roots = ["project"]

[prompt]
user = "Say hi"

[tool.a]
about = "Runs a command."
argument = "cmd"
grammar = "loopx-0.4"

[[kind]]
name = "look"
read = "content"
sets = "seen"

[end]
accept = ["seen"]
silence = [{ code = "stopped" }]

[script]
reference = [{ calls = [{ name = "a", arguments = { cmd = "cat target" } }] }]
"""
TOOL = '\n[tool.b]\nabout = "Runs another command."\nargument = "cmd"\ngrammar = "loopx-0.4"\n'


@dataclass
class Place:
    """A folder with one scenario and one named actor, and the server that answers it."""

    folder: Path
    server: ChatServer

    def scenario(self, written: str) -> None:
        path = self.folder / "scenarios/mine/c1.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written, "utf-8")

    def actor(self, model: str = "m-1", temperature: int = 0) -> None:
        (self.folder / "harness.toml").write_text(
            f'[actors.it]\nprovider = "openai-compatible"\nmodel = "{model}"\nbase_url = "{self.server.url}"\n'
            f"temperature = {temperature}\n",
            "utf-8",
        )


@pytest.fixture
def place(plane_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_HOME", str(plane_home))
    with serving(lambda _: text("Hi.")) as server:
        made = Place(tmp_path, server)
        made.scenario(SCENARIO)
        made.actor()
        yield made


@pytest.mark.parametrize(
    ("change", "reused", "told"),
    [
        (lambda place: place.scenario(SCENARIO), True, None),
        (lambda place: place.scenario(SCENARIO.replace("Say hi", "Say hi!")), False, "mine/c1 changed: prompt.user"),
        (lambda place: place.actor(model="m-2"), False, "actor it changed: model"),
        (lambda place: place.actor(temperature=1), False, "actor it changed: temperature"),
        (lambda place: place.scenario(SCENARIO + TOOL), False, "mine/c1 changed: tool.b.about, tool.b.argument"),
        (
            lambda place: place.scenario(SCENARIO.replace('"stopped"', '"idle"')),
            False,
            "mine/c1 changed: end.silence[0]",
        ),
        # what no answer can depend on may change
        (lambda place: place.scenario(SCENARIO.replace("Says hi.", "Greets.")), True, None),
    ],
    ids=["same", "prompt", "model", "temperature", "tools", "grader", "title"],
)
def test_f010_an_answer_is_reused_only_where_everything_that_shapes_it_is_the_same(
    place: Place, capsys: pytest.CaptureFixture[str], change: Callable[[Place], None], *, reused: bool, told: str | None
) -> None:
    assert main(("run", "mine/c1", "--actor", "it", "--trials", "2", "--yes-spend", "--out", "out")) == 0
    before = (place.folder / "out/receipts.jsonl").read_bytes()
    change(place)
    capsys.readouterr()
    assert main(("run", "--resume", "out", "--yes-spend")) == 0

    said = capsys.readouterr().err
    assert len(place.server.bodies) == (2 if reused else 4)
    view = read_run(place.folder / "out")
    # whatever came of it, every number is of one question
    assert [receipt.trial for receipt in view.receipts] == [1, 2]
    assert len({(receipt.scenario_digest, receipt.actor.digest) for receipt in view.receipts}) == 1
    assert sum(view.manifest.verdicts.values()) == 2
    assert ((place.folder / "out/receipts.jsonl").read_bytes() == before) == reused
    aside = place.folder / "out/superseded.jsonl"
    if told is None:
        assert not aside.exists()
        assert said == "harness: all 2 episodes are finished: nothing is left to play\n"
        return
    assert f"{told} " in said or f"{told}," in said or f"{told}:" in said
    assert "what was played before is set aside, and it is played anew" in said
    assert len(list((place.folder / "out/superseded").rglob("*.jsonl"))) == 2
    assert len(list((place.folder / "out/recordings").rglob("*.jsonl"))) == 2
    kept = [json.loads(row)["receipt"] for row in aside.read_text("utf-8").splitlines()]
    assert kept == [json.loads(row) for row in before.splitlines()]
