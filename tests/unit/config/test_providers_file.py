"""How much of a provider a run takes, as users write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config import PRESETS, ProviderConfig, load_providers, read_limits, read_time_outs
from harness.errors import ConfigError, UsageError

CANARY = "canary-7f3a"
PROVIDERS = ", ".join(preset.name for preset in PRESETS)


def written(folder: Path, text: str) -> Path:
    path = folder / "harness.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_providers_are_read_by_name_and_nothing_else_of_the_file(tmp_path: Path) -> None:
    text = "[providers.openai]\nconcurrency = 4\n[providers.ark]\n[actors.x]\nprovider = 3\n"
    assert load_providers(written(tmp_path, text)) == {"openai": ProviderConfig(4), "ark": ProviderConfig(None)}


def test_time_outs_are_seconds_and_are_told_in_one_line(tmp_path: Path) -> None:
    openai = "[providers.openai]\nconcurrency = 4\nconnect_s = 2\nread_s = 30.5\n"
    text = f"{openai}[providers.ark]\nread_s = 9\n[providers.groq]"
    found = load_providers(written(tmp_path, text))
    assert found == {
        "openai": ProviderConfig(4, 2.0, 30.5),
        "ark": ProviderConfig(read_s=9.0),
        "groq": ProviderConfig(),
    }
    assert [one.told for one in found.values()] == [
        "4 at once, connect time-out 2 s, read time-out 30.5 s",
        "read time-out 9 s",
        "nothing is set",
    ]


def test_no_file_and_no_table_are_no_providers(tmp_path: Path) -> None:
    assert load_providers(tmp_path / "none.toml") == {}
    assert load_providers(written(tmp_path, "")) == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"providers = '{CANARY}'", r"providers: must be tables; allowed: \[providers.NAME\]"),
        (f"[providers.{CANARY}]", f"a name is not known; allowed: {PROVIDERS}"),
        (f"[providers]\nopenai = '{CANARY}'", r"\[providers.openai\]: must be a table; allowed keys: concurrency"),
        (f"[providers.openai]\n{CANARY} = 1", "a key is not known; allowed: concurrency"),
        ("[providers.openai]\nretries = 1", "'retries' is not known; allowed: concurrency"),
        ("[providers.opnai]\nconcurrency = 1", "'opnai' is not known; allowed: "),
        ("[providers.openai]\nconcurrency = 0", "allowed: a whole number from 1 to 256"),
        ("[providers.openai]\nconcurrency = 257", "from 1 to 256"),
        ("[providers.openai]\nconcurrency = true", "from 1 to 256"),
        ("[providers.openai]\nconcurrency = 1.5", "from 1 to 256"),
        (f"[providers.openai]\nconcurrency = '{CANARY}'", "from 1 to 256"),
        ("[providers.openai]\nconnect_s = 0", "connect_s: not such a value; allowed: seconds from 0.01 to 600"),
        ("[providers.openai]\nconnect_s = 601", "from 0.01 to 600"),
        ("[providers.openai]\nread_s = true", "read_s: not such a value; allowed: seconds from 0.01 to 86400"),
        ("[providers.openai]\nread_s = nan", "read_s: not a finite number"),
        (f"[providers.openai]\nread_s = '{CANARY}'", "from 0.01 to 86400"),
        (f"[providers\n{CANARY}", "is no TOML"),
    ],
)
def test_what_cannot_be_used_is_one_line_without_its_value(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        load_providers(written(tmp_path, text))
    assert CANARY not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_time_outs_on_the_command_line_are_read_and_the_last_one_of_a_name_counts() -> None:
    found = read_time_outs(["openai=2", "openai=2.5", "ark=600"], ["openai=30", "groq=0.01"])
    assert found == {
        "openai": ProviderConfig(connect_s=2.5, read_s=30.0),
        "ark": ProviderConfig(connect_s=600.0),
        "groq": ProviderConfig(read_s=0.01),
    }


@pytest.mark.parametrize(
    ("connect", "read", "problem"),
    [
        ("openai", None, "--connect-timeout takes NAME=S; names: "),
        (f"{CANARY}!=1", None, "--connect-timeout: the name given is no provider; there are: "),
        ("openai=0", None, "--connect-timeout openai: this number cannot be used; allowed: seconds from 0.01 to 600"),
        ("openai=601", None, "from 0.01 to 600"),
        (None, "openai=nan", "--read-timeout openai: this number cannot be used; allowed: seconds from 0.01 to 86400"),
        (None, "openai=1e3", "from 0.01 to 86400"),
        (None, f"openai={CANARY}", "from 0.01 to 86400"),
    ],
)
def test_a_time_out_that_cannot_be_used_is_refused(connect: str | None, read: str | None, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as caught:
        read_time_outs([connect] if connect else [], [read] if read else [])
    assert CANARY not in str(caught.value)


def test_limits_are_read_and_the_last_one_of_a_name_counts() -> None:
    assert read_limits(["openai=2", "ark=256", "openai=1"]) == {"openai": 1, "ark": 256}


@pytest.mark.parametrize("text", ["openai", "azure=2", "openai=0", "openai=257", "openai=-1", "openai=²", "openai="])
def test_a_limit_that_cannot_be_used_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(UsageError, match=rf"names: {PROVIDERS}|there are: {PROVIDERS}|from 1 to 256"):
        read_limits([text])
