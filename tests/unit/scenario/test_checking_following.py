"""What hangs on a call: each fault of it is told by its key, and one whole of it is taken."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import ScenarioError
from harness.scenario import load
from harness.schema.scenario import Scenario

Write = Callable[[str], Path]
GRAMMARS = frozenset({"loopx-0.4"})


def first_call(whole: Scenario) -> int:
    return next(index for index, kind in enumerate(whole.kind) if kind.call)


def with_keys(text: str, whole: Scenario, kind: int, keys: str) -> str:
    """The file with more keys in a kind."""
    name = whole.kind[kind].name
    return re.sub(rf'(name = "{name}"[^\n]*\n)', rf"\g<1>{keys}\n", text, count=1)


def add(text: str, tables: str) -> str:
    return text.replace("[script]\n", f"{tables}\n[script]\n", 1)


LOOK = '[[after]]\nkind = "KIND"\nplane = ["x"]\nfailed = "f"\n[after.answer]\n'
TABLES = {
    "unknown kind": (
        '[[after]]\nkind = "nobody"\nplane = ["x"]\nfailed = "f"\n[after.answer]\n"/a" = 1',
        "after[0].kind",
        "unknown kind 'nobody'",
    ),
    "an empty call": (
        '[[after]]\nkind = "KIND"\nplane = []\nfailed = "f"\n[after.answer]\n"/a" = 1',
        "after[0].plane",
        "allowed",
    ),
    "nothing expected": ('[[after]]\nkind = "KIND"\nplane = ["x"]\nfailed = "f"', "after[0].answer", "missing"),
    "two tests": (
        LOOK + '"/a" = { equals = 1, absent = true }',
        'after[0].answer."/a"',
        "2 tests in one check",
    ),
    "no place": (
        LOOK + '"/a" = { from = { at = "/b" } }',
        'after[0].answer."/a".from',
        "exactly one of file, answer",
    ),
    "no root": (
        LOOK + '"/a" = { from = { file = "no/x", at = "" } }',
        'after[0].answer."/a".from.file',
        "no path below a root",
    ),
    "no such answer": (
        LOOK + '"/a" = { from = { answer = "no", at = "" } }',
        'after[0].answer."/a".from.answer',
        "no kind 'no'",
    ),
    "a pattern that is none": (
        LOOK + '"/a" = { matches = "(" }',
        'after[0].answer."/a".matches',
        "no regular expression",
    ),
    "a pattern with a group": (
        LOOK + '"/a" = { avoids = "(a)" }',
        'after[0].answer."/a".avoids',
        "none",
    ),
    "a closing turn without a text": ('[closing]\nask = ""\nfailed = "f"\ncalled = "c"', "closing.ask", "allowed"),
    "a closing turn without codes": ('[closing]\nask = "Well?"', "closing.failed", "missing"),
    "too long a closing text": (
        '[closing]\nask = "Well?"\ntext_bytes = 0\nfailed = "f"\ncalled = "c"',
        "closing.text_bytes",
        "allowed",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_fault_of_a_table_is_told_by_its_key(name: str, text: str, whole: Scenario, write: Write) -> None:
    tables, key, told = TABLES[name]
    tables = tables.replace("KIND", whole.kind[first_call(whole)].name)
    with pytest.raises(ScenarioError) as caught:
        load(write(add(text, tables)), grammars=GRAMMARS)
    assert caught.value.key == key
    assert told in str(caught.value)
    assert caught.value.line is not None
    assert "\n" not in str(caught.value)


KEYS = {
    "an option that no path allows": (
        'options = [{ with = { colour = "red" }, code = "c" }]',
        "colour",
        "no path allows",
    ),
    "no value": ("options = [{ with = { OPTION = [] }, code = 'c' }]", "OPTION", "at least one value"),
    "no options": ("options = [{ with = {}, code = 'c' }]", "with", "allowed"),
    "a source of no place": ("options = [{ with = { OPTION = { at = '' } }, code = 'c' }]", "OPTION", "exactly one"),
    "a proof of a call": ('proves = { seen = "project/a" }', "proves", "no read of files"),
    "help that may not be asked for": ('help = "nobody"', "help", "may not be asked for"),
    "an alternative of a call": ("alternative = false", "alternative", "no read of files"),
    "a hint for a call that may fail": ('hint = "No."', "once", "never runs"),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_fault_of_a_kind_is_told_by_its_key(name: str, text: str, whole: Scenario, write: Write) -> None:
    keys, key, told = KEYS[name]
    assert whole.call is not None
    option = next(iter(whole.call.allow.values()))[0]
    index = next(at for at, kind in enumerate(whole.kind) if kind.call and kind.failed)
    with pytest.raises(ScenarioError) as caught:
        load(write(with_keys(text, whole, index, keys.replace("OPTION", option))), grammars=GRAMMARS)
    assert told in str(caught.value)
    assert f"kind[{index}]" in (caught.value.key or "")
    assert key.replace("OPTION", option) in (caught.value.key or "")


def test_what_is_right_is_taken_and_its_codes_and_facts_count(text: str, whole: Scenario, write: Write) -> None:
    name = whole.kind[first_call(whole)].name
    tables = (
        f'[[after]]\nkind = "{name}"\nplane = ["x", "{{turn_id}}"]\nfailed = "no_effect"\n[after.answer]\n'
        f'"/a" = {{ from = {{ answer = "{name}", at = "/b" }}, code = "wrong_effect" }}\n'
        '[closing]\nask = "Well?"\nfailed = "no_word"\ncalled = "went_on"'
    )
    loaded = load(write(add(text, tables)), grammars=GRAMMARS)
    assert {"no_effect", "wrong_effect", "no_word", "went_on"} <= set(loaded.scenario.codes)
    assert {"after[0]", "closing"} & {part.partition(".")[0] for part in loaded.parts} == {"after[0]", "closing"}
