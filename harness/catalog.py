"""Names of the entries of plural folders: a file that exists is registered, ``ls`` is the list."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from types import ModuleType

from harness.errors import CatalogError, EnvironmentProblem

__all__ = ["FOLDERS", "module", "names", "plug_in", "plug_ins", "shared"]

#: The plural folders.
FOLDERS = ("actors", "classifiers", "controlplanes", "executors", "pools", "providers", "reporters")

#: Entries that were imported: every episode asks for some, and the folder need not be read again for them.
_imported: dict[tuple[str, str], ModuleType] = {}
#: So are parts that entries share.
_parts: dict[tuple[str, str], ModuleType] = {}


def names(folder: str) -> tuple[str, ...]:
    """The entries of a plural folder, sorted: its files, or folders of that name, without a leading underscore.

    Raises:
        CatalogError: there is no such folder.
    """
    if folder not in FOLDERS:
        raise CatalogError("folder", folder, FOLDERS)
    place = files("harness") / folder
    if not place.is_dir():
        return ()
    found = []
    for entry in place.iterdir():
        if entry.name.endswith(".py"):
            found.append(entry.name.removesuffix(".py"))
        elif (entry / "__init__.py").is_file():
            found.append(entry.name)
    return tuple(sorted(name for name in found if not name.startswith("_")))


def module(folder: str, name: str) -> ModuleType:
    """The module of one entry, imported on demand. Only names that ``names`` lists are ever imported.

    Raises:
        CatalogError: there is no such folder or entry; the message lists what there is.
    """
    found = _imported.get((folder, name))
    if found is None:
        known = names(folder)
        if name not in known:
            raise CatalogError(folder.removesuffix("s"), name, known)
        found = _imported[folder, name] = import_module(f"harness.{folder}.{name}")
    return found


def shared(folder: str, name: str) -> ModuleType:
    """A part that the entries of a plural folder share, by its name without the underscore.

    Raises:
        CatalogError: there is no such folder or part.
    """
    found = _parts.get((folder, name))
    if found is None:
        if folder not in FOLDERS:
            raise CatalogError("folder", folder, FOLDERS)
        if not name.isidentifier() or not (files("harness") / folder / f"_{name}.py").is_file():
            raise CatalogError(f"part of {folder}", name, ())
        found = _parts[folder, name] = import_module(f"harness.{folder}._{name}")
    return found


@cache
def plug_ins(folder: str) -> dict[str, EntryPoint]:
    """Entries for a plural folder that installed packages bring, by name: entry points of the group ``harness.FOLDER``.

    The result is shared: not to be changed. Raises EnvironmentProblem where a name is taken: by an entry of ours, or
    by two packages.
    """
    found: dict[str, EntryPoint] = {}
    ours = names(folder)
    for point in sorted(entry_points(group=f"harness.{folder}"), key=lambda point: (point.name, _package(point))):
        other = "harness" if point.name in ours else _package(found[point.name]) if point.name in found else None
        if other is not None:
            problem = f"has the name of one of {other}; let its package give it another name, or remove it"
            raise EnvironmentProblem(f"{_told(folder, point)} {problem}")
        found[point.name] = point
    return found


def plug_in(folder: str, name: str) -> object:
    """What the entry point of one of ``plug_ins`` names.

    Raises EnvironmentProblem where that cannot be imported; what it raised is not told, for it may hold anything.
    """
    point = plug_ins(folder)[name]
    try:
        found: object = point.load()
    except Exception as error:  # noqa: BLE001  (importing it runs anybody's code)
        problem = f"cannot be imported ({point.value}: {type(error).__name__})"
        raise EnvironmentProblem(f"{_told(folder, point)} {problem}") from None
    return found


def _told(folder: str, point: EntryPoint) -> str:
    return f"{folder.removesuffix('s')} {point.name!r} of the package {_package(point)}"


def _package(point: EntryPoint) -> str:
    return "?" if point.dist is None else point.dist.name
