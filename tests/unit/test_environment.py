from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import environment
from harness.environment import Fact


def nothing(program: str) -> str | None:
    return None


def everything(program: str) -> str | None:
    return f"/bin/{program}"


def look(name: str, home: Path, *, programs: bool = False, platform: str = "linux", minor: int = 11) -> Fact:
    which = everything if programs else nothing
    facts = environment.inspect({}, which, home=home / "home", platform=platform, version=(3, minor, 0))
    return next(fact for fact in facts if fact.name == name)


@pytest.mark.parametrize(("minor", "status"), [(10, "missing"), (11, "ok"), (14, "ok")])
def test_python_is_new_enough_or_not(tmp_path: Path, minor: int, status: str) -> None:
    fact = look("python", tmp_path, minor=minor)
    assert (fact.status, fact.text) == (status, f"3.{minor}.0")


@pytest.mark.parametrize(("platform", "status"), [("linux", "ok"), ("darwin", "optional"), ("win32", "missing")])
def test_platform_is_supported_in_full_in_part_or_not(tmp_path: Path, platform: str, status: str) -> None:
    assert look("platform", tmp_path, platform=platform).status == status


@pytest.mark.parametrize(("name", "without"), [("git", "missing"), ("rg", "optional")])
def test_programs_are_found_or_not(tmp_path: Path, name: str, without: str) -> None:
    assert look(name, tmp_path, programs=True) == Fact(name, "ok", f"/bin/{name}")
    assert look(name, tmp_path).status == without


def home(path: Path, environ: dict[str, str] | None = None) -> Fact:
    facts = environment.inspect(environ or {}, nothing, home=path if environ is None else None)
    return next(fact for fact in facts if fact.name == "HARNESS_HOME")


def test_home_exists_or_will_be_made(tmp_path: Path) -> None:
    assert home(tmp_path) == Fact("HARNESS_HOME", "ok", f"{tmp_path} (exists)")
    assert home(tmp_path / "a" / "b") == Fact("HARNESS_HOME", "ok", f"{tmp_path / 'a' / 'b'} (will be made)")
    assert list(tmp_path.iterdir()) == []


def test_home_comes_from_the_variable_or_the_users_data_folder(tmp_path: Path) -> None:
    assert home(tmp_path, {"HARNESS_HOME": str(tmp_path)}).text == f"{tmp_path} (exists)"
    assert "harness" in home(tmp_path, {"HARNESS_HOME": ""}).text


def test_home_that_cannot_be_written_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    assert home(tmp_path / "file").status == "missing"
    assert home(tmp_path / "file" / "inside").status == "missing"
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert home(tmp_path).status == "missing"
    assert home(Path("relative")).status == "missing"


def test_a_path_with_nothing_that_exists_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "exists", lambda _: False)
    assert home(Path("nowhere")).status == "missing"


def test_keys_are_told_by_name_and_never_by_value(tmp_path: Path) -> None:
    canary = "canary-4711"
    environ = {"A_KEY": canary, "B_KEY": canary, "C_KEY": " ", "OTHER": canary}
    facts = environment.inspect(environ, nothing, key_variables=("A_KEY", "B_KEY", "C_KEY", "D_KEY"))
    keys = next(fact for fact in facts if fact.name == "keys")
    assert keys == Fact("keys", "ok", "set: A_KEY, B_KEY")
    assert canary not in repr(facts)


def test_no_key_at_all_is_optional(tmp_path: Path) -> None:
    assert look("keys", tmp_path).status == "optional"


def test_what_is_not_well_says_what_to_do(tmp_path: Path) -> None:
    facts = environment.inspect({}, nothing, home=Path("/dev/null/x"), platform="win32", version=(3, 10, 0))
    assert [fact.name for fact in facts] == ["python", "platform", "git", "rg", "HARNESS_HOME", "keys"]
    assert all(fact.hint for fact in facts)
    assert all("\n" not in text for fact in facts for text in dataclasses.astuple(fact))


UNREADABLE = """
import os, sys
from pathlib import Path
from harness.environment import inspect
from harness.provision import damage, damaged, find, installed
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
home = Path(sys.argv[1])
facts = {fact.name: fact for fact in inspect({}, lambda _: None, home=home)}
print(facts["HARNESS_HOME"].status, installed(home), damaged(home), find("loopx", "1", home))
print(damage("loopx", "1", home))
"""


@pytest.mark.parametrize("inside", ["home/sub", "home", "home/planes/.."])
def test_a_home_that_may_not_be_looked_into_is_told_and_is_no_crash(tmp_path: Path, inside: str) -> None:
    (tmp_path / "home").mkdir(mode=0o000)
    asked = [sys.executable, "-c", UNREADABLE, str(tmp_path / inside)]
    # without what a coverage tool needs: that user could not write its data
    done = subprocess.run(asked, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})
    (tmp_path / "home").chmod(0o700)
    assert (done.stdout, done.stderr) == ("missing () {} None\nNone\n", "")
