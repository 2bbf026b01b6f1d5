"""What stands below the terminal's summary in its file: what looks in between came to, and what a policy decides."""

from __future__ import annotations

from typing import Final

from harness.qualification.not_needed import told_early
from harness.reporters._console import paper, unbroken, written_on
from harness.schema.run import RunView

__all__ = ["concluded"]

_LABEL: Final = 14


def concluded(view: RunView, *, width: int) -> str:
    """Lines of ``width`` columns, each with its end; nothing of a run that neither looks nor is decided about."""
    console = paper(width, color=False)
    early = told_early(view)
    for line in early:
        unbroken(console, line, 0)
    for one in view.decisions:
        console.print()
        unbroken(console, one.headline, 0)
        for label, said in one.sentences:
            unbroken(console, said, _LABEL, label=f"  {label}")
    return f"{written_on(console)}\n" if early or view.decisions else ""
