"""Reading scenario texts: placeholders, lines, and files of any content."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.documents.locating import lines
from harness.errors import HarnessError
from harness.scenario import bind, load, load_scripts, static_values, substitute
from harness.scenario.placeholders import find_cycle, names_in
from harness.scenario.problem import KeyPath
from harness.wiring.built_in import plane_operations
from harness.wiring.judges import CLASSIFIERS

NAMES = ("a", "b", "c", "d")
GRAMMARS = frozenset({"loopx-0.4"})
SCENARIOS = Path(__file__).parents[2] / "scenarios"
WHOLE = Path(__file__).parents[1] / "data" / "scenarios" / "demo" / "whole.toml"

pieces = st.sampled_from(["{a}", "{b}", "{c}", "${a}", "{zz}", "x", "{", "}", "$", "{repeat:Q:2}", " "])
texts = st.lists(pieces, max_size=6).map("".join)


@given(st.text())
def test_text_without_braces_is_never_changed(text: str) -> None:
    plain = text.replace("{", "(")
    assert substitute(plain, lambda _: "canary") == plain


@given(st.text(alphabet="abc {}$:", max_size=30), st.text(alphabet="abc{}$", max_size=5))
def test_what_is_put_in_place_is_not_looked_at_again(text: str, value: str) -> None:
    asked: list[str] = []

    def lookup(name: str) -> str:
        asked.append(name)
        return value

    result = substitute(text, lookup)
    assert tuple(asked) == names_in(text)
    if not asked:
        assert result == text


@given(texts, st.dictionaries(st.sampled_from(NAMES), st.text(alphabet="XYZ", max_size=3)))
def test_known_names_are_gone_and_unknown_ones_stay(text: str, values: dict[str, str]) -> None:
    left = tuple(name for name in names_in(text) if name not in values)
    assert names_in(substitute(text, values.get)) == left


@given(st.dictionaries(st.sampled_from(NAMES), texts))
def test_values_resolve_exactly_when_they_lead_in_no_circle(values: dict[str, str]) -> None:
    circle = find_cycle(values)
    if circle:
        assert circle[0] == circle[-1]
        assert all(after in names_in(values[before]) for before, after in itertools.pairwise(circle))
        return
    scenario = load(WHOLE, grammars=GRAMMARS).scenario.model_copy(update={"values": values})
    for text in static_values(scenario).values():
        assert not any(f"{{{name}}}" in text.replace(f"${{{name}}}", "") for name in values)


keys = st.text(alphabet="abc-_1", min_size=1, max_size=3) | st.sampled_from(["a.b", "q u", "é", '"', "]"])
scalars = st.sampled_from(
    ["1", "true", '"x # y"', "'[z]'", '"""m\n# n\n"""', "'''\n[t]\n'''", "1979-05-27", "[]", "{}"]
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[KeyPath, int]]:
    """A TOML text made line by line, and where each key went."""
    text, where, table = "", dict[KeyPath, int](), KeyPath()
    counts: dict[str, int] = {}
    used: set[KeyPath] = set()
    for _ in range(draw(st.integers(1, 12))):
        what, key = draw(st.integers(0, 5)), draw(keys)
        line = text.count("\n") + 1
        written = json.dumps(key, ensure_ascii=False)
        if what == 0 and key not in counts and (key,) not in used:
            table = (key,)
            used.add(table)
            where[table] = line
            text += f"[ {written} ] # [[x]]\n"
        elif what == 1 and (key,) not in used:
            counts[key] = counts.get(key, -1) + 1
            table = (key, counts[key])
            where.setdefault((key,), line)
            where[table] = line
            text += f"[[{written}]]\n"
        elif what == 2:
            text += draw(st.sampled_from(["\n", "# note = [1\n", "   \n"]))
        elif (*table, key) not in used and not (table == () and key in counts):
            used.add((*table, key))
            where[(*table, key)] = line
            if what == 3:
                where[(*table, key, 0)] = line + 1
                where[(*table, key, 0, "in")] = line + 1
                where[(*table, key, 1)] = line + 2
                text += f"{written} = [ # one\n  {{ in = {draw(st.sampled_from(['1', '[]']))} }},\n 2 ]\n"
            else:
                text += f"{written} = {draw(scalars)} # end\n"
    return text, where


@given(documents())
def test_every_key_stands_on_the_line_it_was_written_to(document: tuple[str, dict[KeyPath, int]]) -> None:
    text, where = document
    tomllib.loads(text)
    assert lines(text) == where


@given(st.text(alphabet="ab\"'[]{}=.,#\n \\", max_size=40))
def test_locating_in_any_text_ends_and_never_raises(text: str) -> None:
    assert all(1 <= line <= text.count("\n") + 1 for line in lines(text).values())


def refusal(action: Callable[[], object]) -> HarnessError | None:
    """The error of bad input that an action raises, one line of it; None where it goes well."""
    try:
        action()
    except HarnessError as raised:
        error = raised
    else:
        return None
    assert error.exit_code == 4
    assert "\n" not in str(error)
    return error


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_scenario_file_with_any_damage_is_loaded_or_refused_in_one_line(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(WHOLE.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=6))
    path = tmp_path / "demo" / "whole.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(content))
    error = refusal(lambda: load(path, grammars=GRAMMARS))
    if error is not None:
        assert str(error).startswith(str(path))
        return
    scenario = load(path, grammars=GRAMMARS).scenario
    assert bind(scenario, {f"{root}_root": f"/w/{root}" for root in scenario.workspace.roots}).id == scenario.id


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=60)
    | st.text(max_size=40).map(lambda text: json.dumps({"scripts": {"x": text}}).encode())
)
def test_script_file_of_any_content_is_loaded_or_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "scripts.json"
    path.write_bytes(content)
    error = refusal(lambda: load_scripts(path))
    if error is None:
        assert load_scripts(path).scripts


def test_every_bundled_scenario_binds_to_any_workspace() -> None:
    for path in sorted(SCENARIOS.glob("*/*.toml")):
        scenario = load(path, grammars=GRAMMARS, operations=plane_operations, classifiers=CLASSIFIERS).scenario
        roots = {f"{root}_root": f"/a place/é/{root}" for root in scenario.workspace.roots}
        bound = bind(scenario, {**roots, "fixture_root": "/a place/é", "turn_id": "turn-1"})
        left = {name for file in bound.workspace.file for name in names_in(file.text)}
        assert left == set()
