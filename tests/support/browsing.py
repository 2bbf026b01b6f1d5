"""Pages as tests see them in a browser."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from playwright.sync_api import Page

__all__ = ["Open", "Shown"]


@dataclass
class Shown:
    """A page in the browser, with all that it complained about, and whatever it asked for beyond its files."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


class Open(Protocol):
    """Opens a file; ``at`` is what stands behind the # of its address. It is ready when it shows ``ready``."""

    def __call__(
        self,
        file: Path,
        at: str = "",
        *,
        theme: Literal["light", "dark"] = "light",
        width: int = 1400,
        scripts: bool = True,
        ready: str | None = ...,
    ) -> Shown: ...
