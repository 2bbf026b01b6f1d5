from __future__ import annotations

import pytest

from harness.schema.rehearsal import Visit

VISIT = Visit(scenario="loopx/selected-todo", trial=3, turn=2, attempt=1)


def test_a_visit_is_read_back_from_its_header() -> None:
    assert VISIT.header == "scenario=loopx/selected-todo;trial=3;turn=2;attempt=1"
    assert Visit.read(f" {VISIT.header} ") == VISIT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "scenario=a/b;trial=1;turn=1",
        "trial=1;scenario=a/b;turn=1;attempt=1",
        "scenario=ab;trial=1;turn=1;attempt=1",
        "scenario=a/b;trial=0;turn=1;attempt=1",
        "scenario=a/b;trial=1;turn=-1;attempt=1",
        "scenario=a/b;trial=1;turn=1;attempt=1;more=1",
        "scenario=a/b;trial=1;turn=1;attempt=1\nx",
        "scenario=a/b;trial=\u0661;turn=1;attempt=1",
        "scenario=a/b;trial=1111111111;turn=1;attempt=1",
    ],
)
def test_a_header_of_another_form_names_no_visit(text: str) -> None:
    assert Visit.read(text) is None
