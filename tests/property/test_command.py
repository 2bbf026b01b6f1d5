"""Any text at all: read or refused, never run, never outside the workspace."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.command import parse
from harness.command.lexer import split_plan, split_words
from harness.schema.command import CallSpec, GrammarContext

OPTIONS = ("format", "registry", "goal-id", "text", "runtime-root", "quiet")
ALLOW = {"quota should-run": OPTIONS, "status": ("format", "quiet")}

PIECES = (
    *("ls", "cat", "head", "sed", "find", "rg", "echo", "cd", "pwd", "export", "date", "git", "/bin/cat", "python3"),
    *("loopx", "./loopx", "quota", "should-run", "status", "--format", "--goal-id=g", "--text", "--runtime-root"),
    *("--registry", "--quiet", "--nope", "--files", "--hidden", "--pre=x", "-m", "json.tool", "-n", "-5", "5", "1,3p"),
    *("-type", "f", "-name", "-path", "-not", "-o", "-maxdepth", "-exec", "2", "*", "A=1", "LOOPX_TURN=x", "HOME=x"),
    *(".", "..", "-", "/", "data", "data/lane.json", "out", "out/key", "alias.json", "loop/../out/key", "tohome"),
    *(
        "odd",
        "~",
        "~/.codex/loopx",
        "$HOME/.codex/loopx",
        "${HOME}",
        "../runtime",
        "../secret/key",
        "data/../../secret",
    ),
    *("'", '"', "\\", "$(", ")", "`", "#", "\0", "²", "\ud800", "\xa0", "é", "''", "'a b'", "\\\n"),
    *(";", "&&", "||", "|", "&", ">", "<", "2>/dev/null", "2>&1", "\n", ";;", "\r", "\t"),
)
TOP = "{top}"
ABSOLUTE = tuple(f"{TOP}/{rest}" for rest in ("project", "home", "runtime", "secret/key", "project/out", "home/.."))
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from((*PIECES, *ABSOLUTE)), max_size=10).map(" ".join),
    st.lists(st.sampled_from((*PIECES, *ABSOLUTE, " ", " ")), max_size=14).map("".join),
    st.builds(
        "{} {}".format,
        st.sampled_from(("cat", "ls", "find", "cat data/lane.json | head", "loopx quota should-run --runtime-root")),
        st.lists(st.sampled_from((*PIECES, *ABSOLUTE)), max_size=4).map("/".join),
    ),
)

#: What an interpreter reports before it starts a program or changes a file.
EFFECTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.mkdir", "os.remove"})
_seen: list[str] = []
_watching = False


def _watch(event: str, args: tuple[object, ...]) -> None:
    if _watching and (event in EFFECTS or event.startswith(("socket.", "open", "shutil."))):
        _seen.append(event)


@contextmanager
def effects() -> Iterator[list[str]]:
    """The effects that happen inside the block."""
    global _watching  # noqa: PLW0603  (an audit hook can be switched off only, not removed)
    _seen.clear()
    _watching = True
    try:
        yield _seen
    finally:
        _watching = False


@pytest.fixture(scope="module")
def hooked() -> None:
    sys.addaudithook(_watch)


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Roots full of links: inwards, outwards, to each other, to themselves, to a name that is no text."""
    top = tmp_path_factory.mktemp("command").resolve()
    for folder in ("project/data", "home/.codex/loopx", "secret"):
        (top / folder).mkdir(parents=True)
    (top / "project/data/lane.json").write_text("{}")
    (top / "secret/key").write_text("secret")
    for link, target in {
        "out": "../secret",
        "alias.json": "data/lane.json",
        "loop": "loop",
        "tohome": "../home",
        "odd": "data/\udcff",
        "~": "../secret",
        "data/up": "../..",
    }.items():
        (top / "project" / link).symlink_to(target)
    (top / "home/.codex/loopx/leak").symlink_to(top / "secret")
    return top


@pytest.fixture(scope="module")
def context(top: Path) -> GrammarContext:
    return GrammarContext(
        profile="loopx-0.4",
        roots={name: str(top / name) for name in ("project", "runtime", "home")},
        cwd="project",
        readable=("runtime", "home"),
        content=("project/data/lane.json",),
        metadata=("home/.codex/loopx/registry.global.json",),
        call=CallSpec(
            allow=ALLOW, set={"registry": "/the/registry"}, many=("text",), flags=("quiet",), inside=("runtime-root",)
        ),
    )


@given(text=TEXTS)
def test_text_is_read_as_its_own_workspace_has_it_whatever_was_read_before(
    context: GrammarContext, top: Path, text: str
) -> None:
    text = text.replace(TOP, str(top))
    rules = CallSpec.model_validate(context.call, from_attributes=True).model_copy()
    elsewhere = replace(context, roots={name: f"/elsewhere/{name}" for name in context.roots}, call=rules)
    parse(text, elsewhere)
    assert parse(text, replace(context, call=rules)) == parse(text, replace(context, call=rules.model_copy()))


@given(text=TEXTS)
@example("'" * 100_000)
@example("find . -maxdepth ²")
@example("A=/loopx B=1;\n")
@example("cat a\0b")
@example("cat \ud800")
def test_any_text_is_read_or_refused_without_any_effect(
    hooked: None, context: GrammarContext, top: Path, text: str
) -> None:
    spelled = text.replace(TOP, str(top))
    with effects() as seen:
        first = parse(spelled, context)
    assert seen == []
    assert parse(spelled, context) == first


@given(text=TEXTS)
@example("cat loop/../out/key")
@example("cat data/up/secret/key")
@example("cat out/" + "a/../" * 1500 + "key")
@example("ls ~/.codex/loopx/leak")
@example("cat ~/.codex/loopx/registry.global.json/../leak/key | head -5")
def test_no_path_leaves_the_roots_in_any_plan(context: GrammarContext, top: Path, text: str) -> None:
    plan = parse(text.replace(TOP, str(top)), context).reads
    for segment in plan.segments if plan is not None else ():
        program, *arguments = segment.argv
        assert program in {"ls", "find", "rg", "cat", "head", "sed", "pwd", "echo", "true", "git"}
        paths = [argument for argument in arguments if argument.startswith("/")] if program != "echo" else []
        assert all(_inside(path, context) for path in paths)
        if segment.target is not None:
            assert len(paths) == 1
            assert segment.target.partition("/")[0] in context.roots


def _inside(path: str, context: GrammarContext) -> bool:
    real = os.path.realpath(path)
    return real == path and any(real == root or real.startswith(f"{root}/") for root in context.roots.values())


CALLS = st.builds(
    "{}loopx {} {}".format,
    st.sampled_from(("", "", "A=1 ", "cd . && ", "echo ", "HOME=/x ")),
    st.sampled_from(("quota should-run", "status", "quota", "--format json status")),
    st.lists(
        st.one_of(
            st.sampled_from(OPTIONS).map("--{}".format),
            st.builds(
                "--{}={}".format, st.sampled_from((*OPTIONS, "nope")), st.sampled_from(("x", "/etc", "../runtime"))
            ),
            st.sampled_from((*PIECES, *ABSOLUTE)),
        ),
        max_size=6,
    ).map(" ".join),
)


@given(text=st.one_of(TEXTS, CALLS))
@example("loopx quota should-run --runtime-root out/x")
@example("loopx quota should-run --format --goal-id")
@example("loopx status --goal-id g")
def test_call_runs_with_allowed_options_only(context: GrammarContext, top: Path, text: str) -> None:
    call = parse(text.replace(TOP, str(top)), context).call
    if call is None or call.argv is None:
        assert call is None or call.refused is not None
        return
    assert call.refused is None
    assert call.path is not None
    options = [argument.partition("=") for argument in call.argv if argument.startswith("--")]
    names = [name.removeprefix("--") for name, _, _ in options]
    assert set(names) <= set(ALLOW[call.path])
    assert all(names.count(name) == 1 for name in names if name != "text")
    for at, argument in enumerate(call.argv):
        name, joined, value = argument.partition("=")
        given_value = value if joined else call.argv[at + 1] if name in ("--registry", "--runtime-root") else ""
        if name == "--registry":
            assert given_value == "/the/registry"
        if name == "--runtime-root":
            assert _inside(given_value, context)


WRITTEN = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


@given(values=st.lists(WRITTEN.filter(lambda value: not value.startswith("--")), min_size=1, max_size=4))
def test_quoted_values_survive_as_they_are(context: GrammarContext, values: list[str]) -> None:
    texts = [part for value in values for part in ("--text", value)]
    call = parse(f"loopx quota should-run {shlex.join(texts)}", context).call
    if set(texts) & {";", "&&", "||", "|"}:
        assert call is None
        return
    assert call is not None
    assert call.argv == ("quota", "should-run", *texts)


LEXICAL = st.text(st.sampled_from("ab'\"\\ \t\r\n;&|<>#$é\x0b\xa0\0"), max_size=14)


@given(text=LEXICAL)
def test_words_are_those_of_posix_shlex(text: str) -> None:
    try:
        expected = shlex.split(text)
    except ValueError:
        assert split_words(text) is None
        return
    assert [word.text for word in split_words(text) or ()] == expected


@given(text=LEXICAL)
def test_plan_words_are_those_of_shlex_with_operators(text: str) -> None:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    try:
        expected = list(lexer)
    except ValueError:
        assert split_plan(text) is None
        return
    assert [word.text for word in split_plan(text) or ()] == expected
