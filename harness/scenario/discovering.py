"""Finding scenario files, and choosing among them."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from harness.documents import DocumentError, decoded, parse_toml, read_file
from harness.errors import CatalogError, ScenarioError
from harness.scenario.variants import variant_names

__all__ = ["discover", "select", "variant_of", "variants_in"]

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}/[a-z0-9][a-z0-9-]{0,127}")
_GLOB = re.compile(r"[*?\[]")
_TAG = "tag:"


def discover(search: Sequence[Path]) -> dict[str, Path]:
    """Every ``<pack>/<name>.toml`` below the folders of ``search`` by its id, sorted; the first folder wins.

    The variants of a file are there too, unless a file has that id. A folder that does not exist holds nothing. Raises
    ScenarioError for a file whose name cannot be an id.
    """
    found: dict[str, Path] = {}
    variants: dict[str, Path] = {}
    for folder in search:
        for path in sorted(folder.glob("*/*.toml")):
            name = f"{path.parent.name}/{path.stem}"
            if not _ID.fullmatch(name):
                raise ScenarioError(
                    path, f"{name!r} cannot be a scenario id", allowed="lower-case letters, digits and - in both parts"
                )
            if found.setdefault(name, path) == path:
                variants.update({f"{name}-{variant}": path for variant in variants_in(path)})
    return dict(sorted({**variants, **found}.items()))


def variant_of(scenario: str, path: Path) -> str | None:
    """Which variant of a file the scenario of that id is; None for the file itself."""
    rest = scenario.partition("/")[2].removeprefix(path.stem)
    return rest.removeprefix("-") or None


def variants_in(path: Path) -> tuple[str, ...]:
    """The variants of a file; none where it cannot be read, which is told when somebody wants it."""
    try:
        text = decoded(read_file(path))
        return variant_names(parse_toml(text)) if "variant" in text else ()
    except DocumentError:
        return ()


def select(
    ids: Iterable[str], patterns: Sequence[str], *, tags: Callable[[str], Iterable[str]] = lambda _: ()
) -> tuple[str, ...]:
    """The ids that any of ``patterns`` chooses, in the order of ``ids``; all of them where there is no pattern.

    A pattern is an id, a glob over ids (``loopx/*``) or ``tag:`` with a tag or a glob over tags (``tag:tier:pr``).
    ``tags`` gives a scenario's tags and is asked for such patterns only. A glob or a tag may choose nothing. Raises
    CatalogError for an id that does not exist.
    """
    known = tuple(ids)
    chosen: set[str] = set()
    for pattern in patterns:
        if pattern.startswith(_TAG):
            wanted = pattern.removeprefix(_TAG)
            chosen.update(name for name in known if any(fnmatch.fnmatchcase(tag, wanted) for tag in tags(name)))
        elif _GLOB.search(pattern):
            chosen.update(name for name in known if fnmatch.fnmatchcase(name, pattern))
        elif pattern in known:
            chosen.add(pattern)
        else:
            raise CatalogError("scenario", pattern, known)
    return tuple(name for name in known if name in chosen) if patterns else known
