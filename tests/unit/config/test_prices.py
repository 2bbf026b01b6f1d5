"""Where the price of a live model comes from: its owner, else a table that knows addresses."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from harness.config import load_actors, table_price
from harness.errors import ConfigError

NOW = datetime(2026, 6, 1, tzinfo=UTC)
OPENAI = "https://api.openai.com/v1"
ACTOR = '[actors.a]\nprovider = "openai"\nmodel = "m"\n[actors.a.price]\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "harness.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_price_of_ones_own_is_read_as_it_is_written(tmp_path: Path) -> None:
    text = ACTOR + 'input = 0.1\noutput = "2.50"\ncache_read = 0\n'
    price = load_actors(written(tmp_path, text))["a"].price
    assert price is not None
    assert (price.input, price.output, price.cache_read, price.cache_write) == (
        Decimal("0.1"),
        Decimal("2.50"),
        Decimal(0),
        None,
    )
    assert price.source == "harness.toml"
    assert load_actors(written(tmp_path, '[actors.a]\nprovider = "openai"\nmodel = "m"'))["a"].price is None


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("input = 1", "[actors.a.price]: output: is missing; allowed: US dollars for a million tokens"),
        ("input = -1\noutput = 1", "[actors.a.price]: input: cannot be used; allowed: US dollars"),
        ("input = true\noutput = 1", "[actors.a.price]: input: cannot be used"),
        ('input = "canary"\noutput = 1', "[actors.a.price]: input: cannot be used"),
        ('input = "nan"\noutput = 1', "[actors.a.price]: input: cannot be used"),
        ('input = "inf"\noutput = 1', "[actors.a.price]: input: cannot be used"),
        ("input = 1000001\noutput = 1", "[actors.a.price]: input: cannot be used"),
        ("input = 1\noutput = 1\ncanary-7 = 1", "[actors.a.price]: a key is unknown; allowed keys: input, output"),
        (
            "input = 1\noutput = 1\nimages = 1",
            "'images' is unknown; allowed keys: input, output, cache_read",
        ),
    ],
)
def test_a_price_that_cannot_be_used_is_one_line_without_its_value(tmp_path: Path, table: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_actors(written(tmp_path, ACTOR + table))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_price_that_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[actors\.a\.price\]: must be a table"):
        load_actors(written(tmp_path, '[actors.a]\nprovider = "openai"\nmodel = "m"\nprice = 1'))


def test_the_table_knows_a_model_at_its_providers_own_address() -> None:
    price = table_price("gpt-4o-mini", OPENAI, NOW)
    assert price is not None
    assert 0 < (price.cache_read or 0) < price.input < price.output
    assert price.source.startswith("genai-prices ")
    assert price.source.partition("newest price of ")[2] <= "2026-06-01"


def test_a_long_request_has_the_rates_of_long_requests() -> None:
    price = table_price("gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/openai", NOW)
    assert price is not None
    ((over, rates),) = price.above
    assert over == 200_000
    assert rates.input > price.input
    assert rates.output > price.output


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("gpt-4o-mini", "http://127.0.0.1:8000/v1"),
        ("gpt-4o-mini", "https://models.example.test/v1"),
        ("a-model-of-nobody", OPENAI),
        ("whisper-1", OPENAI),
    ],
    ids=["this machine", "an address of nobody", "unknown model", "not paid by tokens"],
)
def test_what_the_table_does_not_know_has_no_price(model: str, address: str) -> None:
    assert table_price(model, address, NOW) is None
