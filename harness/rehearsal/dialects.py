"""The dialects that are served, each registered once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.errors import CatalogError
from harness.ports import Provider
from harness.rehearsal.chat import ChatDialect
from harness.rehearsal.conversation import Dialect
from harness.rehearsal.generate_content import GenerateContentDialect
from harness.rehearsal.messages import MessagesDialect
from harness.rehearsal.responses import ResponsesDialect

__all__ = ["DIALECTS", "Endpoint", "Endpoints"]

DIALECTS: Final[tuple[Dialect, ...]] = (
    ChatDialect(),
    ResponsesDialect(),
    MessagesDialect(),
    GenerateContentDialect(),
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One dialect that is served, and the codec that writes its answers."""

    dialect: Dialect
    codec: Provider


class Endpoints:
    """Those that are served on one port, told apart by path."""

    def __init__(self, codecs: Sequence[Provider]) -> None:
        """One for each codec, in the order of the dialects. Raises CatalogError for one whose dialect is not known."""
        given = {codec.name: codec for codec in codecs}
        known = tuple(dialect.name for dialect in DIALECTS)
        for name in given:
            if name not in known:
                raise CatalogError("dialect of a rehearsal", name, known)
        self._all = tuple(Endpoint(one, given[one.name]) for one in DIALECTS if one.name in given)

    @property
    def bases(self) -> dict[str, str]:
        """The path of the base URL of each, by the name of its provider."""
        return {one.dialect.name: one.dialect.base for one in self._all}

    @property
    def places(self) -> str:
        """Where requests go, for a person to read."""
        return ", ".join(one.dialect.place for one in self._all)

    @property
    def chat(self) -> Provider | None:
        """The codec of chat completions, the form that raw messages of scripts have; None where it is not served."""
        return next((one.codec for one in self._all if one.dialect.name == ChatDialect.name), None)

    def at(self, path: str) -> Endpoint | None:
        """The one that a request to that path is for."""
        return next((one for one in self._all if one.dialect.takes(path)), None)

    def beside(self, path: str) -> Dialect:
        """The dialect to refuse a request in that is for none of them."""
        base = (one for one in self._all if one.dialect.base and path.startswith(f"{one.dialect.base}/"))
        return next(base, self._all[0]).dialect

    def listing(self, path: str, headers: Mapping[str, str]) -> Dialect | None:
        """Who lists models at that path for a client that sends these headers, names in lower case."""
        there = [one.dialect for one in self._all if one.dialect.models_path == path]
        marked = (one for one in there if one.mark is not None and one.mark in headers)
        plain = (one for one in there if one.mark is None)
        return next(marked, None) or next(plain, None) or next(iter(there), None)
