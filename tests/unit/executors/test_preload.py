import importlib.util
import os
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from harness.executors import _preload


def spec_of(path: Path, source: str) -> ModuleSpec:
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location("parted_program", path)
    assert spec is not None
    return spec


def test_program_is_parted_before_its_main_statement_keeping_lines(tmp_path: Path) -> None:
    source = (
        "from __future__ import annotations\nx: Undefined = 1\n\nif __name__ == '__main__':\n    y: Unknown = 1 / 0\n"
    )
    head, tail = _preload.parted(spec_of(tmp_path / "program.py", source))
    names: dict[str, object] = {"__name__": "other"}
    exec(head, names)  # noqa: S102  (the parts are code)
    assert names["x"] == 1
    assert "y" not in names
    names["__name__"] = "__main__"
    with pytest.raises(ZeroDivisionError) as caught:
        exec(tail, names)  # noqa: S102
    assert caught.traceback[-1].lineno == 4
    assert str(caught.traceback[-1].path) == str(tmp_path / "program.py")


def test_program_without_a_main_statement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match="no main statement"):
        _preload.parted(spec_of(tmp_path / "program.py", "x = 1\n"))


def test_reads_of_the_environment_are_recorded_found_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_TEST_THERE", "1")
    with _preload.recorded_reads() as names:
        assert os.environ["HARNESS_TEST_THERE"] == "1"
        assert os.getenv("HARNESS_TEST_A") is None
        assert os.environ.get("HARNESS_TEST_B", "x") == "x"
        assert "HARNESS_TEST_C" not in os.environ
    os.environ.get("HARNESS_TEST_AFTER")
    assert names == {"HARNESS_TEST_THERE", "HARNESS_TEST_A", "HARNESS_TEST_B", "HARNESS_TEST_C"}


@pytest.mark.parametrize(("value", "code"), [(None, 0), (0, 0), (3, 3), (-1, 255), (256, 0), (True, 1)])
def test_exit_codes_are_the_interpreters(value: object, code: int) -> None:
    assert _preload.exit_code(value) == code


def test_exit_with_a_text_shows_it_and_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert _preload.exit_code("last word") == 1
    assert capsys.readouterr().err == "last word\n"


def test_traceback_that_never_passed_the_interpreter_is_kept_whole() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        divmod(1, 0)
    assert caught.tb is not None
    assert _preload.from_runpy(caught.tb) is caught.tb
