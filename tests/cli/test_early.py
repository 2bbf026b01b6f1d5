"""``harness run --early``: the run ends once it is known who is better, and every command understands that."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pytest
from judged import Played, live
from planned import job_of

from harness.cli import remaining
from harness.cli.early import narrowed, refuse_early
from harness.cli.folder import starting_manifest
from harness.cli.progress import Progressing
from harness.errors import UsageError
from harness.meter import Ceiling
from harness.receipt import Remainder, read_run
from harness.schema.early import EarlyPair, EarlyStop
from harness.schema.run import EpisodeJob, EpisodeOptions, EpisodeResult
from harness.schema.verdict import Verdict

NAMES = tuple(f"pack/s{number}" for number in range(6))
LIVE = ("--yes-spend", "--retries", "2")


class World(Protocol):
    names: tuple[str, ...]
    jobs: list[EpisodeJob]
    episode: Callable[[EpisodeJob], EpisodeResult] | None
    planes: tuple[str, ...]
    ceiling: Ceiling | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


def says(world: World, verdict: Callable[[EpisodeJob], Verdict]) -> None:
    """Every episode ends as ``verdict`` says of its job."""

    def episode(job: EpisodeJob) -> EpisodeResult:
        made = world.result(job)
        said = verdict(job)
        cause = {"fail": "model", "not_judged": "provider"}.get(said)
        code = "stopped" if said == "fail" else None
        receipt = made.receipt.model_copy(update={"verdict": said, "cause": cause, "failure_code": code})
        return made.model_copy(update={"receipt": receipt})

    world.episode = episode


def ref(job: EpisodeJob) -> str:
    return job.actor.identity.ref


@pytest.fixture(autouse=True)
def good_and_bad(world: World) -> World:
    """Six scenarios; who is called bad fails all of them."""
    world.names = NAMES
    says(world, lambda job: "fail" if "bad" in ref(job) else "pass")
    return world


def run(harness: Harness, *more: str, actors: tuple[str, ...] = ("a/good", "b/bad")) -> tuple[int, str, str]:
    named = [word for actor in actors for word in ("--actor", actor)]
    return harness("run", *named, "--trials", "10", "--early", "--out", "out", "-n", "1", *LIVE, *more)


def test_a_clear_difference_ends_the_run_and_saves_the_rest(harness: Harness, world: World) -> None:
    code, out, err = run(harness)

    assert code == 0, err
    played = Counter((ref(job), job.trial) for job in world.jobs)
    after = max(trial for _, trial in played)
    assert set(played.values()) == {len(NAMES)}
    assert 2 <= after <= 4
    saved = 2 * (10 - after) * len(NAMES)
    assert f"b/bad passes less often than a/good: decided after {after} of 10 planned trials of each scenario" in out
    assert f"{saved} of 120 planned episodes were not needed" in out
    assert f"of {2 * after * len(NAMES)} passed" in out
    assert "Not run" not in out
    manifest = read_run(Path("out")).manifest
    assert (manifest.state, len(manifest.plan)) == ("complete", 120)
    assert [place.trial for place in manifest.plan[:10]] == list(range(1, 11)), "the plan keeps its order"


def test_what_is_not_needed_any_more_is_taken_off_what_is_still_told_to_come(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, bool]] = []
    taken: list[int] = []

    @contextlib.contextmanager
    def progress(total: int, *, at_most: bool, **_: object) -> Iterator[Progressing]:
        asked.append((total, at_most))
        advance = Progressing()
        monkeypatch.setattr(advance, "fewer", taken.append)
        yield advance

    monkeypatch.setattr(remaining, "progress", progress)
    _, out, _ = run(harness, actors=("a/good", "b/good", "c/bad"))
    assert asked == [(180, True)]
    assert f"{sum(taken)} of 180 planned episodes were not needed" in out
    harness("run", "--actor", "a/good", "--actor", "b/good", "--out", "whole", *LIVE)
    assert asked[1:] == [(12, False)]


def test_every_command_understands_a_run_that_ended_early(harness: Harness) -> None:
    run(harness, actors=("a/good", "b/bad"))
    after = max(receipt.trial for receipt in read_run(Path("out")).receipts)

    assert harness("verify", "out")[0] == 0
    code, out, _ = harness("compare", "out")
    assert code == 0
    assert f"b/bad passes less often than a/good: 0 % against 100 %, decided after {after} of 10 planned trials" in out
    assert "at most 1 of 20 such runs" in out
    assert "(between" not in out, "an interval would take the number of trials for fixed"
    _, out, _ = harness("qualify", "out")
    assert f"out: {12 * after} trials planned and {120 - 12 * after} more not needed" in out
    assert "left out" not in out
    assert "trials ended early" in out
    code, _, err = harness("run", "--resume", "out", *LIVE[:1])
    assert code == 0
    assert f"who is better is known after {2 * after * 6} of 120 episodes: nothing is left to play" in err
    code, out, _ = harness("report", "out")
    assert code == 0
    found = f"b/bad passes less often than a/good: decided after {after} of 10 planned trials of each scenario"
    saved = f"{120 - 12 * after} of 120 planned episodes were not needed"
    files = [Path("out", name).read_text("utf-8") for name in ("report.html", "summary.md", "summary.txt")]
    assert all(found in told and saved in told for told in (out, *files))


def test_the_numbers_of_compare_do_not_take_the_number_of_trials_for_fixed(harness: Harness) -> None:
    run(harness)
    told = json.loads(harness("compare", "out", "--format", "json")[1])
    course = told["pairs"][0]["course"]
    assert course["saved"] == 2 * (10 - course["after"]) * len(NAMES), "what nobody played was not needed"
    (pair,) = told["pairs"]
    early = json.loads(Path("out/manifest.json").read_text("utf-8"))["early"]

    assert pair["finding"] == pair["course"]["finding"] == early["pairs"][0]["finding"] == "worse"
    assert pair["course"]["after"] == early["pairs"][0]["after"] == early["until"]["a/good"]
    assert told["methods"]["decision"].startswith("course")
    trials = 6 * pair["course"]["after"]
    assert pair["difference"]["high"] > -1 + 2 * (1 - 0.05 ** (1 / trials)), "wider than one look allows"


def test_equal_actors_are_played_to_the_end(harness: Harness, world: World) -> None:
    code, out, _ = run(harness, actors=("a/good", "b/good"))

    assert (code, len(world.jobs)) == (0, 120)
    assert "a/good and b/good: not decided after 10 of 10 planned trials of each scenario" in out
    assert "not needed" not in out
    assert "early looks: not decided after 10 of 10" in harness("compare", "out")[1]


def test_what_no_look_found_is_not_found_afterwards_by_a_test_for_a_fixed_number(
    harness: Harness, world: World
) -> None:
    world.names = NAMES[:1]
    says(world, lambda job: "fail" if "bad" in ref(job) and job.trial % 2 else "pass")
    run(harness)
    told = json.loads(harness("compare", "out", "--format", "json")[1])["pairs"][0]
    assert told["corrected"] < 0.05
    assert (told["finding"], told["course"]["finding"], told["course"]["after"]) == ("undecided", None, 10)
    assert "not enough evidence" in harness("compare", "out")[1]


def test_only_who_is_in_an_undecided_pair_is_played_on(harness: Harness, world: World) -> None:
    code, out, _ = run(harness, actors=("a/good", "b/good", "c/bad"))

    assert code == 0
    last = {actor: max(job.trial for job in world.jobs if ref(job) == actor) for actor in map(ref, world.jobs)}
    assert (last["a/good"], last["b/good"]) == (10, 10)
    assert last["c/bad"] <= 5
    assert f"{6 * (10 - last['c/bad'])} of 180 planned episodes were not needed" in out
    assert "no order is told: nothing sets apart a/good and b/good" in harness("compare", "out")[1]


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_run_that_was_stopped_goes_on_with_the_same_looks(harness: Harness, world: World, is_killed: bool) -> None:
    run(harness)
    whole = Counter((ref(job), job.loaded.scenario.id, job.trial) for job in world.jobs)
    world.jobs.clear()
    made = world.episode

    def dies(job: EpisodeJob) -> EpisodeResult:
        if len(world.jobs) == 17:
            shutil.copytree("cut", "killed")
            raise KeyboardInterrupt
        assert made is not None
        return made(job)

    world.episode = dies
    named = ("--actor", "a/good", "--actor", "b/bad", "--trials", "10", "--early", "-n", "1", *LIVE)
    assert harness("run", *named, "--out", "cut")[0] == 130
    world.episode = made
    again = "killed" if is_killed else "cut"
    assert harness("run", "--resume", again, "--yes-spend", "-n", "1")[0] == 0

    played = Counter((ref(job), job.loaded.scenario.id, job.trial) for job in world.jobs)
    assert played.keys() == whole.keys()
    assert sum(played.values()) == sum(whole.values()) + 1, "only what was cut off is played twice"
    first, second = (read_run(Path(folder)).manifest for folder in ("out", again))
    assert (first.early, first.seal is None) == (second.early, second.seal is None)
    assert second.state == "complete"


def test_trials_that_were_not_judged_keep_it_from_a_verdict_that_they_could_turn(
    harness: Harness, world: World
) -> None:
    def verdict(job: EpisodeJob) -> Verdict:
        is_even = job.trial % 2 == 0
        if "bad" in ref(job):
            return "pass" if is_even else "fail"
        return "not_judged" if is_even else "pass"

    says(world, verdict)
    code, out, _ = run(harness)
    assert (code, len(world.jobs)) == (2, 120)
    assert "not decided after 10 of 10" in out
    out = harness("compare", "out")[1]
    assert "what was not judged could turn it" in out


def test_a_bug_in_a_round_blocks_its_look_and_nothing_else(harness: Harness, world: World) -> None:
    good = world.episode

    def bug(job: EpisodeJob) -> EpisodeResult:
        if (ref(job), job.trial, job.loaded.scenario.id) == ("b/bad", 1, NAMES[2]):
            world.jobs.pop()
            raise RuntimeError
        assert good is not None
        return good(job)

    world.episode = bug
    code, out, _ = run(harness)
    assert (code, len(world.jobs)) == (70, 119)
    assert "not decided after 0 of 10" in out


def test_what_it_may_cost_ends_it_before_a_verdict_as_it_does_without_looks(harness: Harness, world: World) -> None:
    good = world.episode

    def dear(job: EpisodeJob) -> EpisodeResult:
        ceiling = world.ceiling
        assert ceiling is not None
        assert good is not None
        ceiling.reserve(job.key, Decimal(400_000), seconds=1.0, stopped=lambda: False)
        ceiling.settle(job.key, Decimal(400_000))
        return good(job)

    world.episode = dear
    actors = ("a/priced-bounded-good", "b/priced-bounded-bad")
    named = [word for actor in actors for word in ("--actor", actor)]
    code, out, err = harness(
        "run", *named, "--trials", "10", "--early", "--out", "out", "-n", "1", "--max-cost", "2.00"
    )
    assert (code, len(world.jobs)) == (2, 5)
    assert "--max-cost is reached" in err
    assert "not decided after 0 of 10" in out
    assert "115 not run" in out
    world.episode = good
    assert harness("run", "--resume", "out", "--max-cost", "900", "-n", "1")[0] == 0
    told = read_run(Path("out")).manifest
    assert told.early is not None
    assert (told.state, told.early.is_decided) == ("complete", True)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--actor", "script", "--trials", "5"), "--early compares actors, and only script plays; give two or more"),
        (("--actor", "script", "--actor", "script:x", "--trials", "1"), "give --trials 2 or more"),
        (("--actor", "script", "--actor", "script:x", "--trials", "5", "--shard", "1/2"), "leave one of them out"),
        (
            ("--actor", "script", "--actor", "script:x", "--trials", "5", "--plane", "loopx==0.4.8,1.4.2"),
            "on one version of a control plane, and there are loopx==0.4.8, loopx==1.4.2\n",
        ),
    ],
)
def test_what_it_cannot_do_is_refused_in_one_line(
    harness: Harness, world: World, argv: tuple[str, ...], said: str
) -> None:
    world.planes = ("loopx==0.4.8", "loopx==1.4.2")
    code, out, err = harness("run", *argv, "--early")
    assert (code, out, err.count("\n"), world.jobs) == (4, "", 1, [])
    assert said in err


def test_a_run_that_ended_early_is_not_held_against_another_one(harness: Harness) -> None:
    run(harness)
    harness("run", "--actor", "a/good", "--out", "other", *LIVE)
    code, _, err = harness("compare", "out", "other")
    assert code == 4
    assert "out ended early, when its own actors were told apart" in err
    assert harness("qualify", "out", "other")[0] == 0
    for pair in (("out", "other"), ("other", "out"), ("out",)):
        code, out, err = harness("history", "diff", *pair, "--reports", ".")
        assert (code, out) == (4, "")
        assert "out ended early, when its own actors were told apart" in err


def test_no_run_is_held_by_itself_against_one_that_ended_early(harness: Harness) -> None:
    run(harness)
    harness("run", "--actor", "a/good", "--actor", "b/bad", "--out", "later", *LIVE)
    code, _, err = harness("history", "diff", "later", "--reports", ".")
    assert code == 5
    assert "holds no whole run before later" in err


def test_a_run_that_ended_early_is_in_no_trend_and_turns_no_verdict(harness: Harness, world: World) -> None:
    run(harness)
    code, out, err = harness("history", "trend", "--reports", ".")
    assert (code, out) == (5, "")
    assert "holds no whole run of what is asked for that did not end early" in err

    both = ("--actor", "a/good", "--actor", "b/bad", "--trials", "2", *LIVE)
    path = Path("out/manifest.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "created_at": "2026-01-02T00:00:00Z"}), "utf-8")
    for day in (1, 3):
        harness("run", *both, "--out", f"night-{day}")
        path = Path(f"night-{day}/manifest.json")
        path.write_text(json.dumps({**json.loads(path.read_text()), "created_at": f"2026-01-0{day}T00:00:00Z"}))
    for verb in ("trend", "flakes"):
        out = harness("history", verb, "--reports", ".")[1]
        assert out.endswith(
            "left out: out, which ended early, when its own actors were told apart: that moves its rates\n"
        )
        told = json.loads(harness("history", verb, "--reports", ".", "--format", "json")[1])
        assert told["ended_early"] == ["out"]
        if verb == "trend":
            assert [[point["run"] for point in one["points"]] for one in told["trends"]] == [["night-1", "night-3"]] * 2
        else:
            assert {one["pairs"] for one in told["flakes"]} == {1}
        newest = json.loads(harness("history", verb, "--reports", ".", "--last", "2", "--format", "json")[1])
        assert newest["ended_early"] == ["out"]
    last = json.loads(harness("history", "trend", "--reports", ".", "--last", "1", "--format", "json")[1])
    assert last["ended_early"] == [], "it is older than all that is told"


def test_no_plan_goes_by_the_rates_of_a_run_that_ended_early_without_saying_so(harness: Harness) -> None:
    harness("run", "--actor", "a/good", "--actor", "b/bad", "--trials", "2", "--out", "reports/whole", *LIVE)
    run(harness)
    Path("out").rename("reports/early")
    assert "going by reports/whole" in harness("qualify", "--power-plan")[1]
    shutil.rmtree("reports/whole")
    assert "no complete one that did not end early" in harness("qualify", "--power-plan")[2]

    out = harness("qualify", "reports/early", "--power-plan")[1]
    assert out.count("the run ended early, which moved that rate; --expect RATE plans by another one") == 2
    assert "ended early" not in harness("qualify", "reports/early", "--power-plan", "--expect", "0.8")[1]


def test_no_policy_decides_by_a_run_whose_length_hung_on_what_came_out(harness: Harness, world: World) -> None:
    Path("rate.toml").write_text("schema = 1\nrate = 0.5\n", "utf-8")
    Path("margin.toml").write_text("schema = 1\nmargin = 0.05\n", "utf-8")
    run(harness)
    harness("run", "--actor", "a/good", "--trials", "3", "--out", "other", *LIVE)

    for argv in (("out", "--policy", "rate.toml"), ("other", "--policy", "margin.toml", "--baseline", "out")):
        code, out, err = harness("qualify", *argv)
        assert (code, out) == (4, "")
        assert "out ended early, when its own actors were told apart, so no policy decides by its rates" in err

    played = len(world.jobs)
    code, out, err = harness(
        "run", "--actor", "a/good", "--actor", "b/bad", "--trials", "10", "--early", "--policy", "rate.toml", *LIVE
    )
    assert (code, out, err.count("\n"), len(world.jobs)) == (4, "", 1, played), "refused before anything is paid for"
    assert "leave one of them out" in err


def test_a_policy_of_the_file_is_left_out_for_once(harness: Harness) -> None:
    Path("rate.toml").write_text("schema = 1\nrate = 0.5\n", "utf-8")
    Path("harness.toml").write_text('[run]\npolicy = "rate.toml"\nmax_time = "1h"\n[qualify]\npolicy = "rate.toml"\n')
    code, _, err = run(harness)
    assert (code, err.count("\n")) == (4, 1)
    assert "leave one of them out (--policy none)" in err
    assert "harness.toml:2 says so" in err
    assert run(harness, "--dry-run")[0] == 4
    assert "that is the most: --early begins" in run(harness, "--dry-run", "--policy", "none")[1]
    code, out, _ = run(harness, "--policy", "none", "--max-time", "none")
    assert (code, "decided after" in out, "by rate.toml" in out) == (0, True, False)
    for argv in (("out",), ("out", "--power-plan")):
        assert harness("qualify", *argv)[0] == 4
        assert harness("qualify", *argv, "--policy", "none")[0] == 0


def test_a_run_that_looked_and_was_played_whole_is_decided_by_a_policy(harness: Harness) -> None:
    Path("rate.toml").write_text("schema = 1\nrate = 0.5\n", "utf-8")
    run(harness, actors=("a/good", "b/fine"))

    assert harness("qualify", "out", "--policy", "rate.toml")[0] == 0


def test_what_no_longer_fits_is_played_again_though_the_run_had_ended() -> None:
    one, two = (Played("pack/a", trial, "pass", live(name), costs=()).job for name, trial in (("one", 1), ("two", 1)))
    ended = EarlyStop(
        alpha=0.05, planned=1, pairs=(EarlyPair(first="one", second="two", finding="worse", after=1),), until={}
    )
    manifest = starting_manifest(
        [one, two], EpisodeOptions(), run_id="run", created_at="2026-01-01T00:00:00Z", early=ended
    ).model_copy(update={"state": "complete"})
    left = Remainder(finished=(), jobs=((0, one), (1, two)), superseded=(), changed=())
    assert narrowed(manifest, [one, two], left).jobs == ()
    gone = Played("pack/a", 1, "pass", live("one")).result
    for changed in (replace(left, changed=("pack/a differs",)), replace(left, superseded=(gone,))):
        assert narrowed(manifest, [one, two], changed).jobs == left.jobs


def test_recordings_and_two_actors_of_one_name_are_refused() -> None:
    spec = job_of("pack/a").actor

    def played(scenario: str, ref: str, digest: str, recording: str | None = None) -> list[EpisodeJob]:
        identity = spec.identity.model_copy(update={"ref": ref, "digest": digest})
        actor = spec.model_copy(update={"identity": identity, "recording": recording})
        return [job_of(scenario, trial).model_copy(update={"actor": actor}) for trial in (1, 2)]

    one = played("pack/a", "one", "sha256:1")
    refuse_early([*one, *played("pack/a", "two", "sha256:2")], shard=None)
    with pytest.raises(UsageError, match="two is a recording, which costs nothing"):
        refuse_early([*one, *played("pack/a", "two", "sha256:2", "two.jsonl")], shard=None)
    twins = [*played("pack/a", "two", "sha256:2"), *played("pack/a", "two", "sha256:3")]
    with pytest.raises(UsageError, match="two actors are called two"):
        refuse_early([*one, *twins], shard=None)
    with pytest.raises(UsageError, match="one and two play no scenario in common"):
        refuse_early([*one, *played("pack/b", "two", "sha256:2")], shard=None)
