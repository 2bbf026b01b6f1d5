"""Decompression never makes more than it may."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from harness.providers._inflate import BodyTooLargeError, reader_for


def test_a_bomb_is_not_inflated_beyond_the_bound() -> None:
    bomb = gzip.compress(b"\0" * 30_000_000)
    read = reader_for("gzip", 100_000)
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLargeError):
            read(bomb)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


def test_the_bound_counts_all_pieces_together() -> None:
    read = reader_for("identity", 5)
    assert read(b"abc") + read(b"de") == b"abcde"
    with pytest.raises(BodyTooLargeError):
        read(b"f")


def test_a_body_of_exactly_the_bound_is_read() -> None:
    assert reader_for("gzip", 3)(gzip.compress(b"abc")) == b"abc"
