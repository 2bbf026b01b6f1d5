from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import pytest

from harness import provision
from harness.provision import InstalledPlane
from harness.schema.process import PlaneIdentity


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path
    swept: int


def test_a_missing_plane_is_told_with_the_line_to_type(harness: Harness, world: World) -> None:
    code, out, err = harness("doctor")

    assert (code, err, world.swept) == (4, "", 1)
    assert "none is installed; harness plane install loopx==0.4.8\n" in out
    assert out.startswith("missing: control plane\n")
    assert {"python", "git"} <= set(out.split())


def test_an_installed_plane_is_told_with_its_place(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = PlaneIdentity(name="loopx", version="0.4.8", wheel_sha256="ab")
    here = InstalledPlane(identity=identity, python=Path("/planes/x/python"), root=Path("/planes/x"))
    monkeypatch.setattr(provision, "installed", lambda _: (here,))

    rows = [json.loads(line) for line in harness("doctor", "--format", "jsonl")[1].splitlines()]
    facts, settings = [row for row in rows if "status" in row], [row for row in rows if "status" not in row]

    assert facts[-2]["name"] == "control plane registry"
    assert facts[-2]["text"].startswith("part of harness, version 1+")
    assert facts[-1] == {"name": "control plane loopx==0.4.8", "status": "ok", "text": "/planes/x", "hint": ""}
    assert harness("doctor")[1].startswith("everything that a run needs is here\n")
    assert json.loads(harness("doctor", "--format", "json")[1]) == {"facts": facts, "settings": settings}


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
def test_keys_are_told_by_name_only(harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")

    _, out, err = harness("doctor", "--format", form)

    assert "OPENAI_API_KEY" in out
    assert "canary" not in out + err


def test_the_key_of_a_named_actor_is_looked_for_too(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[actors.candidate]\nprovider = "deepseek"\nmodel = "m-1"\nkey_env = "NIGHTLY_KEY"\n'
    (world.folder / "harness.toml").write_text(text)
    monkeypatch.setenv("NIGHTLY_KEY", "sk-canary-0123456789")
    assert "NIGHTLY_KEY" in harness("doctor")[1]

    (world.folder / "harness.toml").write_text(text.replace("key_env", "key_enf"))
    assert harness("doctor")[1].count("key_enf") == 1


def test_what_is_set_for_providers_is_told(harness: Harness, world: World) -> None:
    file = world.folder / "harness.toml"
    file.write_text("[providers.openai]\nread_s = 30\n", "utf-8")
    facts = [json.loads(line) for line in harness("doctor", "--format", "jsonl")[1].splitlines()]
    assert {"name": "provider openai", "status": "ok", "text": "read time-out 30 s", "hint": ""} in facts
    file.write_text("[providers.openai]\nread_s = 'canary'\n", "utf-8")
    code, out, err = harness("doctor", "--format", "jsonl")
    (fact,) = [row for row in map(json.loads, out.splitlines()) if row.get("name") == "providers"]
    assert (code, err, fact["status"]) == (4, "", "missing")
    assert "read_s: not such a value; allowed: seconds from 0.01 to 86400" in fact["text"]
    assert "canary" not in out


def test_a_proxy_that_cannot_be_used_is_told_by_its_variable(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "socks5://u:canary@h:1")

    code, out, err = harness("doctor", "--format", "jsonl")

    (fact,) = [row for row in map(json.loads, out.splitlines()) if row.get("name") == "network"]
    assert (code, err, fact["status"]) == (4, "", "missing")
    assert "https_proxy names no proxy" in fact["text"]
    assert "canary" not in out
