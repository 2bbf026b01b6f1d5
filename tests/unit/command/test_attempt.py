"""The names of the simple commands in a text: only where all of them do no more than read and print."""

from __future__ import annotations

import time

import pytest

from harness.command import parse
from harness.schema.command import GrammarContext


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ls | sort", ("ls", "sort")),
        ("cat data/lane.json | grep x 2>/dev/null && wc -l data/lane.json", ("cat", "grep", "wc")),
        ("find . -name '*.json' 2>&1; /bin/ls", ("find", "ls")),
        ("head -5 data/lane.json\ntail -2 data/lane.json", ("head", "tail")),
        ("sed -n '2,4p;$p' a", ("sed",)),
        ("sed -E '/x/d; s/a/b/g' a", ("sed",)),
        ("echo 'a; b > c'", ("echo",)),
    ],
)
def test_each_simple_command_is_named(context: GrammarContext, text: str, names: tuple[str, ...]) -> None:
    assert parse(text, context).programs == names


@pytest.mark.parametrize(
    "text",
    [
        "find . -delete",
        "find . -name x -exec rm {} +",
        "find . -fprint0 out",
        "ls > out",
        "ls >> out",
        "cat < in",
        "cat <<EOF\nx\nEOF",
        "ls &",
        "ls 2> errors",
        "ls 3>/dev/null",
        "echo $(touch x)",
        "echo `touch x`",
        "cat ${X:?}",
        "sed -i s/a/b/ f",
        "sed -ni p f",
        "sed --in-place=x p f",
        "sed 'w out' f",
        "sed '1e touch x' f",
        "sed 's/a/b/w out' f",
        "sed -f script f",
        "sort -o out f",
        "sort --output=out f",
        "rg --pre cmd x",
        "./ls",
        "sed",
    ],
)
def test_a_text_that_could_do_more_has_no_names(context: GrammarContext, text: str) -> None:
    assert parse(text, context).programs == ()


def test_it_is_read_in_bounded_time(context: GrammarContext) -> None:
    begun = time.process_time()
    for text in ("ls 2>&1 | " * 6_000, "sed '" + "1,2" * 20_000 + "' f", "a " * 30_000):
        parse(text, context)
    assert time.process_time() - begun < 20
