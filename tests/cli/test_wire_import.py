"""``harness wire import``: what is told, what is left out, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import pytest
from cassettes import CHAT, Interaction, exchange, written
from pydantic import JsonValue


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def talk(said: str = "Hello.") -> Interaction:
    message: JsonValue = {"role": "assistant", "content": said}
    choices: JsonValue = [{"index": 0, "message": message, "finish_reason": "stop"}]
    asked = {"model": "m-1", "messages": [{"role": "user", "content": "Hi."}]}
    return exchange(CHAT, json.dumps(asked), json.dumps({"object": "chat.completion", "choices": choices}))


def embedding() -> Interaction:
    return exchange("https://api.openai.com/v1/embeddings", {"model": "e"}, {"data": []})


def test_a_cassette_is_imported_decoded_and_shown(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "talk.yaml", talk(), embedding(), embedding())
    code, out, err = harness("wire", "import", "talk.yaml", "--out", "kept")
    (path,) = tmp_path.glob("kept/imported/talk-*/openai--m-1-*.jsonl")
    assert code == 0
    assert out.splitlines() == [
        "talk.yaml  1 exchange with openai/m-1",
        f"  {path}",
        "1 cassette read, 1 exchange in 1 recording, 2 exchanges left out",
    ]
    assert err == "harness: talk.yaml: left out: POST /v1/embeddings, 2 times: no call of a model\n"

    told = json.loads(harness("wire", "decode", str(path), "--format", "jsonl")[1])
    assert (told["id"], told["text"], told["finish"]) == (f"{path.stem}#1", "Hello.", "stop")
    assert "next_request" not in told
    assert "text       Hello." in harness("wire", "decode", str(path))[1]

    shown = " ".join(harness("show", str(path))[1].split())
    assert "openai/m-1, trial 1, imported, redacted when it was written" in shown
    assert "it is of no scenario: it cannot be judged, and not be replayed in one" in shown
    assert "user Hi. model says Hello." in shown


def test_the_same_once_more_changes_nothing_and_says_so(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "talk.json", talk())
    harness("wire", "import", "talk.json", "--out", "kept")
    code, out, _ = harness("wire", "import", "talk.json", "--out", "kept")
    assert code == 0
    assert ", which was there already" in out
    assert out.endswith("1 cassette read, 1 exchange in 1 recording (1 there already), 0 exchanges left out\n")


def test_another_recording_in_its_place_stays_without_replace(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "talk.yaml", talk())
    harness("wire", "import", "talk.yaml", "--out", "kept")
    (path,) = tmp_path.glob("kept/imported/*/*.jsonl")
    good = path.read_bytes()
    path.write_bytes(b"mine")
    code, _, err = harness("wire", "import", "talk.yaml", "--out", "kept")
    assert (code, path.read_bytes()) == (4, b"mine")
    assert "there is a recording already; --replace writes a new one over it" in err
    assert harness("wire", "import", "talk.yaml", "--out", "kept", "--replace")[0] == 0
    assert path.read_bytes() == good


def test_files_that_cannot_be_read_are_named_and_the_others_imported(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "talk.yaml", talk())
    (tmp_path / "bad.yaml").write_text("a: [1,\n", encoding="utf-8")
    code, out, err = harness("wire", "import", "bad.yaml", "gone.yaml", "talk.yaml", "--out", "kept")
    assert code == 4
    assert err.splitlines() == [
        "harness: bad.yaml: line 2: is no YAML: did not find expected node content",
        "harness: gone.yaml: cannot be read: No such file or directory",
    ]
    assert out.endswith(
        "1 cassette read, 1 exchange in 1 recording, 0 exchanges left out, 2 files could not be imported\n"
    )


def test_cassettes_without_any_call_of_a_model_select_nothing(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "a.yaml", embedding())
    written(tmp_path / "b.yaml")
    code, out, err = harness("wire", "import", "a.yaml", "b.yaml", "--out", "kept")
    assert (code, err.count("\n")) == (5, 1)
    assert out == "2 cassettes read, 0 exchanges in 0 recordings, 1 exchange left out\n"
    assert not (tmp_path / "kept").exists()


def test_a_line_of_json_a_cassette(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "talk.yaml", talk(), embedding())
    (tmp_path / "bad.yaml").write_text("a", encoding="utf-8")
    code, out, _ = harness("wire", "import", "talk.yaml", "bad.yaml", "--out", "kept", "--format", "jsonl")
    good, bad = (json.loads(line) for line in out.splitlines())
    (made,) = good["recordings"]
    assert code == 4
    assert Path(made.pop("path")).is_file()
    assert made == {"api": "openai-chat", "provider": "openai", "model": "m-1", "exchanges": 1, "new": True}
    assert good["left_out"] == [{"number": 2, "what": "POST /v1/embeddings", "why": "no call of a model"}]
    assert bad == {
        "cassette": "bad.yaml",
        "problem": "bad.yaml: is no vcrpy cassette: it holds no list of interactions",
    }


def test_one_json_object_with_the_counts(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "talk.yaml", talk(), embedding())
    (tmp_path / "bad.yaml").write_text("a", encoding="utf-8")
    told = json.loads(harness("wire", "import", "bad.yaml", "talk.yaml", "--out", "kept", "--format", "json")[1])
    assert [one["cassette"] for one in told.pop("cassettes")] == ["talk.yaml", "bad.yaml"]
    assert told == {"read": 1, "unread": 1, "recordings": 1, "exchanges": 1, "already_there": 0, "left_out": 1}


def test_a_dialect_can_be_said(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "talk.yaml", exchange("https://gate.example/ask", {"model": "m-1"}, {"content": []}))
    assert harness("wire", "import", "talk.yaml", "--out", "kept")[0] == 5
    code, out, _ = harness("wire", "import", "talk.yaml", "--out", "kept", "--api", "anthropic")
    assert (code, "1 exchange with anthropic/m-1" in out) == (0, True)


def test_names_of_files_and_models_cannot_act_on_a_terminal(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "talk.yaml", exchange(CHAT, {"model": "m\x1b[31m"}, {}), exchange("https://a/\x1b[31m"))
    _, out, err = harness("wire", "import", "talk.yaml", "--out", "kept")
    assert "\x1b" not in out + err


def test_a_folder_that_cannot_be_written_is_told(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "talk.yaml", talk())
    (tmp_path / "kept").write_text("a file", encoding="utf-8")
    code, _, err = harness("wire", "import", "talk.yaml", "--out", "kept")
    assert (code, err.count("\n"), "cannot be written" in err) == (4, 1, True)


def test_a_recording_that_is_damaged_is_named_when_it_is_decoded(harness: Harness, tmp_path: Path) -> None:
    written(tmp_path / "talk.yaml", talk())
    harness("wire", "import", "talk.yaml", "--out", "kept")
    (path,) = tmp_path.glob("kept/imported/*/*.jsonl")
    path.write_bytes(path.read_bytes().replace(b"Hello.", b"Bye..."))
    code, out, err = harness("wire", "decode", str(path))
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert "its digest does not fit" in err


def test_a_recorded_provider_that_nobody_knows_here_is_named(harness: Harness, tmp_path: Path) -> None:
    import recorded as rec

    from harness.recording import dump

    header = rec.header()
    actor = header.actor.model_copy(update={"provider": "another"})
    (tmp_path / "a.jsonl").write_bytes(dump(header.model_copy(update={"actor": actor}), [rec.exchange(1, {})], []))
    code, _, err = harness("wire", "decode", "a.jsonl")
    assert (code, err) == (4, "harness: a.jsonl: its provider 'another' is not known here\n")
    assert "HTTP 200" in harness("show", "a.jsonl")[1]


def test_an_imported_recording_plays_no_scenario_and_says_what_it_is_good_for(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_HOME", str(tmp_path / "home"))
    written(tmp_path / "talk.yaml", talk())
    harness("wire", "import", "talk.yaml", "--out", "kept")
    (path,) = tmp_path.glob("kept/imported/*/*.jsonl")
    told = f"harness: {path}: was imported and is of no scenario, so none can be played with it; harness show {path}"
    for selection in ((), ("registry/reports-blocked-honestly",)):
        code, _, err = harness("run", *selection, "--actor", f"recorded:{path}")
        assert (code, err) == (4, f"{told} tells it\n")
