"""A policy file: the example that people copy, and each fault in one line that names its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConfigError, UsageError
from harness.schema.graph import RuleGraph
from harness.schema.policy import Policy
from harness.schema.run import ScenarioSummary
from harness.wiring.policy_file import demands, read_policy

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "policy.toml"


def summary(name: str, *tags: str) -> ScenarioSummary:
    return ScenarioSummary(id=name, digest="", asks="", tags=tags, graph=RuleGraph(nodes=(), edges=()))


PLAYED = [summary("loopx/a"), summary("loopx/b", "honesty"), summary("registry/c", "honesty")]


def test_the_example_says_what_its_comments_say() -> None:
    policy = read_policy(EXAMPLE)
    assert (policy.rate, policy.margin, policy.alpha, policy.power, policy.trials) == (0.85, 0.05, 0.05, 0.8, 10)
    assert (policy.not_judged.count, policy.not_judged.allowed) == ("exclude", 0.05)
    assert policy.wants_baseline
    asked = [(one.tier, one.kind, one.wanted, one.scenarios) for one in demands(policy, PLAYED, "policy.toml")]
    everything = ("loopx/a", "loopx/b", "registry/c")
    assert asked == [
        (None, "rate", 0.85, everything),
        (None, "drop", 0.05, everything),
        ("must", "every", 1.0, ("loopx/b", "registry/c")),
        ("loopx", "rate", 0.8, ("loopx/a", "loopx/b")),
    ]


def test_a_tier_may_ask_for_more_trials_than_the_policy() -> None:
    policy = Policy.model_validate_json(
        '{"schema": 1, "rate": 0.5, "trials": 3, "tier": {"a": {"scenarios": ["loopx/a"], "margin": 0.1, "trials": 9}}}'
    )
    assert [one.trials for one in demands(policy, PLAYED, "p")] == [3, 9]


def test_how_much_may_be_not_judged_where_nobody_says_it() -> None:
    told = [Policy.model_validate({"schema": 1, "not_judged": {"count": how}}) for how in ("exclude", "fail")]
    assert [one.not_judged.allowed for one in told] == [0.1, 1.0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rate = 0.5", "p.toml:1: schema: this key is missing; allowed: 1"),
        ("schema = 2\nrate = 0.5", "p.toml:1: schema: 2 cannot stand here; allowed: 1"),
        ("schema = true\nrate = 0.5", "p.toml:1: schema: true cannot stand here; allowed: 1"),
        ("schema = 1.0\nrate = 0.5", "p.toml:1: schema: 1.0 cannot stand here; allowed: 1"),
        (
            "schema = 1\nrate = 95",
            "p.toml:2: rate: 95 cannot stand here; allowed: a number (> 0, < 1): a share, 0.05 is 5 %",
        ),
        ("schema = 1\nrate = 1.0", "p.toml:2: rate: 1.0 cannot stand here; allowed: a number (> 0, < 1): a share"),
        ("schema = 1\nmargin = 5", "p.toml:2: margin: 5 cannot stand here; allowed: a number (> 0, <= 0.5): a share"),
        ("schema = 1\nrate = nan", "p.toml:2: rate: not a finite number; allowed: a finite number"),
        ("schema = 1\nrate = true", "p.toml:2: rate: true cannot stand here; allowed: a number"),
        (
            "schema = 1\nrate = 0.5\nalpha = 0.5",
            "p.toml:3: alpha: 0.5 cannot stand here; allowed: a number (>= 0.0001, <= 0.2)",
        ),
        (
            "schema = 1\nrate = 0.5\nalpha = 1e-320",
            "p.toml:3: alpha: 1e-320 cannot stand here; allowed: a number (>= 0.0001, <= 0.2)",
        ),
        ("schema = 1\nrat = 0.5", "p.toml:2: rat: unknown key 'rat'; did you mean 'rate'?; allowed: alpha, every,"),
        ("schema = 1", "p.toml:1: nothing is demanded; allowed: rate, every or margin, here or in [tier.NAME]"),
        ("schema = 1\nrate = 0.5\nevery = true", "p.toml:2: rate: every trial is to pass already; allowed: one of"),
        (
            "schema = 1\n[tier.a]\nscenarios = ['x']",
            "p.toml:2: tier.a: nothing is demanded; allowed: rate, every or ma",
        ),
        ("schema = 1\n[tier.a]\nrate = 0.5", "p.toml:2: tier.a.scenarios: this key is missing; allowed: an array"),
        ("schema = 1\n[tier.a]\nscenarios = []\nrate = 0.5", "p.toml:3: tier.a.scenarios: an array of 0 cannot stand"),
        ("schema = 1\n[tier.A]\nscenarios = ['x']\nrate = 0.5", "p.toml:2: tier.A: 'A' cannot be a name here; allowed"),
        (
            "schema = 1\nrate = 0.5\n[not_judged]\ncount = 'x'",
            'p.toml:4: not_judged.count: "x" cannot stand here; allo',
        ),
        ("schema = 1\nrate = ", "p.toml:2: is no TOML: Invalid value"),
    ],
)
def test_each_fault_is_one_line_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("p.toml")
    path.write_text(f"{text}\n", "utf-8")
    with pytest.raises(ConfigError) as raised:
        read_policy(path)
    assert str(raised.value).startswith(told)
    assert "\n" not in str(raised.value)


def test_a_tier_that_chooses_nothing_is_told_and_not_passed_over() -> None:
    policy = Policy.model_validate_json('{"schema": 1, "tier": {"a": {"scenarios": ["gone/*"], "every": true}}}')
    with pytest.raises(UsageError, match=r"p: tier\.a: chooses none of the scenarios that are played \(gone/\*\)"):
        demands(policy, PLAYED, "p")
