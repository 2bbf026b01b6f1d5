from __future__ import annotations

from harness.recording import commands
from harness.schema.recording import RerecordSpec


def spec(scenario: str = "team/look", actor: str = "openai/m", **more: object) -> RerecordSpec:
    return RerecordSpec.model_validate({"scenario": scenario, "actor": actor, **more})


def test_one_recording_is_one_command() -> None:
    assert commands([spec()]) == ("harness record team/look --actor openai/m --stale-only --yes-spend",)
    assert commands([spec(sets=("temperature=0.5", "a=b c"), simulated=True, into="kept")]) == (
        (
            "harness record team/look --actor openai/m --set temperature=0.5 --set 'a=b c' --into kept "
            "--provenance simulated --stale-only --yes-spend"
        ),
    )


def test_what_takes_the_same_options_is_one_command_and_the_rest_are_others() -> None:
    made = commands([spec(), spec(actor="a"), spec("team/other"), spec(simulated=True)])
    assert made[0] == "harness record team/look team/other --actor openai/m --actor a --stale-only --yes-spend"
    assert len(made) == 2
    assert commands([]) == ()
