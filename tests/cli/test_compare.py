"""``harness compare``: a verdict on each pair in words that need no statistics, or why there is none."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pytest
from judged import PLANE, Played, all_of, left_out, live, several, write_run
from syrupy.assertion import SnapshotAssertion

from harness.cli.gaps_told import gap, rarely
from harness.schema.actor import ActorIdentity
from harness.schema.message import GenerationSettings, Usage
from harness.schema.qualification import Difference

OLD, NEW, THIRD = live("steady"), live("candidate"), live("third")
SCENARIOS = [f"pack/s{number}" for number in range(1, 9)]


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def clear_win() -> None:
    write_run(Path("night"), [*all_of([6, 7, 6, 7, 6, 7], 10, OLD), *all_of([9, 10, 9, 10, 9, 10], 10, NEW)])


def clear_loss() -> None:
    write_run(Path("last"), all_of([9, 10, 9, 10, 9, 10], 10, NEW))
    write_run(Path("night"), all_of([6, 7, 6, 7, 6, 7], 10, NEW))


def tie() -> None:
    write_run(Path("night"), [*all_of([39] * 8, 40, OLD), *all_of([39, 40] * 4, 40, NEW)])


def too_few_trials() -> None:
    write_run(Path("night"), [*all_of([2, 3], 3, OLD), *all_of([1, 2], 3, NEW)])


def provider_outage() -> None:
    out = left_out(all_of([9] * 6, 10, NEW), every=2)
    write_run(Path("night"), [*all_of([9] * 6, 10, OLD), *out])


def one_flaky_scenario() -> None:
    write_run(Path("night"), [*all_of([10] * 8, 10, OLD), *all_of([10] * 7 + [2], 10, NEW)])


def settings_differ() -> None:
    write_run(Path("last"), all_of([9], 10, OLD))
    write_run(Path("night"), all_of([9], 10, live("steady", GenerationSettings(temperature=1))))


def model_id_moved() -> None:
    write_run(Path("last"), all_of([9] * 6, 10, OLD, costs=(Decimal(10),), model="model-2026-05"))
    write_run(Path("night"), all_of([8] * 6, 10, OLD, costs=(Decimal(10),), model="model-2026-11"))


def plane_version_moved() -> None:
    write_run(Path("last"), all_of([9], 10, OLD))
    newer = PLANE.model_copy(update={"version": "0.5.4"})
    write_run(Path("night"), all_of([9], 10, OLD, plane=newer))


def cost_trade_off() -> None:
    dear = all_of([39] * 8, 40, OLD, costs=(Decimal(40_000),))
    write_run(Path("night"), [*dear, *all_of([38, 39] * 4, 40, NEW, costs=(Decimal(4_000),))])


def better_and_cheaper() -> None:
    dear = all_of([6, 7, 6, 7, 6, 7], 10, OLD, costs=(Decimal(40_000),))
    write_run(Path("night"), [*dear, *all_of([9, 10, 9, 10, 9, 10], 10, NEW, costs=(Decimal(30_000),))])


def better_and_dearer() -> None:
    cheap = all_of([6, 7, 6, 7, 6, 7], 10, OLD, costs=(Decimal(4_000),))
    write_run(Path("night"), [*cheap, *all_of([9, 10, 9, 10, 9, 10], 10, NEW, costs=(Decimal(60_000),))])


def cheaper_for_sure_and_nothing_else() -> None:
    dear = all_of([8, 9] * 3, 10, OLD, costs=(Decimal(30_000),))
    write_run(Path("night"), [*dear, *all_of([9, 9] * 3, 10, NEW, costs=(Decimal(10_000),))])


def costs_too_uneven() -> None:
    """Every other episode of both costs ten times as much, and one of the first a hundred times."""
    both = [
        replace(one, costs=(Decimal(1_000) * (100 if number == 0 else 10 if number % 2 else 1),))
        for number, one in enumerate([*all_of([9] * 2, 10, OLD), *all_of([9] * 2, 10, NEW)])
    ]
    write_run(Path("night"), both)


def model_id_moved_within_a_night() -> None:
    old = all_of([9] * 6, 10, OLD, costs=(Decimal(10),), model="model-2026-05")
    moved = [replace(one, model="model-2026-11") if one.trial > 6 else one for one in old]
    write_run(Path("night"), [*moved, *all_of([9] * 6, 10, NEW)])


def fingerprint_moved() -> None:
    same: dict[str, object] = {"costs": (Decimal(10),), "model": "model-2026-05"}
    write_run(Path("last"), all_of([9] * 6, 10, OLD, fingerprint="fp-1", **same))
    write_run(Path("night"), all_of([9] * 6, 10, OLD, fingerprint="fp-2", **same))


def all_pass() -> None:
    write_run(Path("night"), [*all_of([10] * 6, 10, OLD), *all_of([10] * 6, 10, NEW)])


def all_fail() -> None:
    write_run(Path("night"), [*all_of([0] * 6, 10, OLD), *all_of([0] * 6, 10, NEW)])


def three_models_in_order() -> None:
    three = [(OLD, [10] * 6), (NEW, [5] * 6), (THIRD, [0] * 6)]
    write_run(Path("night"), [one for actor, passes in three for one in all_of(passes, 10, actor)])


def three_models_without_order() -> None:
    three = [(OLD, [9] * 6), (NEW, [9] * 6), (THIRD, [2] * 6)]
    write_run(Path("night"), [one for actor, passes in three for one in all_of(passes, 10, actor)])


SITUATIONS: list[Callable[[], None]] = [
    *(clear_win, clear_loss, tie, too_few_trials, provider_outage, one_flaky_scenario, settings_differ),
    *(model_id_moved, plane_version_moved, cost_trade_off, all_pass, all_fail),
    *(three_models_in_order, three_models_without_order),
    *(better_and_cheaper, better_and_dearer, cheaper_for_sure_and_nothing_else, costs_too_uneven),
    *(model_id_moved_within_a_night, fingerprint_moved),
]
JARGON = re.compile(r"\b(p|CI|alpha|confidence|signific\w*|hypothes\w*|permut\w*|Holm|null)\b")


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: str(situation.__name__))
def test_each_situation_has_its_verdict_in_plain_words(
    harness: Harness, situation: Callable[[], None], snapshot: SnapshotAssertion
) -> None:
    situation()
    code, out, err = harness("compare", *sorted(str(path) for path in Path().iterdir()))

    assert (code, out, err) == snapshot
    assert not JARGON.search(out + err)
    assert all(len(line) <= 80 for line in out.split("\n\n")[0].splitlines())


def test_a_run_with_one_actor_has_nothing_to_compare(harness: Harness) -> None:
    write_run(Path("night"), all_of([3], 3, OLD))
    assert harness("compare", "night") == (
        4,
        "",
        "harness: night: only steady played there; name another run, or run with two --actor\n",
    )


def test_what_was_not_judged_can_keep_a_difference_from_being_told(harness: Harness) -> None:
    few = left_out(all_of([9] * 6, 10, NEW), every=20)
    write_run(Path("few"), [*all_of([3] * 6, 10, OLD), *few])
    assert "candidate passes more often" in harness("compare", "few")[1]
    many = left_out(all_of([7] * 6, 10, NEW), every=2)
    write_run(Path("many"), [*all_of([3] * 6, 10, OLD), *many])
    assert "what was not judged could turn it" in harness("compare", "many")[1]


def test_json_holds_every_pair_and_names_its_methods(harness: Harness) -> None:
    three_models_in_order()
    told = json.loads(harness("compare", "night", "--format", "json")[1])

    assert told["methods"]["decision"].startswith("permutation of labels within scenarios")
    assert [one["actor"] for one in told["contenders"]] == ["steady", "candidate", "third"]
    assert [(one["first"], one["second"], one["finding"]) for one in told["pairs"]] == [
        (0, 1, "worse"),
        (0, 2, "worse"),
        (1, 2, "worse"),
    ]
    assert told["order"] == [0, 1, 2]
    assert told["pairs"][0]["difference"]["effect"] == -0.5
    assert told["pairs"][0]["corrected"] >= told["pairs"][0]["chance"]


def test_jsonl_is_a_line_for_each_pair(harness: Harness) -> None:
    clear_loss()
    (line,) = harness("compare", "last", "night", "--format", "jsonl")[1].splitlines()
    told = json.loads(line)

    assert told["finding"] == "worse"
    assert (told["first"], told["second"]) == (
        {"run": "last", "actor": "candidate"},
        {"run": "night", "actor": "candidate"},
    )


def told_of_everything() -> None:
    usage = Usage(input_tokens=5_200, output_tokens=310, cache_read_tokens=4_000)
    one = all_of([9] * 6, 10, OLD, costs=(Decimal(40_000),) * 2, usage=usage, model="model-a", code="leapt")
    other = all_of([7] * 6, 10, NEW, costs=(Decimal(10_000),), model="model-b", fingerprint="fp-1")
    codes = ["leapt", "looked_away", "said_so_without_looking"]
    mixed = [replace(one, code=codes[number % 3], fingerprint=f"fp-{number % 5}") for number, one in enumerate(other)]
    partly = [replace(one, usage=usage) if number % 2 else one for number, one in enumerate(mixed)]
    script = ActorIdentity(ref="script", kind="script", digest="1")
    write_run(Path("night"), [*one, *partly, *all_of([10] * 6, 10, script)])


def test_details_tell_what_an_episode_takes_what_fails_and_who_answered(
    harness: Harness, snapshot: SnapshotAssertion
) -> None:
    told_of_everything()
    compact = harness("compare", "night")[1]
    whole = harness("compare", "night", "--details")[1]

    assert whole.startswith(compact)
    assert whole.removeprefix(compact) == snapshot


def test_a_provider_with_several_machines_is_the_same_where_one_of_them_answered_in_both(harness: Harness) -> None:
    for name, fingerprints in (("last", ("fp-1", "fp-2")), ("night", ("fp-2", "fp-3"))):
        played = all_of([9] * 2, 10, OLD, costs=(Decimal(10),), model="model-a")
        write_run(Path(name), [replace(one, fingerprint=fingerprints[at % 2]) for at, one in enumerate(played)])
    assert "may not be the same" not in harness("compare", "last", "night")[1]


def test_names_that_do_not_fit_above_a_table_stand_before_their_failures(harness: Harness) -> None:
    long = [live(f"provider/{letter * 30}") for letter in "ab"]
    write_run(Path("night"), [one for actor in long for one in all_of([5] * 6, 10, actor)])
    assert f"  provider/{'a' * 30}: wrong 30\n" in harness("compare", "night", "--details")[1]


def test_a_spreadsheet_has_a_row_for_each_actor_and_leaves_empty_what_is_not_known(harness: Harness) -> None:
    told_of_everything()
    code, out, err = harness("compare", "night", "--format", "csv")
    rows = {row["actor"]: row for row in csv.DictReader(out.splitlines())}

    assert (code, err, list(rows)) == (0, "", ["steady", "candidate", "script"])
    assert (rows["steady"]["passed"], rows["steady"]["judged"], rows["steady"]["usd_per_episode"]) == (
        *("54", "60", "0.080000"),
    )
    assert rows["steady"]["input_tokens_per_episode"] == "10400.0"
    assert rows["steady"]["reasoning_tokens_per_episode"] == ""
    assert rows["candidate"]["input_tokens_unknown_calls"] == "30"
    assert rows["candidate"]["failure_codes"] == "leapt 6; looked_away 6; said_so_without_looking 6"
    assert (rows["script"]["usd"], rows["script"]["enough"]) == ("", "true")


def test_an_interval_that_leaves_equality_out_decides_nothing_and_that_is_said(harness: Harness) -> None:
    write_run(Path("night"), [*all_of([3, 2], 5, OLD), *all_of([4, 5], 5, NEW)])
    assert harness("compare", "night")[1].endswith(
        "steady and candidate: not enough evidence that one is better: 50 % and 90 %, 40 points more (between 0 and 67 "
        "more). Were they equal, a gap like this would still come up in 1 of 6 comparisons. About 7 more trials of "
        "each scenario would decide about a gap of 40 points; there are 5.\n"
    )


def test_a_gap_that_two_rates_do_not_have_is_said_to_be_of_scenarios(harness: Harness) -> None:
    """Half of each scenario was judged, another half of each model: over all trials both pass as often."""
    easy, hard = several("pack/easy", 20, 20, actor=OLD), several("pack/hard", 4, 10, actor=OLD)
    other = [*several("pack/easy", 10, 10, actor=NEW), *several("pack/hard", 14, 20, actor=NEW)]
    write_run(Path("night"), [*easy, *hard, *other])
    told = harness("compare", "night")[1]
    assert "80 % and 80 % over all trials, scenario for scenario 15 points more (between " in told


def test_where_each_is_better_than_one_and_worse_than_another_no_order_is_told(harness: Harness) -> None:
    """They share a scenario two by two, and of each two the first fails none."""
    circle = [(OLD, NEW), (NEW, THIRD), (THIRD, OLD)]
    write_run(
        Path("night"),
        [
            one
            for number, (first, second) in enumerate(circle)
            for actor, passes in ((first, 10), (second, 0))
            for one in several(f"pack/s{number}", passes, 10, actor=actor)
        ],
    )
    assert harness("compare", "night")[1].endswith(
        "\nno order is told: they did not all play the same scenarios, and who is better turns with these\n"
    )
    assert json.loads(harness("compare", "night", "--format", "json")[1])["order"] is None


def test_more_trials_are_wanted_of_a_pair_that_is_one_of_several(harness: Harness) -> None:
    two = [*all_of([8] * 4, 10, OLD), *all_of([7] * 4, 10, NEW)]
    write_run(Path("two"), two)
    write_run(Path("three"), [*two, *all_of([8] * 4, 10, THIRD)])
    alone, among = (
        json.loads(harness("compare", run, "--format", "json")[1])["pairs"][0]["trials"] for run in ("two", "three")
    )
    assert (alone, among) == (79, 103)


@pytest.mark.parametrize(
    ("chance", "told"),
    [(0.0001, "fewer than 1 of 1,000"), (0.0012, "1 of 833"), (0.04, "1 of 25"), (0.5, "1 of 2"), (0.51, "most")],
)
def test_how_seldom_a_gap_comes_up_is_never_told_as_rarer_than_it_is(chance: float, told: str) -> None:
    assert rarely(chance) == told


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (-0.051, -0.004, "between 0 and 6 fewer"),
        (0.019, 0.071, "between 1 and 8 more"),
        (-0.001, 0.001, "between 1 fewer and 1 more"),
        (-0.25, 0.0, "between 0 and 25 fewer"),
    ],
)
def test_an_interval_is_told_no_narrower_than_it_is(low: float, high: float, told: str) -> None:
    found = Difference(effect=(low + high) / 2, low=low, high=high, scenarios=1)
    assert gap(found).endswith(f"({told})")


def test_a_share_of_the_cost_that_two_amounts_do_not_have_is_said_to_be_of_scenarios(harness: Harness) -> None:
    """A dear scenario of which one model played more: the mean over episodes is not that over scenarios."""
    cheap, dear = (Decimal(1_000),), (Decimal(40_000),)
    half, of_dear = (Decimal(500),), (Decimal(20_000),)
    write_run(
        Path("night"),
        [
            *(*several("pack/a", 20, 20, actor=OLD, costs=cheap), *several("pack/b", 10, 10, actor=OLD, costs=dear)),
            *(*several("pack/a", 20, 20, actor=NEW, costs=half), *several("pack/b", 40, 40, actor=NEW, costs=of_dear)),
        ],
    )
    told = harness("compare", "night")[1]
    assert "candidate costs about half as much, scenario for scenario: $0.0135 an episode against $0.014 over" in told


def test_a_model_that_costs_nothing_is_said_to_cost_nothing(harness: Harness) -> None:
    dear = all_of([9] * 6, 10, OLD, costs=(Decimal(30_000),))
    write_run(Path("night"), [*dear, *all_of([9] * 6, 10, NEW, costs=(Decimal(0),))])
    told = harness("compare", "night")[1]
    assert "whoever passes more often, candidate costs nothing: $0 an episode against $0.03\n" in told


def test_json_tells_of_each_pair_whether_chance_explains_what_it_costs_less(harness: Harness) -> None:
    cheaper_for_sure_and_nothing_else()
    told = json.loads(harness("compare", "night", "--format", "json")[1])
    (gap,) = told["costs"]
    assert (gap["first"], gap["second"], gap["cheaper"], gap["times"]) == (0, 1, 1, pytest.approx(1 / 3))
    (line,) = harness("compare", "night", "--format", "jsonl")[1].splitlines()
    assert json.loads(line)["costs"]["cheaper"] == 1
    write_run(Path("scripted"), [*all_of([9], 10, OLD), *all_of([9], 10, NEW)])
    (line,) = harness("compare", "scripted", "--format", "jsonl")[1].splitlines()
    assert json.loads(line)["costs"] is None


def test_looks_in_between_say_when_it_was_decided_and_what_that_could_save(harness: Harness) -> None:
    worse = [Played(name, trial, "fail", NEW) for name in SCENARIOS for trial in range(1, 11)]
    write_run(Path("night"), [*all_of([10] * 8, 10, OLD), *worse])
    told = harness("compare", "night", "--early")[1]
    assert (
        "early looks: decided after 3 of 10 planned trials of each scenario; 112 trials of both could be saved" in told
    )
    assert "early looks" not in harness("compare", "night")[1]

    cut = [replace(one, verdict=None) if one.trial > 2 else one for one in [*all_of([9] * 8, 10, OLD), *worse]]
    write_run(Path("cut"), cut)
    assert (
        "early looks: not decided after 2 of 10 planned trials of each scenario"
        in harness("compare", "cut", "--early")[1]
    )


def test_the_margin_says_what_is_alike(harness: Harness) -> None:
    tie()
    assert "pass equally often, within 5 points" in harness("compare", "night")[1]
    assert "not enough evidence" in harness("compare", "night", "--margin", "1")[1]


@pytest.mark.parametrize(
    "words",
    [("compare", "night", "--margin", "nan"), ("wire", "probe", "openai/some", "--read-timeout", "nan")],
    ids=("margin", "seconds"),
)
def test_what_is_no_number_is_in_no_range(harness: Harness, words: tuple[str, ...]) -> None:
    tie()
    code, out, told = harness(*words)
    assert (code, out, told.count("\n")) == (4, "", 1)
    assert words[-2] in told
    assert "no number" in told
