from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import catalog
from harness.errors import CatalogError


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package directory of our own in the place of the installed one."""
    monkeypatch.setattr(catalog, "files", lambda _: tmp_path)
    (tmp_path / "providers").mkdir()
    yield tmp_path
    assert "harness.providers.planted" not in sys.modules


def test_names_are_the_files_that_exist_sorted(packages: Path) -> None:
    for name in ("zeta.py", "alpha.py", "_http.py", "__init__.py", "notes.md", "planted.pyc"):
        (packages / "providers" / name).touch()
    for name in ("folder", "_private", "no_package"):
        (packages / "providers" / name).mkdir()
    for name in ("folder", "_private"):
        (packages / "providers" / name / "__init__.py").touch()
    assert catalog.names("providers") == ("alpha", "folder", "zeta")


def test_a_folder_that_has_no_entries_yet_is_empty(packages: Path) -> None:
    assert catalog.names("reporters") == ()


@pytest.mark.parametrize("folder", ["schema", "", ".", "..", "providers/..", "os.path"])
def test_only_plural_folders_are_looked_at(folder: str) -> None:
    with pytest.raises(
        CatalogError, match="actors, classifiers, controlplanes, executors, pools, providers, reporters"
    ):
        catalog.names(folder)


@pytest.mark.parametrize("folder", catalog.FOLDERS)
def test_every_listed_name_can_be_imported(folder: str) -> None:
    for name in catalog.names(folder):
        assert catalog.module(folder, name).__name__ == f"harness.{folder}.{name}"


@pytest.mark.parametrize("name", ["planted", "", "..schema", "a.b", "../alpha", "a/b", "_http", "__init__", "alpha.py"])
def test_a_name_that_does_not_exist_lists_those_that_do(packages: Path, name: str) -> None:
    for file in ("alpha.py", "beta.py", "_http.py"):
        (packages / "providers" / file).touch()
    with pytest.raises(CatalogError) as caught:
        catalog.module("providers", name)
    assert str(caught.value) == f"unknown provider {name!r}; there are: alpha, beta"
    assert caught.value.exit_code == 4


def test_importing_the_catalog_imports_no_plural_folder() -> None:
    program = "import sys, harness.catalog; print(sorted(m for m in sys.modules if m.startswith('harness')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ast.literal_eval(done.stdout) == ["harness", "harness.catalog", "harness.errors"]
