"""Problems that the schema alone cannot see."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import ScenarioError
from harness.scenario import fixed_time, load

Write = Callable[[str], Path]

#: What is replaced, by what, the line that is named (by its text), and what the complaint must say.
TEXT_FAULTS = {
    "unknown name": (
        'word = "{task}"',
        'word = "{tusk}"',
        "{tusk}",
        ["kind[1].word", "{tusk}", "mean 'task'", "turn_id"],
    ),
    "unknown name in a script": ('"cat {proof}",', '"cat {prof}",', "{prof}", ["script.reference[1]", "{prof}"]),
    "unknown name in a file": ("{project_root}\"}'", "{projekt_root}\"}'", "projekt", ["workspace.file[0].text"]),
    "late name in a file": (
        "{project_root}\"}'",
        "{briefing}\"}'",
        "text = '",
        ["{briefing}", "prompt and script only"],
    ),
    "late name in a kind": (
        'word = "{task}"',
        'word = "{act_command}"',
        "act_command",
        ["kind[1].word", "not known here"],
    ),
    "late name in a late value": ('"--task", "{task}"', '"{ask_command}"', "briefing =", ["late.briefing.plane[1]"]),
    "answer in a prompt": (
        '{ask_command}"\nuser',
        '{act_command}"\nuser',
        "system =",
        ["prompt.system", "script only"],
    ),
    "prompt in itself": (
        "{briefing}\nTurn",
        "{ask_command}\nTurn",
        "user =",
        ["prompt.user", "outside prompt.user only"],
    ),
    "name in a key": ('"/mode" = "go"', '"/{task}" = "go"', '"/{task}"', ["a placeholder in a key"]),
    "name taken": ('task = "task_1"', 'task = "task_1"\nhome_root = "x"', "home_root", ["'home_root' is taken"]),
    "name of a late value taken": ("briefing = {", "turn_id = {", "turn_id =", ["late.turn_id", "is taken"]),
    "name declared twice": (
        'task = "task_1"',
        'task = "task_1"\nact_command = "x"',
        "act_command = {",
        ["late.act_command", "declared in values as well"],
    ),
    "circle": ('task = "task_1"', 'task = "{proof}"', "task =", ["values.task", "task -> proof -> task"]),
    "circle of one": ('task = "task_1"', 'task = "{task}"', "task =", ["task -> task"]),
    "no source": ("ask_command = { prompt = '(demo ask[^\\n]*)' }", "ask_command = {}", "ask_command =", ["0 sources"]),
    "two sources": (
        "act_command = { ",
        "act_command = { prompt = 'x', ",
        "act_command =",
        ["2 sources", "exactly one"],
    ),
    "no pointer": (', at = "/text"', "", "briefing =", ["late.briefing", "the pointer into the answer is missing"]),
    "pointer into a prompt": (
        "*)' }",
        '*)\', at = "/a" }',
        "ask_command",
        ["late.ask_command.at", "plane or answer only"],
    ),
    "result in a prompt": (
        "ask_command = { prompt = '(demo ask[^\\n]*)' }",
        "ask_command = { shown = '(demo ask[^\\n]*)' }",
        "system =",
        ["prompt.system", "values from what was shown in script only"],
    ),
    "bad pattern in a result": (
        "ask_command = { prompt = '(demo ask[^\\n]*)' }",
        "ask_command = { shown = '(demo' }",
        "ask_command =",
        ["late.ask_command.shown", "no regular expression"],
    ),
    "bad pattern": ("(demo ask[^\\n]*)", "(demo", "ask_command", ["late.ask_command.prompt", "no regular expression"]),
    "two groups": ("(demo ask[^\\n]*)", "(demo) (ask)", "ask_command", ["with 2 groups", "exactly one group"]),
    "unknown kind": ('answer = "ask"', 'answer = "asks"', "act_command", ["late.act_command.answer", "mean 'ask'"]),
    "kind without answer": (
        'answer = "ask"',
        'answer = "proof"',
        "act_command",
        ["late.act_command.answer", "ask, act"],
    ),
}

WORLD_FAULTS = {
    "other id": ('id = "demo/whole"', 'id = "demo/half"', "id =", ["does not fit the file's path", "demo/whole"]),
    "no plane": ('plane = "demo==1.2"', 'plane = "demo 1.2"', "plane =", ["names no control plane", "name==version"]),
    "unknown absent": ('absent = ["state"]', 'absent = ["stat"]', "absent", ["workspace.absent[0]", "mean 'state'"]),
    "unknown git": ('git = ["project"]', 'git = ["proj"]', "git =", ["workspace.git[0]", "project, state, home"]),
    "git absent": ('git = ["project"]', 'git = ["state"]', "git =", ["workspace.git[0]", "is absent"]),
    "unknown cwd": ('git = ["project"]', 'cwd = "work"', "cwd =", ["workspace.cwd", "unknown root 'work'"]),
    "cwd absent": ('git = ["project"]', 'cwd = "state"', "cwd =", ["workspace.cwd", "is absent"]),
    "root twice": ('"state", "home"]', '"state", "home", "home"]', "roots", ["workspace.roots[3]", "declared twice"]),
    "file nowhere": ('"home/copy.json"]\ntext', '"hom/copy.json"]\ntext', "at =", ["workspace.file[0].at[1]", "'hom'"]),
    "file absent": ('"home/copy.json"]\ntext', '"state/copy.json"]\ntext', "at =", ["a file in the absent root"]),
    "file twice": ('"home/copy.json"]\ntext', '"project/notes/task_1.json"]\ntext', "at =", ["is written twice"]),
    "file outside": ('"home/copy.json"]\ntext', '"home/../x"]\ntext', "at =", ["no path below a root"]),
    "file is a root": ('"home/copy.json"]\ntext', '"home"]\ntext', "at =", ["'home' is no path below a root"]),
    "file absolute": ('"home/copy.json"]\ntext', '"{home_root}/x"]\ntext', "at =", ["unknown root '{home_root}'"]),
    "boundary nowhere": (
        '"state/log/**"',
        '"stat/log/**"',
        "plane_writes",
        ["boundary.plane_writes[0]", "mean 'state'"],
    ),
    "boundary outside": ('"project/out.txt"', '"project//x"', "tool_writes", ["boundary.tool_writes[0]", "no path"]),
    "grammar": ('grammar = "loopx-0.4"', 'grammar = "loopx-0.5"', "grammar", ["tool.run.grammar", "mean 'loopx-0.4'"]),
    "readable": ('readable = ["home"]', 'readable = ["hom"]', "readable", ["tool.run.readable[0]", "mean 'home'"]),
    "content": ('content = ["project/{proof}"]', 'content = ["p/{proof}"]', "content", ["tool.run.content[0]"]),
    "metadata": ('metadata = ["home/copy.json"]', 'metadata = ["h/c"]', "metadata", ["tool.run.metadata[0]"]),
    "shows": (
        'shows = { file = "project/{proof}"',
        'shows = { file = "project/x"',
        "shows",
        ["no content file of a tool"],
    ),
    "outcome": (
        '"limit_exceeded/model_turns"',
        '"limit_exceeded/shutdown"',
        "shutdown",
        ["unknown outcome", "limit_exceeded/duration"],
    ),
    "outcome of no status": ('"limit_exceeded/model_turns"', '"turns"', '"turns"', ["unknown outcome", "cancelled/…"]),
    "outcome close": ('"limit_exceeded/model_turns"', '"limit_exceeded/model_turn"', "model_turn", ["did you mean"]),
    "facts for no pass": (
        '"limit_exceeded/model_turns" = "ran_out"',
        '"limit_exceeded/model_turns" = { code = "late", needs = ["asked"] }',
        "needs",
        ["facts are needed for a pass only"],
    ),
    "unknown fact of an outcome": (
        '"limit_exceeded/model_turns" = "ran_out"',
        '"limit_exceeded/model_turns" = { verdict = "pass", needs = ["asket"] }',
        "needs",
        ["no kind sets the fact 'asket'", "mean 'asked'"],
    ),
    "kept where none is": (
        "[call]",
        "[observe]\nrequire_artifact = true\n[call]",
        "require_artifact",
        ["observe.require_artifact", "none is kept", "spill = true beside it"],
    ),
    "tool that reads on": (
        "[call]",
        '[tool.read_more]\nabout = ""\nargument = "x"\ngrammar = "loopx-0.4"\n[observe]\nspill = true\n[call]',
        "[tool.read_more]",
        ["tool.read_more", "reads on in kept results", "another name"],
    ),
    "kind that reads on": (
        "[end]",
        '[[kind]]\nname = "read_more"\nword = "x"\nfatal = "y"\n[observe]\nspill = true\n[end]',
        'name = "read_more"',
        ["name", "the kind of the calls that read on", "another name"],
    ),
    "two tools": (
        "[call]",
        '[tool.other]\nabout = ""\nargument = "x"\ngrammar = "loopx-0.4"\n[call]',
        "reference =",
        ["script.reference", "several tools", "calls, which name their tool"],
    ),
    "wrong script": ("did_nothing = [", "did_nothin = [", "did_nothin =", ["no failure code", "mean 'did_nothing'"]),
    "no answer": ('{ content = "No." }', "{ id = 'x' }", "did_nothing =", ["script.wrong.did_nothing[0]", "no answer"]),
    "two answers": (
        '{ content = "No." }',
        '{ content = "No.", command = "x" }',
        "did_nothing",
        ["more than one answer"],
    ),
    "replace without command": (
        '{ content = "No." }',
        '{ calls = [], replace = [["a", "b"]] }',
        "did_",
        [".replace"],
    ),
    "text beside a text": ('{ content = "No." }', '{ content = "", assistant_content = "" }', "did_", ["calls only"]),
}

RULE_FAULTS = {
    "error told by nothing": ("exit = 3, class", "class", '"busy"', ["kind[1].errors[0]", "told by nothing", "exit"]),
    "error never asked": (
        '{ where = { "/error" = "gone" }, class',
        '{ exit = 3, where = { "/error" = "gone" }, class',
        '"task_gone"',
        ["kind[1].errors[1]", "never asked: the error 'busy' before it takes all of it"],
    ),
    "error of a read by its answer": (
        'failed = "proof_failed"',
        'errors = [{ where = { "/a" = 1 }, class = "terminal", code = "x" }]',
        "errors",
        ["kind[2].errors[0].where", "is a read and has no answer"],
    ),
    "errors of a fatal kind": (
        'fatal = "quit_early"',
        'fatal = "quit_early"\nerrors = [{ exit = 1, class = "terminal", code = "x" }]',
        "errors",
        ["kind[3].errors", "fatal ends the episode"],
    ),
    "test of an error's answer": (
        '"/error" = "gone" }',
        '"/error" = { equals = 1, contains = "x" } }',
        "/error",
        ["kind[1].errors[1].where", "2 tests in one check"],
    ),
    "threshold of one": ("same_action = 4", "same_action = 1", "same_action", ["detectors.same_action"]),
    "exit code of a success": ("exit = 3, class", "exit = 0, class", "exit", ["kind[1].errors[0].exit"]),
    "other class": ('class = "terminal"', 'class = "fatal"', "fatal", ["kind[1].errors[1].class", "terminal"]),
    "kind twice": ('name = "act"', 'name = "ask"', 'name = "ask"', ["kind[1].name", "declared twice"]),
    "no matcher": ('read = "content"\n', "", "[[kind]]", ["kind[2]", "'proof' matches by nothing", "call, with, word"]),
    "call and read": ('word = "{task}"', 'word = "{task}"\nread = "other"', "read =", ["a call and a read at once"]),
    "unknown tool": ('tool = "run"', 'tool = "runs"', "tool =", ["kind[3].tool", "mean 'run'"]),
    "dashes": ('{ label = "*"', '{ --label = "*"', "with =", ["an option with dashes"]),
    "fatal and more": (
        'fatal = "quit_early"',
        'fatal = "quit_early"\nsets = "x"',
        'sets = "x"',
        ["fatal ends the episode"],
    ),
    "unknown fact in needs": (
        "needs = { asked",
        "needs = { asket",
        "needs",
        ["no kind sets the fact 'asket'", "mean 'asked'"],
    ),
    "unknown fact in never": ("never = { done", "never = { dune", "never", ["kind[2].never.dune", "mean 'done'"]),
    "unknown fact in accept": ('"proven"]', '"prove"]', "accept", ["end.accept[1]", "asked, done, proven"]),
    "unknown fact in silence": ('lacks = ["done"]', 'lacks = ["do"]', "silence", ["end.silence[0].lacks[0]"]),
    "out of reach": ("needs = { asked =", "needs = { done =", "accept", ["end.accept[0]", "can never come true"]),
    "silence without an end": (', { code = "did_nothing" }]', "]", "silence", ["end.silence[0]", "a last rule"]),
    "silence after the end": (
        "silence = [{ has",
        'silence = [{ code = "x" }, { has',
        "silence",
        ["end.silence[0]", "always fits"],
    ),
    "no call": ("[call]", "[call2]", "[call2]", ["unknown key 'call2'"]),
    "never allowed": (
        'call = ["task act"]',
        'call = ["act task"]',
        "act task",
        ["kind[1].call[0]", "never allowed to run"],
    ),
    "part of a word": (
        'call = ["task act"]',
        'call = ["ask act"]',
        "ask act",
        ["never allowed to run", "ask, task act"],
    ),
    "unknown option set": ("set = { root", "set = { roof", "set =", ["call.set.roof", "mean 'root'"]),
    "unknown option many": ('many = ["label"]', 'many = ["labels"]', "many =", ["call.many[0]", "mean 'label'"]),
    "unknown option inside": ('inside = ["out"]', 'inside = ["put"]', "inside =", ["call.inside[0]"]),
    "flag with a value": ('flags = ["quick"]', 'flags = ["label"]', "flags =", ["'label' takes no value"]),
}

CHECK_FAULTS = {
    "unknown kind": ('kind = "ask"\nocc', 'kind = "asks"\nocc', 'kind = "asks"', ["check[1].kind", "mean 'ask'"]),
    "nothing checked": ('shows = { file = "project/{proof}", reads = "any" }', "", "[[check]]", ["nothing is checked"]),
    "shows of a text": (
        '"home/copy.json"]\ntext = \'{',
        '"home/copy.json"]\ntext = \'plain {',
        "shows",
        ["check[0].shows.file", "is no JSON"],
    ),
    "fatal kind": ('kind = "ask"\nocc', 'kind = "quit"\nocc', 'kind = "quit"', ["it is fatal"]),
    "second of once": ("occurrence = 1", "occurrence = 2", "occurrence", ["'ask' may run only once", "allowed: 1"]),
    "shows of a call": ('kind = "proof"\nshows', 'kind = "act"\nshows', "shows", ["'act' is no read with a code"]),
    "answer of a read": ('kind = "ask"\nocc', 'kind = "proof"\nocc', "[check.answer]", ["is a read and has no answer"]),
    "no code": ('failed = "ask_failed"\n', "", '"/mode"', ["no code: 'ask' has no failed"]),
    "two tests": ("absent = true, code", "absent = true, empty = true, code", '"/gone"', ["2 tests in one check"]),
    "no test": ("{ absent = true, code", "{ code", '"/gone"', ["0 tests in one check", "exactly one of equals"]),
    "none_contains alone with another": (
        "commands = { act = 1 }",
        'contains = "x"',
        '"/next"',
        ["2 tests in one check"],
    ),
    "unknown counted kind": ("commands = { act = 1 }", "commands = { acts = 1 }", '"/next"', ["mean 'act'"]),
    "nothing counted": (
        'commands = { act = 1 }, none_contains = "drop"',
        "commands = {}",
        '"/next"',
        ["no kind is counted"],
    ),
    "end checks nothing known": (
        'unexpected = "unknown_command"',
        'check = [{ code = "x", holds = { "/reply" = 1 } }]',
        "/reply",
        ["end.check[0].holds.", "points at nothing that is known at the end", "/answer"],
    ),
    "several tests at the end": (
        'unexpected = "unknown_command"',
        'check = [{ code = "x", holds = { "/answer" = { equals = 1, one_of = [1] } } }]',
        "one_of",
        ["end.check[0].holds.", "2 tests in one check"],
    ),
    "code in a check of the end": (
        'unexpected = "unknown_command"',
        'check = [{ code = "x", holds = { "/state/a" = { equals = 1, code = "y" } } }]',
        "/state/a",
        ["a test of one value"],
    ),
    "code in where": ('{ contains = "exit" }', '{ contains = "exit", code = "x" }', "where", ["a test of one value"]),
    "count in where": ('{ contains = "exit" }', "{ commands = { act = 1 } }", "where", ["a test of one value"]),
}

ALL = {
    f"{group}: {fault}": case
    for group, faults in (
        ("text", TEXT_FAULTS),
        ("world", WORLD_FAULTS),
        ("rule", RULE_FAULTS),
        ("check", CHECK_FAULTS),
    )
    for fault, case in faults.items()
}


def refusal(path: Path) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        load(path, grammars=frozenset({"loopx-0.4"}))
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("fault", ALL)
def test_scenario_that_cannot_work_is_refused_at_its_line(fault: str, text: str, write: Write) -> None:
    old, new, place, said = ALL[fault]
    changed = text.replace(old, new, 1)
    assert changed != text
    error = refusal(write(changed))
    assert error.line is not None
    assert place in changed.splitlines()[error.line - 1], (error, changed.splitlines()[error.line - 1])
    for part in said:
        assert part in str(error)


def test_call_kinds_need_a_table_of_calls_that_may_run(text: str, write: Write) -> None:
    start, end = text.index("[call]"), text.index("[[kind]]")
    error = refusal(write(text[:start] + text[end:]))
    assert error.key == "kind[0]"
    assert "no call may run" in str(error)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ('call = ["ask"]', 'call = ["ask"]'),
        ('call = ["ask", "task act"]', 'call = ["ask"]\nword = "x"'),
        ('with = { label = "*" }', 'with = { label = "a" }'),
        ("with = { quick = true }", 'call = ["task act"]\nwith = { quick = true, label = "a" }'),
        ('word = "x"', 'word = "x"\ntool = "run"'),
        ('read = "other"', 'read = "other"\ntool = "run"'),
        ('tool = "run"\nwhere = { "/cmd" = "a" }', 'tool = "run"\nwhere = { "/cmd" = "a", "/x" = 1 }'),
        ('tool = "run"', 'tool = "run"\nword = "a"'),
    ],
)
def test_kind_behind_one_that_matches_all_of_it_is_refused(earlier: str, later: str, text: str, write: Write) -> None:
    changed = text + f'\n[[kind]]\nname = "first"\n{earlier}\n[[kind]]\nname = "second"\n{later}\n'
    error = refusal(write(changed))
    assert "'second' is never reached: 'first' before it matches all of it" in str(error)
    assert error.key == "kind[5]"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ('call = ["ask"]\nword = "x"', 'call = ["ask"]\nword = "y"'),
        ('call = ["task act"]\nword = "x"', 'call = ["ask"]\nword = "x"'),
        ('with = { label = "*" }', 'with = { label = "" }'),
        ('with = { label = "*" }', 'with = { label = "--x" }'),
        ('with = { label = "*" }', "with = { label = true }"),
        ('with = { label = "*" }', 'word = "a"'),
        ('with = { label = "a" }', 'with = { label = "b" }'),
        ("with = { quick = true }", "with = { quick = false }"),
        ('call = ["task act"]\nword = "x"', 'word = "x"'),
        ('read = "metadata"', 'read = "other"'),
        ('tool = "run"\nwhere = { "/cmd" = "a" }', 'tool = "run"\nwhere = { "/cmd" = "b" }'),
    ],
)
def test_kind_that_something_is_left_for_is_accepted(earlier: str, later: str, text: str, write: Write) -> None:
    changed = text + f'\n[[kind]]\nname = "first"\n{earlier}\n[[kind]]\nname = "second"\n{later}\n'
    loaded = load(write(changed), grammars=frozenset({"loopx-0.4"}))
    assert [kind.name for kind in loaded.scenario.kind][-2:] == ["first", "second"]


@pytest.mark.parametrize(
    "clock", ["tomorrow", "2026-08-12T00:00:00", "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00", "{task}"]
)
def test_a_clock_that_cannot_be_told_in_utc_is_refused(clock: str, text: str, write: Write) -> None:
    told = str(refusal(write(text.replace('clock = "2026-01-01T00:00:00Z"', f'clock = "{clock}"'))))
    assert ".clock: " in told
    assert "is no time; allowed: ISO 8601 with a zone" in told


CLOCK = 'clock = "2026-01-01T00:00:00Z"\n'
FIXED = 'program = "demo"\nclock = "fixed"'


@pytest.mark.parametrize(
    ("clock", "more", "said"),
    [
        ("", "", "call.clock: a fixed time, but no tool has a clock"),
        (
            CLOCK,
            '[tool.other]\nabout = "x"\nargument = "a"\ngrammar = "loopx-0.4"\nclock = "2026-01-01T00:00:01Z"\n',
            "differ",
        ),
    ],
)
def test_a_fixed_clock_shows_the_one_time_that_the_tools_tell(
    clock: str, more: str, said: str, text: str, write: Write
) -> None:
    fixed = text.replace('program = "demo"', FIXED, 1)
    told = str(refusal(write(fixed.replace(CLOCK, clock, 1).replace("[call]", f"{more}[call]", 1))))
    assert said in told
    assert "one time, the `clock` of a tool" in told
    scenario = load(write(fixed), grammars=frozenset({"loopx-0.4"})).scenario
    assert fixed_time(scenario) == "2026-01-01T00:00:00+00:00"
    assert fixed_time(load(write(text), grammars=frozenset({"loopx-0.4"})).scenario) is None
    changed = scenario.model_copy(update={"tool": {}})
    with pytest.raises(ScenarioError, match=r"call\.clock: the tools tell no one time to show"):
        fixed_time(changed)


def test_a_plane_that_runs_inside_of_harness_has_no_clock_of_its_own(text: str, write: Write) -> None:
    fixed = with_plane_tool(text).replace('program = "demo"', FIXED, 1)
    with pytest.raises(ScenarioError, match=r"call\.clock: a control plane that runs inside of harness"):
        loaded_with_operations(write(fixed))


def test_more_kinds_than_a_scenario_may_have_are_refused_in_bounded_time(text: str, write: Write) -> None:
    many = "".join(f'[[kind]]\nname = "k{n}"\nword = "w{n}"\nfatal = "c{n}"\n' for n in range(10_000))
    told = str(refusal(write(text.replace("[end]", f"{many}[end]", 1))))
    assert "kind: an array of" in told
    assert "at most 256 entries" in told


#: What the whole scenario calls by itself.
OWN_CALLS = ("brief", "init")


def with_plane_tool(text: str, tool: str = 'operation = "claim"', kind: str = "") -> str:
    """The whole scenario on a control plane that comes with harness, with a second tool."""
    added = f"[tool.claim]\n{tool}\n\n[call]\n"
    moved = text.replace('plane = "demo==1.2"', 'plane = "own"', 1).replace("[call]\n", added, 1)
    return moved.replace("[end]", f'[[kind]]\nname = "claim"\ntool = "claim"\n{kind}\n[end]', 1)


def loaded_with_operations(path: Path) -> None:
    """Load it where the plane ``own`` has two operations, and those that the scenario calls by itself."""
    known = {"own": ("claim", "list", *OWN_CALLS)}
    load(path, grammars=frozenset({"loopx-0.4"}), operations=known.get)


@pytest.mark.parametrize(
    ("tool", "kind", "said"),
    [
        ('operation = "claims"', "", ["tool.claim.operation", "own has no operation 'claims'", "mean 'claim'", "list"]),
        ('operation = "claim"\nargument = "cmd"', "", ["tool.claim", "unknown key 'argument'", "about, operation"]),
        ("operation = 1", "", ["tool.claim.operation", "1 cannot stand here", "allowed: text"]),
        ('about = "x"', "", ["tool.claim", "argument"]),
        ('operation = "claim"', 'word = "x"', ["kind[4].tool", "takes no command"]),
        ('operation = "claim"', 'read = "other"', ["kind[4].tool", "takes no command"]),
        ('operation = "claim"', "", ["script", "a command where there are several tools"]),
    ],
)
def test_a_tool_of_the_control_plane_is_one_that_it_has(
    tool: str, kind: str, said: list[str], text: str, write: Write
) -> None:
    with pytest.raises(ScenarioError) as caught:
        loaded_with_operations(write(with_plane_tool(text, tool, kind)))
    for part in said:
        assert part in str(caught.value)


def test_a_scenario_without_a_command_tool_has_no_bare_commands(text: str, write: Write) -> None:
    start, end = text.index("[tool.run]"), text.index("[call]")
    rest = text[end:].replace('tool = "run"', 'tool = "claim"').replace('[[check]]\nkind = "proof"\nshows', "# shows")
    changed = with_plane_tool(text[:start] + rest)
    with pytest.raises(ScenarioError, match="a command where there is no tool for one"):
        loaded_with_operations(write(changed))


def test_a_plane_without_a_version_must_be_one_that_comes_with_harness(text: str, write: Write) -> None:
    error = refusal(write(text.replace('plane = "demo==1.2"', 'plane = "registry"', 1)))
    assert "'registry' names no control plane; allowed: name==version, or registry" in str(error)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '["brief", ',
            '["breif", ',
            ["late.briefing.plane[0]", "own has no operation 'breif'", "mean 'brief'", "claim"],
        ),
        ('["init", ', '["inti", ', ["workspace.prepare[0].plane[0]", "own has no operation 'inti'", "mean 'init'"]),
        ("[prompt]", '[packet]\nplane = ["clam"]\n[prompt]', ["packet.plane[0]", "no operation 'clam'", "'claim'"]),
        (
            "[end]",
            '[[after]]\nkind = "claim"\nplane = ["lits"]\nfailed = "x"\nanswer = { "/a" = 1 }\n[end]',
            ["after[0].plane[0]", "no operation 'lits'", "'list'"],
        ),
    ],
)
def test_what_a_scenario_calls_by_itself_is_an_operation_too(
    old: str, new: str, said: list[str], text: str, write: Write
) -> None:
    """Of a control plane that is installed nobody knows before it is asked."""
    changed = with_plane_tool(text)
    assert changed.count(old) == 1
    with pytest.raises(ScenarioError) as caught:
        loaded_with_operations(write(changed.replace(old, new)))
    assert all(part in str(caught.value) for part in said), caught.value
