"""What another program's value should not hold where a model reads it is found, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import redaction
from harness.redaction import LOCAL_PATH
from harness.schema.base import JsonValue


@pytest.mark.parametrize(
    "path",
    [
        "/home/u/x",
        "/root",
        "/root/x",
        "/Users/ann/Documents/a.txt",
        "/tmp/abc/def",  # noqa: S108  (a text)
        "/private/var/folders/xy",
        "/Volumes/disk/a",
        "/opt/tool/bin",
        "file:///home/u/x",
        "C:\\Users\\ann\\a.txt",
        "d:/work/a.txt",
        "\\\\server\\share\\a.txt",
    ],
)
def test_a_path_of_a_machine_is_hidden_wherever_it_stands(path: str) -> None:
    value: JsonValue = {"a": [f"see {path}, then go on", {path: path}]}
    assert len(list(redaction.local_paths(value))) == 2
    assert redaction.without_local_paths(value) == {
        "a": [f"see {LOCAL_PATH}, then go on", {LOCAL_PATH: LOCAL_PATH}],
    }


@pytest.mark.parametrize(
    "text",
    [
        "/goal <task_body>",
        "/loopx",
        "from /skills",
        "{project_root}/tmp/a",
        "{project_root}",
        "https://example.org/home/page",
        "src/home/a.py",
        "$HOME/.codex/loopx",
        "~/tmp/a",
        "and/or, 1/2",
        "/homework",
        "/usr-local",
        "note: a/b",
    ],
)
def test_what_only_looks_a_little_like_one_stays(text: str) -> None:
    assert not list(redaction.local_paths(text))
    assert redaction.without_local_paths(text) == text


@pytest.mark.parametrize(
    "value",
    [
        {"api_key": "x"},
        {"deep": [{"client-secret": "x"}]},
        {"Authorization": "x"},
        {"token": "x"},
        {"access_token": {"value": "x"}},
        {"private_key": ["x"]},
        {"db_password": "x"},
        {"set_cookie": "x"},
        {"credentials": "x"},
        {"a": "send Bearer abcdef123456"},
        {"a": "AKIA" + "ABCDEFGHIJKLMNOP"},
        {"a": "ghp_" + "a" * 36},
        {"a": "sk-" + "a" * 24},
        {"a": "-----BEGIN RSA PRIVATE KEY-----"},
        {"a": "eyJhbGciOiJI.eyJzdWIiOiIx.x"},
        {"a": "https://user:pass@example.org/"},
        {"a": "API_KEY=abcdefgh12"},
        ["password: hunter2hunter2"],
    ],
)
def test_what_looks_like_a_credential_is_found(value: JsonValue) -> None:
    assert list(redaction.credentials(value))


@pytest.mark.parametrize(
    "value",
    [
        {"reset_token": "25fb78d7597484b9", "state_key": "a.b"},
        {"needs_token": True, "max_tokens": 5, "token": None, "secret": ""},
        {"a": "credentials or secrets are required", "b": "--reset-token"},
        {"idempotency_key_ref": "$.identity.effect_id"},
        {"public_key_note": "the bearer waits"},
    ],
)
def test_what_is_called_a_little_like_one_is_none(value: JsonValue) -> None:
    assert not list(redaction.credentials(value))


def test_it_is_told_where_it_stands() -> None:
    assert list(redaction.credentials({"a/b": [{"api_key": "x"}]})) == ["/a~1b/0/api_key"]


@given(st.text(max_size=60))
def test_no_path_is_left_where_paths_were_hidden(text: str) -> None:
    hidden = redaction.without_local_paths(f"{text} /home/u {text}")
    assert not list(redaction.local_paths(hidden))
    assert redaction.without_local_paths(hidden) == hidden
