"""Plain values to plain values, over the real control plane."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from numbered import case

from harness import wiring
from harness.clock import SystemClock
from harness.errors import CatalogError, EnvironmentProblem, PlaneMissingError, ProvisionError
from harness.executors import shadow
from harness.provision import InstalledPlane
from harness.schema.run import EpisodeJob, EpisodeOptions
from harness.wiring import session as session_module
from harness.wiring.places import Settings
from harness.wiring.planes import installed_plane
from harness.wiring.waiting import durable_place

PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture
def place(plane_home: Path, tmp_path: Path) -> Settings:
    """The installed control plane and an empty folder."""
    return wiring.settings({"HARNESS_HOME": str(plane_home), "PATH": PATH}, tmp_path)


def job(place: Settings, actor: str = "script", **options: object) -> EpisodeJob:
    loaded = wiring.load_scenario(place, "loopx/selected-todo")
    (spec,) = wiring.actor_specs(place, actor, loaded, ())
    return EpisodeJob(
        loaded=loaded,
        actor=spec,
        plane=wiring.plane_identity(place, loaded.scenario.plane),
        options=EpisodeOptions.model_validate(options),
    )


@pytest.mark.plane
def test_a_job_and_its_result_are_plain_picklable_values(place: Settings) -> None:
    one = pickle.loads(pickle.dumps(job(place)))  # noqa: S301  (made here)
    result = wiring.run_episode(one, place=place)
    assert result.receipt.verdict == "pass"
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301  (made here)


@pytest.mark.slow
@pytest.mark.plane
def test_shadow_checks_are_counted_in_the_log_and_not_in_the_receipt(place: Settings) -> None:
    plain = wiring.run_episode(job(place), place=place)
    shadowed, trace = wiring.trace_episode(job(place, shadow_every=1), place=place)
    assert shadowed.receipt == plain.receipt
    assert (shadowed.log.shadow_checks, shadowed.log.shadow_differences) == (2, 0)
    assert trace is not None
    assert [step.proposal.kind for step in trace.steps] == ["quota_should_run", "selected_action"]


@pytest.mark.slow
@pytest.mark.plane
def test_the_log_says_in_what_a_cold_call_differed(place: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow, "differing", lambda *_: ["stdout", "exit_code"])
    result = wiring.run_episode(job(place, shadow_every=1), place=place)
    assert result.log.shadow_differences == 2
    assert result.log.remarks == ("2 of 2 warm calls repeated cold had another exit_code, stdout",)


@pytest.mark.plane
def test_a_cancelled_session_ends_its_episodes_as_cancelled(place: Settings) -> None:
    with wiring.Session(place) as session:
        session.cancel()
        assert session.run(job(place)).receipt.outcome.name == "cancelled/cancellation_requested"


@pytest.mark.plane
def test_an_installed_plane_is_looked_at_once_a_session(place: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def counted(settings: Settings, ref: str) -> InstalledPlane:
        looked.append(ref)
        return installed_plane(settings, ref)

    monkeypatch.setattr(session_module, "installed_plane", counted)
    one = job(place)
    with wiring.Session(place) as session:
        for _ in range(3):
            session.parts(one, clock=SystemClock())
    assert looked == ["loopx==0.4.8"]


@pytest.mark.plane
def test_an_end_of_the_process_is_told_apart(place: Settings) -> None:
    with wiring.Session(place) as session:
        session.shut_down()
        assert session.run(job(place)).receipt.outcome.name == "cancelled/shutdown"


def test_a_plane_that_is_not_whole_tells_what_is_wrong_and_the_line_to_type(tmp_path: Path) -> None:
    (tmp_path / "planes/loopx/0.4.8").mkdir(parents=True)
    place = wiring.settings({"HARNESS_HOME": str(tmp_path)}, tmp_path)
    with pytest.raises(PlaneMissingError, match=r"is damaged \(installed.json is missing.*type: harness plane install"):
        wiring.plane_identity(place, "loopx==0.4.8")


@pytest.mark.plane
def test_a_machine_without_git_is_told_so(place: Settings, tmp_path: Path) -> None:
    bare = wiring.settings({"HARNESS_HOME": str(place.home), "PATH": str(tmp_path)}, tmp_path)
    with wiring.Session(bare) as session, pytest.raises(EnvironmentProblem, match="needs git"):
        session.run(job(place))


def test_a_plane_that_is_not_installed_tells_the_line_to_type(tmp_path: Path) -> None:
    place = wiring.settings({"HARNESS_HOME": str(tmp_path)}, tmp_path)
    with pytest.raises(PlaneMissingError, match=r"type: harness plane install loopx==0\.4\.8"):
        wiring.plane_identity(place, "loopx==0.4.8")


@pytest.mark.parametrize("ref", ["nothing==1", "loopx", "loopx==", "../x==1"])
def test_a_reference_to_no_plane_is_one_line(tmp_path: Path, ref: str) -> None:
    place = wiring.settings({"HARNESS_HOME": str(tmp_path)}, tmp_path)
    with pytest.raises((ProvisionError, CatalogError)) as caught:
        wiring.plane_identity(place, ref)
    assert "\n" not in str(caught.value)


@pytest.mark.plane
def test_commands_are_classified_as_an_episode_would(place: Settings) -> None:
    loaded = wiring.load_scenario(place, "loopx/selected-todo")
    with wiring.classifier(place, loaded) as classify:
        assert (classify("{quota_guard_command}").kind, classify("date").kind) == ("quota_should_run", "clock")
        before = classify("cat {source}")
        assert (before.kind, before.code) == ("selected_action", "selected_action_before_quota")
        assert (classify("rm x").kind, classify("rm x").code) == (None, "unexpected_command")
        assert classify("cat a\x00b ²").code == "unexpected_command"
    with wiring.classifier(place, loaded, ["quota_should_run"]) as classify:
        assert classify("cat {source}").code is None
        assert classify("{quota_guard_command}").code == "repeated_quota_should_run"


@pytest.mark.plane
def test_a_command_whose_value_is_not_known_here_says_so(place: Settings) -> None:
    loaded = wiring.load_scenario(place, "loopx/capability-repair")
    with wiring.classifier(place, loaded) as classify:
        found = classify("{reentry_command}")
    assert (found.kind, found.parsed) == (None, None)
    assert found.problem is not None
    assert "reentry_command" in found.problem


def test_an_unknown_kind_lists_what_there_is(tmp_path: Path) -> None:
    place = wiring.settings({}, tmp_path)
    loaded = wiring.load_scenario(place, "loopx/selected-todo")
    with pytest.raises(CatalogError, match="there are: quota_should_run"), wiring.classifier(place, loaded, ["no"]):
        pass


@pytest.mark.plane
def test_no_workspace_is_left_when_a_session_is_closed(
    place: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    with wiring.Session(place) as session:
        results = [session.run(job(place)) for _ in range(3)]
    assert [result.receipt.verdict for result in results] == ["pass"] * 3
    assert [path.name for path in (tmp_path / "tmp").iterdir() if path.name.startswith("harness-")] == []


@pytest.mark.plane
@case(224)
def test_a_new_run_refuses_an_episode_that_is_there_and_leaves_it(place: Settings, tmp_path: Path) -> None:
    one = job(place, "openai-compatible/nobody@http://127.0.0.1:1/v1")
    journal = durable_place(tmp_path / "episodes", one.key).folder / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_bytes(b"of another run\n")
    with wiring.Session(place, episodes=tmp_path / "episodes", is_new=True) as session:
        result = session.run(one)
    assert (result.receipt.outcome.name, result.receipt.verdict) == ("rejected/key_conflict", "not_judged")
    assert result.log.resumable
    assert journal.read_bytes() == b"of another run\n"
    assert [path.name for path in journal.parent.iterdir()] == [journal.name]
