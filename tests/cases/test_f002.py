"""One layer asks a busy provider again, a bounded number of times, each time after a longer pause; case f002."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest
import respx
from toy import Played, Stage

from harness import catalog
from harness.actors.live import build
from harness.providers._http import HttpTransport
from harness.providers.openai import build as codec
from harness.schema.actor import ActorIdentity, ActorSpec

URL = "https://provider.test/v1"
IDENTITY = ActorIdentity(ref="openai/model-a", kind="live", provider="openai", model="model-a", digest="sha256:0")
SPEC = ActorSpec(identity=IDENTITY, base_url=URL)


class Busy:
    """A provider that always answers 429, to a live actor over the real transport; it notes when it was asked."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.headers = stage, dict[str, str]()
        self.asked_at: list[float] = []

    def play(self) -> Played:
        """An episode with it."""
        transport = HttpTransport(transport=httpx.HTTPTransport())
        with respx.mock() as mocked:
            mocked.post(URL + "/chat/completions").mock(side_effect=self._answer)
            played = self.stage.play(actor=build(SPEC, codec(), transport.send))
        transport.close()
        return played

    def _answer(self, _: httpx.Request) -> httpx.Response:
        self.asked_at.append(self.stage.clock.monotonic())
        return httpx.Response(429, headers=self.headers, json={"error": {"code": "rate_limit_exceeded"}})

    @property
    def gaps(self) -> list[float]:
        """Seconds between the requests."""
        return [later - earlier for earlier, later in zip(self.asked_at, self.asked_at[1:], strict=False)]


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Busy]:
    executor = catalog.module("executors", "process").ProcessExecutor()
    yield Busy(Stage(executor, tmp_path))
    executor.close()


def test_f002_four_requests_and_no_more(busy: Busy) -> None:
    played = busy.play()
    assert len(busy.asked_at) == 4
    assert [(row.attempt, row.error) for row in played.result.log.attempts] == [
        (number, "rate_limited") for number in (1, 2, 3, 4)
    ]
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == ("failed/model_error", "rate_limited")


def test_f002_the_pauses_grow_and_are_not_the_same_twice(busy: Busy) -> None:
    busy.play()
    first = busy.gaps
    assert first == sorted(first)
    assert first[0] >= 1
    assert first[2] > 2 * first[0] - 1
    busy.asked_at.clear()
    busy.play()
    assert busy.gaps != first


@pytest.mark.parametrize("form", ["seconds", "milliseconds", "date"])
def test_what_the_provider_asks_for_is_waited(busy: Busy, form: str) -> None:
    now = busy.stage.clock.now()
    busy.headers = {
        "seconds": {"retry-after": "17"},
        "milliseconds": {"retry-after-ms": "17000"},
        "date": {
            "date": format_datetime(now, usegmt=True),
            "retry-after": format_datetime(now + timedelta(seconds=17), usegmt=True),
        },
    }[form]
    busy.play()
    assert busy.gaps == [pytest.approx(17.0)] * 3
