"""Time-outs and certificates reach the transport that a provider is asked over."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from harness import wiring
from harness.config import ProviderConfig
from harness.errors import ConfigError, EnvironmentProblem, ProviderError
from harness.ports import Transport
from harness.wiring.actors import Transports
from harness.wiring.network import http_transport, provider_config


def told(tmp_path: Path, provider: str, *, read_s: float | None = None) -> str:
    """What a call to a server that never answers ends with."""
    transport = http_transport(wiring.settings({}, tmp_path), provider, read_s=read_s)
    return failed(transport, "http", deadline_s=0.4).told


def failed(transport: Transport, scheme: str, *, deadline_s: float) -> ProviderError:
    """How a call to a server that never says anything ends."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(ProviderError) as caught:
            transport.send(url, headers={}, body=b"", deadline_s=deadline_s, cancelled=lambda: False)
    transport.close()
    return caught.value


def test_each_provider_has_its_own_time_outs(tmp_path: Path) -> None:
    (tmp_path / "harness.toml").write_text("[providers.openai]\nread_s = 0.1\n", "utf-8")
    assert told(tmp_path, "openai") == "the provider was silent for 0.1 s (read time-out)"
    assert told(tmp_path, "openai", read_s=0.2) == "the provider was silent for 0.2 s (read time-out)"
    assert told(tmp_path, "groq") == "no complete answer within 0.4 s (deadline of the attempt)"


def test_a_time_out_to_connect_bounds_the_handshake(tmp_path: Path) -> None:
    (tmp_path / "harness.toml").write_text("[providers.openai]\nconnect_s = 0.1\n", "utf-8")
    transport = http_transport(wiring.settings({}, tmp_path), "openai")
    error = failed(transport, "https", deadline_s=5.0)
    assert (error.category, error.sent) == ("timeout", False)
    assert error.told == "no connection within 0.1 s (connect time-out)"


def test_the_command_line_goes_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "harness.toml").write_text("[providers.openai]\nread_s = 9\nconnect_s = 8\n", "utf-8")
    place = replace(wiring.settings({}, tmp_path), providers={"openai": ProviderConfig(read_s=0.1)})
    assert provider_config(place, "openai") == ProviderConfig(read_s=0.1, connect_s=8.0)
    assert provider_config(place, "groq") == ProviderConfig()


def test_a_thread_has_one_transport_for_each_provider(tmp_path: Path) -> None:
    transports = Transports(wiring.settings({}, tmp_path))
    assert transports.mine("openai") is transports.mine("openai")
    assert transports.mine("openai") is not transports.mine("groq")
    others: list[object] = []
    thread = threading.Thread(target=lambda: others.append(transports.mine("openai")))
    thread.start()
    thread.join()
    assert others[0] is not transports.mine("openai")
    transports.close()


def test_what_cannot_be_used_is_refused_before_a_transport_is_made(tmp_path: Path) -> None:
    (tmp_path / "harness.toml").write_text("[providers.openai]\nread_s = 0\n", "utf-8")
    with pytest.raises(ConfigError, match="read_s"):
        Transports(wiring.settings({}, tmp_path)).mine("openai")
    place = wiring.settings({"REQUESTS_CA_BUNDLE": str(tmp_path / "none.pem")}, tmp_path)
    with pytest.raises(EnvironmentProblem, match="REQUESTS_CA_BUNDLE names no certificates"):
        Transports(place).mine("groq")
