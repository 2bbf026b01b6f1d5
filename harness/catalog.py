"""Names of the entries of plural folders: a file that exists is registered, ``ls`` is the list."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from types import ModuleType

from harness.errors import CatalogError

__all__ = ["FOLDERS", "module", "names", "shared"]

#: The plural folders.
FOLDERS = ("actors", "controlplanes", "executors", "pools", "providers", "reporters")

#: Entries that were imported, and parts of theirs: every episode asks for some, and the folder need not be read again.
_imported: dict[tuple[str, str], ModuleType] = {}


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
    found = _imported.get((folder, f"_{name}"))
    if found is None:
        if folder not in FOLDERS:
            raise CatalogError("folder", folder, FOLDERS)
        if not name.isidentifier() or not (files("harness") / folder / f"_{name}.py").is_file():
            raise CatalogError(f"part of {folder}", name, ())
        found = _imported[folder, f"_{name}"] = import_module(f"harness.{folder}._{name}")
    return found
