"""Packets, and scenarios without tools: what the schema alone cannot see is told with file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import wiring
from harness.errors import ScenarioError
from harness.wiring.places import load_scenario

PLAIN = """
schema = 1
id = "demo/decides"
asks = "Does it decide?"
plane = "toy==1"
[workspace]
roots = ["project"]
[packet]
plane = ["packet"]
[[packet.must]]
code = "no_mode"
there = ["/mode"]
[prompt]
user = "{packet}"
[[classify]]
by = "json_decision"
code = "wrong_decision"
codes = { not_json = "no_json", "/go" = "went" }
[classify.settings]
route = [{ to = "left", when = { "/side" = "l" } }, { to = "right" }]
never = [{ name = "never_both", all = { "/answer/go" = true, "/packet/stop" = true } }]
[classify.settings.fields]
"/go" = { type = "flag", from = "/go" }
"/side" = { type = "token", route = true }
"/note" = { type = "text", optional = true }
[script]
reference = [{ content = "{}" }]
""".lstrip()


TABLE = PLAIN[PLAIN.index("[packet]") : PLAIN.index("[prompt]")]


def load(tmp_path: Path, *changes: tuple[str, str]) -> None:
    text = PLAIN
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    (tmp_path / "demo").mkdir()
    path = tmp_path / "demo" / "decides.toml"
    path.write_text(text, encoding="utf-8")
    load_scenario(wiring.settings(), str(path))


def test_a_scenario_may_do_without_tools_kinds_and_end(tmp_path: Path) -> None:
    load(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('user = "{packet}"', 'user = "Decide."', r":\d+: prompt.user: the packet stands in it 0 times"),
        ('user = "{packet}"', 'user = "{packet} {packet}"', r":\d+: prompt.user: the packet stands in it 2 times"),
        ('user = "{packet}"', 'user = "{packet}"\nsystem = "{packet}"', "prompt.system: the packet is shown elsewhere"),
        ('there = ["/mode"]', "", r":\d+: packet.must\[0\]: 'no_mode' asks for nothing"),
        ("[workspace]", '[values]\npacket = "x"\n[workspace]', r"values.packet: the name 'packet' is taken"),
        ("[workspace]", '[end]\nsilence = [{ code = "silent" }]\n[workspace]', "nobody is ever silent"),
        ("[workspace]", '[[kind]]\nname = "a"\nread = "clock"\n[workspace]', r"kinds without tools"),
        (TABLE, "", r"unknown placeholder \{packet\}"),
    ],
)
def test_a_packet_that_is_not_shown_or_asks_for_nothing_is_refused(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(ScenarioError, match=told):
        load(tmp_path, (old, new))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"/go" = "went"', '"/gone" = "went"', r"does not tell '/gone' apart"),
        ('"/go" = "went"', '"/note" = "went"', r"does not tell '/note' apart"),
        ('type = "flag", from = "/go"', 'type = "flag", from = "/go", present = "/go"', r"held against several things"),
        ('type = "text", optional = true', 'type = "text", optional = true, from = "/note"', r"leaves it out"),
        ('type = "text", optional = true', 'type = "text", where = { "/go" = true }', r"it is held against nothing"),
        ('type = "text", optional = true', 'type = "text", present = "/note"', r"allowed: type = \"flag\""),
        ('type = "text", optional = true', 'type = "flag", one_of = ["x"]', r"no text is there"),
        ('type = "text", optional = true', 'type = "flag", most = 1', r"a flag has no bounds"),
        ('type = "text", optional = true', 'type = "text", listed = { at = "/x", of = ["a"] }', r"an array of names"),
        ('type = "text", optional = true', 'type = "flag", route = true', r"allowed: type = \"token\" or \"text\""),
        ('"/note" =', '"/go/on" =', r"other fields stand in it"),
        ('"/note" =', '"" =', r"other fields stand in it"),
        ('{ to = "right" }', '{ to = "right", when = { "/side" = "r" } }', r"no route is left for some packets"),
        ('when = { "/side" = "l" }', "when = {}", r"no later route is ever taken"),
        ('route = [{ to = "left", when = { "/side" = "l" } }, { to = "right" }]\n', "", r"there are no routes"),
        ('name = "never_both"', 'name = "not_json"', r"the name 'not_json' is taken"),
        (
            'type = "token", route',
            'type = "token", one_of = ["left", "up"], route',
            r"\[1\].to: the field cannot have this value.*: left, up",
        ),
        ('{ to = "right" }', '{ to = "go right" }', r"settings.route\[1\].to: the field cannot have this value"),
        (
            '"/answer/go" =',
            '"/answer/gone" =',
            r"never\[0\].all..\/answer/gone.: the answer has no field '/gone'.*: /answer/go,",
        ),
        ('"/packet/stop" =', '"/paket/stop" =', r"all..\/paket/stop.: '/paket/stop' points at nothing"),
        ('{ type = "flag", from = "/go" }', '{ type = "boolean", from = "/go" }', r"type"),
    ],
)
def test_settings_of_a_decision_that_contradict_themselves_are_refused(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(ScenarioError, match=told) as refused:
        load(tmp_path, (old, new))
    assert "classify[0]" in str(refused.value)


@pytest.mark.parametrize("at", ["/answer", "/answer/go/0", "/answer/*", "/packet", "/packet/stop/*/now"])
def test_a_combination_may_ask_for_whatever_can_be_there(tmp_path: Path, at: str) -> None:
    load(tmp_path, ('"/answer/go" = true', f'"{at}" = true'))


def test_a_decision_needs_a_packet(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="there is no packet to decide about"):
        load(tmp_path, (TABLE, ""), ('"{packet}"', '"Decide."'))


def test_whatever_is_answered_may_not_pass(tmp_path: Path) -> None:
    text = PLAIN[PLAIN.index("[[classify]]") : PLAIN.index("[script]")]
    with pytest.raises(ScenarioError, match="whatever is answered passes"):
        load(tmp_path, (text, ""))


INVARIANT = 'there = ["/mode"]'


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('holds = { "/mode" = { matches = "(" } }', r"is no regular expression"),
        ('holds = { "/mode" = { avoids = "(a)" } }', r"a regular expression with 1 groups"),
        ('holds = { "/mode" = { one_of = ["a"], contains = "b" } }', r"2 tests in one check"),
        ('holds = { "/mode" = {} }', r"0 tests in one check"),
        ('holds = { "/mode" = { from = { answer = "ask", at = "/a" } } }', r"are for answers"),
        ('holds = { "/mode" = { equals = "x", code = "another" } }', r"are for answers"),
        ('there = ["/mode"]\nwhen = { "/*/id" = { same_as = "/id" } }', r"held against no other place"),
    ],
)
def test_an_invariant_that_nothing_can_be_held_against_is_told_where_it_stands(
    tmp_path: Path, written: str, told: str
) -> None:
    line = PLAIN[: PLAIN.index(INVARIANT)].count("\n") + 1 + written.count("\n")
    with pytest.raises(ScenarioError, match=rf":{line}: packet\.must\[0\]\.(holds|when).*{told}"):
        load(tmp_path, (INVARIANT, written))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('{ "/side" = "l" }', '{ "/side" = { matches = "(" } }', r'route\[0\]\.when\."/side"\.matches: is no regular'),
        ('{ "/side" = "l" }', '{ "/*/side" = { same_as = "/l" } }', r"route\[0\]\.when\..*held against no other place"),
        ('"/answer/go" = true', '"/anwser/go" = true', r"never\[0\]\.all\..*nothing that is known of a decision"),
        ('"/answer/go" = true', '"/answer/gone" = true', r"never\[0\]\.all\..*the answer has no field '/gone'"),
        ('"/answer/go" = true', '"/answer/go" = { avoids = "[" }', r"never\[0\]\.all\..*is no regular expression"),
        ('from = "/go"', 'if = { "/go" = {} }', r'fields\."/go"\.if\."/go": no single test'),
        ('from = "/go"', 'from = "/go", where = { "/a" = { matches = "(" } }', r'"/go"\.where\..*is no regular'),
        ('from = "/go"', 'equals = "yes"', r'fields\."/go"\.equals: the field cannot have this value'),
        ('from = "/go"', "from = []", r'fields\."/go"\.from: an array of 0'),
        ('from = "/go"', 'mapped = { at = "/a", to = { a = "b" } }', r'"/go"\.mapped\.to\.a: the field cannot have'),
        ('to = "left"', 'to = "to the left"', r"route\[0\]\.to: the field cannot have this value"),
        ('"text", optional', '"text", least = 3, most = 2, optional', r'"/note"\.most: fewer than the least'),
        ('"text", optional', '"token", one_of = ["a b"], optional', r'"/note"\.one_of\[0\]: the field cannot have'),
        (
            '"text", optional = true',
            '"tokens", one_of = ["a"], least = 2, listed = { at = "/x", of = ["a", "b"] }',
            r'"/note"\.listed\.of\[1\]: the field cannot have',
        ),
    ],
)
def test_what_no_answer_or_packet_could_ever_meet_is_told_where_it_stands(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(ScenarioError, match=rf"classify\[0\]\.settings\..*{told}"):
        load(tmp_path, (old, new))


@pytest.mark.parametrize("at", ["/answer", "/answer/go", "/answer/note/more", "/packet", "/packet/stop"])
def test_a_combination_may_look_at_the_whole_answer_a_field_and_what_is_in_one(tmp_path: Path, at: str) -> None:
    load(tmp_path, ('"/answer/go" = true, "/packet/stop" = true', f'"{at}" = {{ absent = true }}'))
