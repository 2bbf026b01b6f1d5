from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

import httpx
import pytest
from machine import PATIENCE_S

from harness.schema.rehearsal import REHEARSAL_HEADER, ServedCall, Visit

PROMPT = "Now `loopx --format json quota should-run --goal-id g` please."


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


def ask(url: str, model: str, read_s: float = 20) -> httpx.Response:
    visit = Visit(scenario="loopx/selected-todo", trial=1, turn=1, attempt=1)
    body = {"model": model, "messages": [{"role": "user", "content": PROMPT}]}
    return httpx.post(f"{url}/chat/completions", json=body, headers={REHEARSAL_HEADER: visit.header}, timeout=read_s)


class Meanwhile:
    """What a test does while the command serves: it is called where the command waits for a signal."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.does: Callable[[str], None] = lambda _: None
        self.said: dict[str, object] = {}

    def __call__(self, ends: Iterable[int]) -> int:
        assert set(ends) == {signal.SIGINT, signal.SIGTERM}
        self.said = json.loads(self.capsys.readouterr().out)
        self.does(str(self.said["url"]))
        return signal.SIGTERM


@pytest.fixture
def meanwhile(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Meanwhile:
    made = Meanwhile(capsys)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "sigwait", made)
    return made


def test_the_bundled_models_are_served_and_logged(harness: Harness, meanwhile: Meanwhile, tmp_path: Path) -> None:
    answers: list[httpx.Response] = []
    meanwhile.does = lambda url: answers.extend(ask(url, model) for model in ("good", "hasty", "nobody"))

    code, _, err = harness("wire", "rehearse", "--log", "calls.jsonl")

    assert (code, err) == (0, "")
    assert meanwhile.said["models"] == ["good", "hasty", "wanderer"]
    here = str(meanwhile.said["url"]).removesuffix("/v1")
    with_v1 = dict.fromkeys(("openai", "openai-responses"), f"{here}/v1")
    assert meanwhile.said["urls"] == {**with_v1, "anthropic": here, "gemini": here}
    assert [answer.status_code for answer in answers] == [200, 200, 404]
    lines = (tmp_path / "calls.jsonl").read_text("utf-8").splitlines()
    assert [ServedCall.model_validate_json(line).model for line in lines] == ["good", "hasty"]


def test_pass_rates_make_models(harness: Harness, meanwhile: Meanwhile) -> None:
    policies: list[str] = []

    def does(url: str) -> None:
        for model in ("sure", "rehearsal"):
            content = ask(url, model).json()["choices"][0]["message"]
            policies.append("calls" if content["tool_calls"] else "talks")

    meanwhile.does = does
    code, _, err = harness("wire", "rehearse", "--pass-rate", "sure=1", "--pass-rate", "0.5", "--seed", "3")

    assert (code, err) == (0, "")
    assert meanwhile.said["models"] == ["sure", "rehearsal"]
    assert policies[0] == "calls"


def test_faults_and_latency_reach_every_model(harness: Harness, meanwhile: Meanwhile, tmp_path: Path) -> None:
    answers: list[httpx.Response] = []
    meanwhile.does = lambda url: answers.extend(ask(url, model) for model in ("good", "wanderer"))

    code, _, _ = harness("wire", "rehearse", "--fault", "503=1", "--latency-ms", "1-2", "--log", "calls.jsonl")

    assert (code, [answer.status_code for answer in answers]) == (0, [503, 503])
    for line in (tmp_path / "calls.jsonl").read_text("utf-8").splitlines():
        call = ServedCall.model_validate_json(line)
        assert call.fault == "status"
        assert 1 < call.latency_ms < 2


def test_latency_of_the_command_line_replaces_that_of_policies(
    harness: Harness, meanwhile: Meanwhile, tmp_path: Path
) -> None:
    policy = '[policy.p]\nscript = "reference"\nlatency_ms = 600000\n[[policy.p.fault]]\nkind = "html"\nat_turn = 1\n'
    Path("p.toml").write_text(f'schema = 1\n{policy}[model.m]\npolicies = ["p"]\n', encoding="utf-8")
    pages: list[str] = []
    meanwhile.does = lambda url: pages.append(ask(url, "m").headers["content-type"])

    code, _, _ = harness(
        "wire", "rehearse", "loopx/*", "--policies", "p.toml", "--latency-ms", "0", "--fault", "hang=0.1"
    )

    assert (code, pages) == (0, ["text/html; charset=utf-8"])


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["--policies", "p.toml", "--pass-rate", "1"], "--policies and --pass-rate both say what is played"),
        (["--policies", "p.toml"], "p.toml: cannot be read"),
        (["--pass-rate", "a=x"], "--pass-rate: 'x' is no number"),
        (["--pass-rate", "2"], "pass rate of rehearsal: 2 is no share; allowed: 0 to 1"),
        (["--pass-rate", "a=1", "--pass-rate", "a=0"], "--pass-rate: model 'a' is given twice"),
        (["--fault", "reset"], "--fault: '' is no number"),
        (["--fault", "reset=0"], "--fault reset: the rate must be above 0 and at most 1"),
        (
            ["--fault", "burp=0.1"],
            "--fault: unknown kind 'burp'; there are: reset, close, hang, stall, chunks, unfinished,",
        ),
        (["--fault", "200=0.1"], "--fault: unknown kind '200'"),
        (["--fault", "reset=0.6", "--fault", "500=0.6"], "the rates of its faults and its model's are above 1"),
        (["--latency-ms", "5-1"], "--latency-ms: must be MS or LOWEST-HIGHEST"),
        (["--latency-ms", "nan"], "--latency-ms: must be MS or LOWEST-HIGHEST"),
        (["--latency-ms", "x"], "--latency-ms: 'x' is no number"),
        (["--log", "no/such/folder"], "cannot be written: No such file"),
        (["pack/nothing"], "unknown scenario 'pack/nothing'"),
    ],
)
def test_what_cannot_be_served_is_one_line(harness: Harness, meanwhile: Meanwhile, argv: list[str], told: str) -> None:
    code, out, err = harness("wire", "rehearse", *argv)
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert told in err
    assert meanwhile.said == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once_even_while_a_client_waits(tmp_path: Path, number: signal.Signals) -> None:
    argv = [sys.executable, "-m", "harness", "wire", "rehearse", "--fault", "hang=1", "--log", "log"]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            with socket.create_connection(("127.0.0.1", httpx.URL(url).port or 0), timeout=20) as waiting:
                waiting.sendall(b"POST /v1/chat/completions HTTP/1.1\r\n")
                with pytest.raises(httpx.ReadTimeout):
                    ask(url, "good", read_s=0.2)
                process.send_signal(number)
                out, err = process.communicate(timeout=PATIENCE_S)
                assert waiting.recv(1) == b""
        finally:
            process.kill()
    assert (process.returncode, out, err) == (0, b"", b"")


def test_a_policy_file_that_does_not_fit_is_one_short_line_that_says_what_to_type(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = 'schema = 1\n[policy.hurried]\nscript = "wrong:selected_action_before_quota"\n'
    text += '[model.m]\npolicies = ["hurried"]\n'
    Path("mine.toml").write_text(text, encoding="utf-8")

    code, out, err = harness("wire", "rehearse", "--policies", "mine.toml")

    assert (code, out, err.count("\n")) == (4, "", 1)
    assert err.startswith("harness: mine.toml: policy.hurried.script: scenario loopx/capability-repair has no script ")
    assert "serve one that has it: harness wire rehearse loopx/scoped-gate-successor, " in err
    assert len(err) < 300
    many = "".join(f'[policy.p{number}]\nscript = "reference"\n' for number in range(100))
    Path("mine.toml").write_text(f'schema = 1\n{many}[model.m]\npolicies = ["q"]\n', encoding="utf-8")
    err = harness("wire", "rehearse", "--policies", "mine.toml")[2]
    assert err.startswith("harness: mine.toml:203: model.m.policies[0]: there is no policy 'q'")
    assert err.endswith(", ...\n")
    assert len(err) < 300
