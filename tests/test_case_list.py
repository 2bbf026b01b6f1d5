"""``tests/README.md`` tells which numbered cases are shown, and tells the truth."""

from __future__ import annotations

from pathlib import Path

from case_list import LATER, NUMBERS, Shown, markdown, shown

TESTS = Path(__file__).resolve().parent


def test_the_list_of_cases_is_what_the_tests_say() -> None:
    assert (TESTS / "README.md").read_text("utf-8") == markdown(shown()), (
        "type: .venv/bin/python tests/support/case_list.py"
    )


def test_only_cases_that_there_are_can_be_shown_or_left() -> None:
    left = [number for numbers in LATER.values() for number in numbers]
    assert set(shown()) | set(left) <= set(NUMBERS)
    assert len(set(left)) == len(left)


def test_marks_are_found_on_tests_and_on_their_parameters(tmp_path: Path) -> None:
    folder = tmp_path / "unit"
    folder.mkdir()
    (folder / "test_x.py").write_text(
        "@case(3, 4)\ndef test_one(): ...\n\n"
        "@pytest.mark.parametrize('x', [1, pytest.param(2, marks=case(5))])\ndef test_two(x): ...\n\n"
        "def test_three(): case(6)\n",
        "utf-8",
    )
    assert shown(tmp_path) == {
        3: (Shown("unit/test_x.py", "test_one"),),
        4: (Shown("unit/test_x.py", "test_one"),),
        5: (Shown("unit/test_x.py", "test_two"),),
    }
