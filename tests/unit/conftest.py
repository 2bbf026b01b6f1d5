"""Real servers for the network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from peer import Handler, Peer, Peers


@pytest.fixture
def peer() -> Iterator[Peers]:
    with ExitStack() as stack:

        def start(handler: Handler) -> Peer:
            made = Peer(handler)
            stack.callback(made.close)
            return made

        yield start
