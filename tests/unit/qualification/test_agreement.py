"""What is not the same question is neither counted together nor told side by side."""

from __future__ import annotations

import pytest
from judged import MODEL, PLANE, Played, live, several, view_of

from harness.errors import UsageError
from harness.qualification import by_version, refuse_different, refuse_mixed
from harness.schema.actor import ActorIdentity
from harness.schema.message import GenerationSettings
from harness.schema.spending import Beyond

OTHER_PLANE = PLANE.model_copy(update={"version": "0.4.9", "wheel_sha256": "9e" * 32})
WARM = live("openai/model", GenerationSettings(temperature=1.0))
COLD = live("openai/model", GenerationSettings(temperature=0.0, seed=1))
ONE = several("pack/a", 1, 2)


def script(name: str, digest: str) -> ActorIdentity:
    return ActorIdentity(ref=name, kind="script", digest=digest)


@pytest.mark.parametrize(
    ("played", "told"),
    [
        ([*ONE, *several("pack/a", 0, 1, classifier=2)], "holds pack/a in two versions"),
        ([*ONE, *several("pack/a", 0, 1, plane=OTHER_PLANE)], "holds pack/a in two versions"),
        ([*ONE, *several("pack/a#later", 0, 1)], "holds pack/a in two versions"),
        (
            [*several("pack/a", 1, 1, actor=WARM), *several("pack/a", 1, 1, actor=COLD)],
            r"two actors named openai/model.*temperature \(1.0 and 0.0\), seed \(not set and 1\); give each a name",
        ),
        (
            [*ONE, *several("pack/a", 1, 1, actor=live("openai/model", address="http://other"))],
            "two actors named openai/model.*different: address",
        ),
        (
            [*ONE, *several("pack/a", 1, 1, actor=MODEL.model_copy(update={"model": "another"}))],
            "two actors named openai/model.*different: model",
        ),
    ],
)
def test_one_run_counts_nothing_together_that_is_not_the_same(played: list[Played], told: str) -> None:
    with pytest.raises(UsageError, match=f"^reports/a: .*{told}"):
        refuse_mixed("reports/a", view_of(played))


def test_versions_are_runs_of_their_own_and_calls_of_no_episode_are_told_once() -> None:
    view = view_of([*ONE, *several("pack/a", 2, 2, plane=OTHER_PLANE)])
    found = by_version("reports/a", view.model_copy(update={"beyond": Beyond(calls=3)}))
    assert [(name, len(one.receipts), len(one.log), one.beyond.calls) for name, one in found.items()] == [
        ("reports/a on loopx==0.4.8", 2, 2, 3),
        ("reports/a on loopx==0.4.9", 2, 2, 0),
    ]
    one = view_of(ONE)
    assert by_version("reports/a", one) == {"reports/a": one}


def test_a_script_is_another_one_in_each_scenario() -> None:
    played = [
        *several("pack/a", 1, 1, actor=script("script", "1")),
        *several("pack/b", 1, 1, actor=script("script", "2")),
    ]
    refuse_mixed("reports/a", view_of(played))


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ([*ONE, *several("pack/b", 1, 1)], "scenario pack/b is in one of them only"),
        (several("pack/a#later", 1, 2), r"scenario pack/a differs \(limits\)"),
        (several("pack/a", 1, 2, plane=OTHER_PLANE), "control plane loopx is 0.4.8 and 0.4.9"),
        (
            several("pack/a", 1, 2, plane=PLANE.model_copy(update={"wheel_sha256": "9e" * 32})),
            "control plane loopx is 0.4.8, of two different wheels",
        ),
        (several("pack/a", 1, 2, classifier=2), "pack/a is judged by classifier version 1 and 2"),
        (
            several("pack/a", 1, 2, actor=WARM),
            r"actor openai/model has other settings: temperature \(not set and 1.0\)",
        ),
        (
            several("pack/a", 1, 2, actor=live("ark/other", GenerationSettings(stream=True))),
            r"their actors have other settings: stream \(not set and true\)",
        ),
        (
            [*several("pack/a", 1, 2), *several("pack/a", 1, 2, actor=live("b", GenerationSettings(seed=3)))],
            r"their actors have other settings: seed \(not set and 3\)",
        ),
    ],
)
def test_runs_that_put_another_question_are_refused_by_what_differs(other: list[Played], told: str) -> None:
    with pytest.raises(UsageError, match=f"^reports/b cannot stand beside reports/a: {told}$"):
        refuse_different({"reports/a": view_of(ONE), "reports/b": view_of(other)})


def test_differences_are_named_in_one_order_always() -> None:
    names = [f"pack/s{number}" for number in range(9)]
    one, other = ([few for name in names for few in several(name, 1, 1, classifier=version)] for version in (1, 2))
    with pytest.raises(UsageError, match=r": pack/s0 is .*; pack/s1 is .*; pack/s2 is .*; pack/s3 is .*; and 5 more$"):
        refuse_different({"reports/a": view_of(one), "reports/b": view_of(other)})


def test_of_many_differences_the_first_are_named() -> None:
    other = [one for number in range(6) for one in several(f"pack/b{number}", 1, 1)]
    with pytest.raises(UsageError, match=r"pack/a is in one of them only; scenario pack/b0.*; and 3 more$"):
        refuse_different({"reports/a": view_of(ONE), "reports/b": view_of(other)})


@pytest.mark.parametrize(
    "other",
    [
        several("pack/a", 2, 9),
        several("pack/a", 1, 2, actor=live("ark/other")),
        several("pack/a", 1, 2, actor=live("openai/model", address="http://other")),
        several("pack/a", 1, 2, actor=script("script:reference", "1")),
    ],
)
def test_another_model_another_address_and_other_trials_are_no_other_question(other: list[Played]) -> None:
    refuse_different({"reports/a": view_of(ONE), "reports/b": view_of(other), "reports/c": view_of(ONE)})
