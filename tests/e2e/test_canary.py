"""A secret planted wherever one can be planted appears in nothing that is written or printed."""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from chat_server import call, serving, text
from command_line import CommandLine
from machine import PATIENCE_S
from pydantic import JsonValue

from harness import wiring

pytestmark = [pytest.mark.plane, pytest.mark.slow]

#: In the environment, as an API key; and in files, file names, prompt, tool output and replies.
KEY = "sk-canary-KEY-7f3a9c51e2"
CANARY = "canary+TEXT/5d1b77e0c4"
#: A file name cannot hold a slash.
NAME = "canary-NAME-90ab12cd34"
SOURCE = "loopx/capability-repair"


def forms(secret: str) -> list[bytes]:
    """The usual ways to write a secret down."""
    data = secret.encode()
    aligned = [base64.b64encode(b"x" * shift + data)[4 if shift else 0 : -4] for shift in range(3)]
    return [data, data.hex().encode(), quote(secret, safe="").encode(), *aligned]


KEYS = forms(KEY)
ALL = [form for secret in (KEY, CANARY, NAME) for form in forms(secret)]


def joined(data: bytes) -> bytes:
    """Without what wraps lines, as it is or escaped."""
    return re.sub(rb"\\+[nrt]", b"", data.translate(None, b" \t\r\n\v\f"))


def leaks(*folders: Path, forms_of: list[bytes] = ALL) -> list[str]:
    """Files (by name or content) in which a planted secret appears, symlinks not followed."""
    found: list[str] = []
    for folder in folders:
        for root, names, files in os.walk(folder):
            for name in (*names, *files):
                path = Path(root) / name
                data = os.fsencode(name)
                if path.is_file() and not path.is_symlink():
                    data += b"\0" + path.read_bytes()
                whole = joined(data)
                if any(form in data or form in whole for form in forms_of):
                    found.append(str(path))
    return found


@pytest.fixture
def planted(line: CommandLine) -> CommandLine:
    """A user's own scenario full of canaries, and keys in the environment."""
    place = wiring.settings()
    source = wiring.scenarios(place)[SOURCE].read_text(encoding="utf-8")
    altered = source.replace('id = "loopx/capability-repair"', 'id = "canary/planted"')
    altered = altered.replace("[prompt]\nsystem = '''\n", f"[prompt]\nsystem = '''\n{CANARY}\n")
    extra = f"[[workspace.file]]\nat = [\"project/{NAME}.txt\"]\ntext = '{CANARY}'\n\n[prompt]"
    altered = altered.replace("[prompt]", extra, 1)
    assert altered.count(CANARY) == 2
    folder = line.cwd / "scenarios" / "canary"
    folder.mkdir(parents=True)
    (folder / "planted.toml").write_text(altered, encoding="utf-8")
    line.environ.update(OPENAI_API_KEY=KEY, HARNESS_API_KEY=KEY, SOME_TOKEN=KEY, LOOPX_REGISTRY=f"/{NAME}")
    return line


def remove_plants(line: CommandLine) -> None:
    """What we planted ourselves is not looked at."""
    (line.cwd / "scenarios" / "canary" / "planted.toml").unlink(missing_ok=True)


def answers(last: dict[str, JsonValue] | tuple[int, bytes]) -> Iterator[dict[str, JsonValue] | tuple[int, bytes]]:
    """A model that reads the planted file, says the secret, and ends in ``last``."""
    yield call("ls -la", "call-1")
    yield {**call(f"cat {NAME}.txt", CANARY[:10] + "-id"), "note": CANARY}
    yield last


@pytest.mark.parametrize(
    "last",
    [
        text(f"I saw {CANARY} and {KEY}."),
        (500, f'{{"error": {{"message": "{KEY} {CANARY}"}}}}'.encode()),
        (200, KEY.encode()),
    ],
    ids=["words", "an error", "nonsense"],
)
def test_nothing_a_live_model_saw_or_said_is_written_or_printed(
    planted: CommandLine, last: dict[str, JsonValue] | tuple[int, bytes]
) -> None:
    given = answers(last)
    with serving(lambda _: next(given)) as server:
        actor = f"openai-compatible/toy@{server.url}"
        done = planted.run(
            "run", "canary/planted", "--actor", actor, "--yes-spend", "--out", str(planted.folder / "out")
        )
        assert server.keys[0] == f"Bearer {KEY}"
    assert done.returncode in {0, 2}, done.stderr
    remove_plants(planted)
    assert (planted.folder / "out" / "receipts.jsonl").read_bytes().count(b"\n") == 1
    kept = planted.folder / "out" / "recordings"
    if kept.exists():
        # what was said stays there to be examined, for its owner only, and without any key
        assert stat.S_IMODE(kept.stat().st_mode) == 0o700
        assert leaks(kept, forms_of=KEYS) == []
        shutil.rmtree(kept)
    assert leaks(planted.folder / "out", planted.home, planted.temporary, planted.cwd, planted.user) == []
    assert [form for form in ALL if form in done.stdout + done.stderr] == []


def test_a_key_planted_in_everything_is_not_in_a_recording_either(planted: CommandLine) -> None:
    """Recorded, kept, shown and reported: in none of the usual encodings, whole or in pieces."""
    path = planted.cwd / "scenarios" / "canary" / "planted.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(CANARY, KEY).replace(NAME, KEY), encoding="utf-8")
    encoded = [KEY, base64.b64encode(KEY.encode()).decode(), KEY.encode().hex(), quote(KEY, safe="")]
    wrapped = [form[:at] + cut + form[at:] for form in encoded for at, cut in ((7, "\n"), (9, "\r\n  "), (8, "\\n"))]
    said = " ".join([*encoded, *wrapped, *("%" + format(byte, "02x") for byte in KEY.encode())])
    given = iter([call("ls -la", "call-1"), call(f"cat {KEY}.txt", "call-2"), text(said)])
    out = planted.folder / "out"
    with serving(lambda _: next(given)) as server:
        actor = f"openai-compatible/toy@{server.url}"
        done = planted.run("run", "canary/planted", "--actor", actor, "--yes-spend", "--keep", "all", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert len(list((out / "recordings").rglob("*.jsonl"))) == 1
    shown = planted.run("show", f"{out}/1", "--transcript")
    assert shown.returncode == 0, shown.stderr
    reported = planted.run("report", str(out), "--transcripts")
    assert reported.returncode == 0, reported.stderr
    remove_plants(planted)
    printed = done.stdout + done.stderr + shown.stdout + shown.stderr + reported.stdout + reported.stderr
    assert leaks(out, planted.home, planted.temporary, planted.cwd, planted.user, forms_of=KEYS) == []
    assert [form for form in KEYS if form in printed or form in joined(printed)] == []


def test_nothing_of_a_script_is_written_or_printed(planted: CommandLine) -> None:
    script = planted.folder / "script.json"
    actions = f'[{{"command": "ls"}}, {{"command": "cat {NAME}.txt", "assistant_content": "{CANARY}"}}]'
    script.write_text(f'{{"scripts": {{"one": {{"actions": {actions}}}}}}}', encoding="utf-8")
    out = planted.folder / "out"
    done = planted.run("run", "canary/planted", "--actor", f"script:{script}", "--out", str(out), "--format", "jsonl")
    assert done.returncode == 1, done.stderr
    script.unlink()
    remove_plants(planted)
    assert leaks(out, planted.home, planted.temporary, planted.cwd, planted.user) == []
    assert [form for form in ALL if form in done.stdout + done.stderr] == []


def test_a_bug_of_ours_shows_no_value(planted: CommandLine) -> None:
    """A scenario that cannot be loaded quotes the place, never what surrounds it."""
    path = planted.cwd / "scenarios" / "canary" / "planted.toml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("schema = 1", f'schema = 1\nkey = "{KEY}"'), encoding="utf-8"
    )
    done = planted.run("run", "canary/planted")
    assert done.returncode == 4
    assert done.stderr.count(b"\n") <= 2
    assert KEY.encode() not in done.stdout + done.stderr


@pytest.mark.parametrize("keep", ["failed", "all"])
def test_after_a_kill_only_the_workspace_holds_texts_and_the_next_start_removes_it(
    planted: CommandLine, keep: str
) -> None:
    release = threading.Event()
    first = iter([{**call("ls -la", "call-1"), "note": CANARY}])

    def hang(_: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for answer in first:
            return answer
        hung.set()
        release.wait(60)
        return text("too late")

    hung = threading.Event()

    with serving(hang) as server:
        process = planted.start(
            "run",
            "canary/planted",
            "--yes-spend",
            "--out",
            str(planted.folder / "out"),
            "--actor",
            f"openai-compatible/toy@{server.url}",
            "--keep",
            keep,
        )
        assert hung.wait(60)
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=PATIENCE_S)
        release.set()
    remove_plants(planted)
    workspaces = [path for path in planted.temporary.iterdir() if path.is_dir()]
    assert len(workspaces) == 1
    assert stat.S_IMODE(workspaces[0].stat().st_mode) == 0o700
    inside = leaks(planted.temporary)
    assert inside
    assert all(path.startswith(str(workspaces[0])) for path in inside)
    assert not [path for path in inside if Path(path).is_file() and KEY.encode() in Path(path).read_bytes()]
    episodes = planted.folder / "out" / "episodes"
    (place,) = episodes.iterdir()
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert leaks(place)
    assert leaks(place, forms_of=KEYS) == []
    recorded = planted.folder / "out" / "recordings"
    assert stat.S_IMODE(recorded.stat().st_mode) == 0o700
    assert [path.suffix for path in recorded.rglob("*") if path.is_file()] == [".partial"]
    assert leaks(recorded, forms_of=KEYS) == []
    assert all(path.startswith((str(place), str(recorded))) for path in leaks(planted.folder / "out"))
    assert leaks(planted.home, planted.cwd, planted.user) == []
    assert [form for form in ALL if form in out + err] == []
    assert planted.run("doctor").returncode == 0
    assert planted.run("history", "purge", str(planted.folder / "out")).returncode == 0
    assert list(planted.temporary.iterdir()) == []
    assert leaks(planted.folder, planted.home) == []
