from __future__ import annotations

from pathlib import Path

import pytest
from rehearsing import policy_file, scenario

from harness.errors import ConfigError
from harness.rehearsal.casting import cast
from harness.rehearsal.policies import bundled, load, rated
from harness.scenario import load as load_scenario
from harness.schema.base import JsonValue
from harness.schema.rehearsal import FaultSpec, Visit
from harness.schema.scenario import Scenario
from harness.wiring.judges import CLASSIFIERS

REPOSITORY = Path(__file__).resolve().parents[3]
WHOLE = """
schema = 1
[policy.plays]
script = "reference"
weight = 3
scenarios = ["toy/*"]
latency_ms = [5, 10.5]
[[policy.plays.fault]]
kind = "status"
status = 429
rate = 0.25
retry_after_s = 2
[[policy.plays.fault]]
kind = "hang"
at_turn = 2
[model."a/b:1"]
policies = ["plays"]
latency_ms = 3
"""


def bundled_scenarios() -> list[Scenario]:
    files = (REPOSITORY / "scenarios" / "loopx").glob("*.toml")
    return [load_scenario(path, grammars=frozenset({"loopx-0.4"}), classifiers=CLASSIFIERS).scenario for path in files]


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(WHOLE, encoding="utf-8")

    found = load(path)

    plays = found.policy["plays"]
    assert (plays.weight, plays.scenarios, plays.latency_ms) == (3.0, ("toy/*",), (5.0, 10.5))
    assert plays.fault == (
        FaultSpec(kind="status", status=429, rate=0.25, retry_after_s=2.0),
        FaultSpec(kind="hang", at_turn=2),
    )
    assert found.model["a/b:1"].policies == ("plays",)


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ('script = "reference"', 'script = "bad"', 4, "policy.plays.script"),
        ('script = "reference"', "script = 2020-01-01", 4, "policy.plays.script"),
        ("weight = 3", "weight = 0", 5, "policy.plays.weight: 0 cannot stand here; allowed: a number (> 0)"),
        ("weight = 3", "weigth = 3", 5, "unknown key 'weigth'; did you mean 'weight'?"),
        ("weight = 3", "weight = inf", 5, "policy.plays.weight"),
        ("[5, 10.5]", "[10, 5]", 7, "policy.plays.latency_ms: the first number is the larger one"),
        ("latency_ms = 3", "latency_ms = -3", 18, 'model."a/b:1".latency_ms'),
        ("rate = 0.25", "rate = 1.5", 11, "policy.plays.fault[0].rate"),
        ("rate = 0.25\n", "", 8, "policy.plays.fault[0]: it must be known when"),
        ("at_turn = 2", "at_turn = 2\nrate = 0.5", 13, "policy.plays.fault[1]: it must be known when"),
        ("status = 429\n", "", 8, "policy.plays.fault[0]: it is not told which status"),
        ('kind = "hang"', 'kind = "hang"\nstatus = 500', 15, "policy.plays.fault[1].status: a hang has no status"),
        ('kind = "hang"', 'kind = "hang"\nretry_after_as = "date"', 15, "it is not told how long to wait"),
        ('kind = "hang"', 'kind = "hang"\nseconds = 5', 15, "a hang takes no time"),
        ('kind = "hang"', 'kind = "stall"\nseconds = 0', 15, "policy.plays.fault[1].seconds"),
        ('kind = "hang"', 'kind = "hang"\nretry_after_s = 5', 15, "a hang tells no time to wait"),
        ('["plays"]', '["play"]', 17, "there is no policy 'play'; did you mean 'plays'?; allowed: plays"),
        ("schema = 1", "schema = 2", 2, "schema"),
    ],
)
def test_what_a_file_says_wrong_is_one_line_that_tells_where(
    tmp_path: Path, old: str, new: str, line: int, told: str
) -> None:
    path = tmp_path / "p.toml"
    path.write_text(WHOLE.replace(old, new, 1), encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        load(path)

    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\xff", "no UTF-8"),
        (b"a = ", "no TOML"),
        (b"a = " + b"[" * 5000, "nested too deeply"),
        (b"#" * 1_048_577, "is too large; allowed: at most 1048576 bytes"),
    ],
    ids=["bytes", "text", "deep", "large"],
)
def test_a_file_that_is_no_policy_file_is_one_line(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=told):
        load(path)


def test_the_example_of_the_documentation_can_be_played(tmp_path: Path) -> None:
    text = (REPOSITORY / "docs" / "rehearsal.md").read_text("utf-8")
    path = tmp_path / "p.toml"
    path.write_text(text.split("```toml\n")[1].split("```")[0], encoding="utf-8")

    parts = cast(bundled_scenarios(), load(path), seed=0)

    assert [role.policy for role in parts["tired"].roles["loopx/selected-todo"]] == ["careful", "hurried"]
    assert [role.policy for role in parts["tired"].roles["loopx/capability-repair"]] == ["careful"]


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"p\.toml: cannot be read: No such file"):
        load(tmp_path / "p.toml")


def test_a_rated_model_has_its_rate_in_every_scenario() -> None:
    toy = scenario()
    other = toy.model_copy(update={"id": "toy/other"})
    made = rated([toy, other], {"old": 0.75, "always": 1.0, "never": 0.0})

    parts = cast([toy, other], made, seed=5)

    for name, rate in (("old", 0.75), ("always", 1.0), ("never", 0.0)):
        for roles in parts[name].roles.values():
            shares = {role.policy.rpartition("-")[2]: role.weight for role in roles}
            assert sum(shares.values()) == pytest.approx(1)
            assert shares.pop("pass", 0) == rate
            assert len(set(shares.values())) <= 1
    assert len(parts["old"].roles["toy/other"]) == 1 + len(toy.script.wrong)


def test_two_rated_models_draw_apart() -> None:
    toy = scenario()
    parts = cast([toy], rated([toy], {"a": 0.5, "b": 0.5}), seed=0)
    visits = [Visit(scenario=toy.id, trial=trial, turn=1, attempt=1) for trial in range(1, 60)]
    weights = (0.5, 0.5)

    drawn = {name: [part.draws.choice(weights, visit) for visit in visits] for name, part in parts.items()}

    assert drawn["a"] != drawn["b"]


def test_a_rate_that_is_none_or_cannot_be_played_is_refused() -> None:
    toy = scenario()
    with pytest.raises(ConfigError, match=r"pass rate of m: 1\.5 is no share"):
        rated([toy], {"m": 1.5})
    with pytest.raises(ConfigError, match="pass rate of m: nan is no share"):
        rated([toy], {"m": float("nan")})
    bare = toy.model_copy(update={"script": toy.script.model_copy(update={"wrong": {}})})
    with pytest.raises(ConfigError, match="has no wrong script"):
        rated([bare], {"m": 0.5})
    assert rated([bare], {"m": 1.0}).model["m"].policies == ("m1-pass",)
    with pytest.raises(ConfigError, match="a model name is"):
        rated([toy], {"a b": 1.0})


def test_the_bundled_policies_fit_the_bundled_scenarios() -> None:
    scenarios = bundled_scenarios()

    parts = cast(scenarios, bundled(), seed=0)

    assert list(parts) == ["good", "hasty", "wanderer"]
    for one in scenarios:
        codes = []
        for name in ("hasty", "wanderer"):
            (role,) = parts[name].roles[one.id]
            codes.append(bundled().policy[role.policy].script)
        assert len(set(codes)) == 2
        assert all(
            bundled().policy[role.policy].script.startswith(("ref", "right")) for role in parts["good"].roles[one.id]
        )


@pytest.mark.parametrize("script", ["right:quickly", "wrong:slowly"])
def test_a_script_that_a_scenario_lacks_is_refused_with_what_there_is(script: str) -> None:
    toy = scenario()
    policies: dict[str, dict[str, JsonValue]] = {"p": {"script": script}}
    lacks = rf"policy\.p\.script: scenario {toy.id} has no script '{script}'; did you mean 'right:slowly'"
    with pytest.raises(ConfigError, match=lacks):
        cast([toy], policy_file(policies), 0)
    assert cast([toy], policy_file({"p": {"script": script, "scenarios": ["loopx/*"]}}), 0)["p"].roles == {toy.id: ()}


def test_rates_above_one_together_are_refused() -> None:
    toy = scenario()
    half: dict[str, JsonValue] = {"kind": "html", "rate": 0.5}
    policy: dict[str, JsonValue] = {"script": "reference", "fault": [half]}
    assert cast([toy], policy_file({"p": policy}, fault=[half]), 0)
    with pytest.raises(ConfigError, match=r"policy.p.fault: the rates .* above 1"):
        cast([toy], policy_file({"p": policy}, fault=[half, {"kind": "reset", "rate": 0.1}]), 0)
