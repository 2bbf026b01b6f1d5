"""Labels exchanged within scenarios: the same chances as when every way to hand them out is tried."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.qualification.difference import difference
from harness.qualification.permutation import Stratum, null_distribution, permutation_test


@st.composite
def strata(draw: st.DrawFn) -> Stratum:
    first, second = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    return Stratum(draw(st.integers(0, first)), first, draw(st.integers(0, second)), second)


def by_hand(stratum: Stratum) -> Counter[int]:
    """Passes of the second model, over every choice of which trials are its."""
    trials = [1] * stratum.passes + [0] * (stratum.first_n + stratum.second_n - stratum.passes)
    return Counter(
        sum(trials[place] for place in chosen) for chosen in combinations(range(len(trials)), stratum.second_n)
    )


@given(st.lists(strata(), min_size=1, max_size=3))
def test_every_way_to_hand_labels_out_is_as_likely(given_strata: list[Stratum]) -> None:
    sums: Counter[int] = Counter()
    for parts in product(*(by_hand(stratum).items() for stratum in given_strata)):
        ways = 1
        for _, count in parts:
            ways *= count
        sums[sum(passes for passes, _ in parts)] += ways
    total, seen = sum(sums.values()), sum(stratum.second_passes for stratum in given_strata)
    less = sum(ways for passes, ways in sums.items() if passes <= seen) / total
    greater = sum(ways for passes, ways in sums.items() if passes >= seen) / total
    fewest = sum(stratum.fewest for stratum in given_strata)

    assert permutation_test(given_strata, "less") == pytest.approx(less)
    assert permutation_test(given_strata, "greater") == pytest.approx(greater)
    assert permutation_test(given_strata) == pytest.approx(min(1, 2 * min(less, greater)))
    assert [float(chance) for chance in null_distribution(given_strata)] == pytest.approx(
        [sums[fewest + place] / total for place in range(len(null_distribution(given_strata)))]
    )


@pytest.mark.parametrize(
    ("lost", "won", "chance"),
    [
        *((1, 8, 0.0390625), (5, 15, 0.04138947), (6, 0, 0.03125), (5, 0, 0.0625), (10, 2, 0.03857422)),
        *((25, 40, 0.08168153), (0, 0, 1.0)),
    ],
)
def test_with_one_trial_each_it_is_mcnemars_exact_test(lost: int, won: int, chance: float) -> None:
    pairs = [Stratum(1, 1, 0, 1)] * lost + [Stratum(0, 1, 1, 1)] * won + [Stratum(1, 1, 1, 1)] * 7
    assert permutation_test(pairs) == pytest.approx(chance, abs=1e-8)


@pytest.mark.parametrize(("passes", "n", "chance"), [(7, 10, 0.21052632), (16, 20, 0.10602911), (15, 20, 0.04712405)])
def test_with_one_scenario_it_is_fishers_exact_test(passes: int, n: int, chance: float) -> None:
    assert permutation_test([Stratum(n, n, passes, n)]) == pytest.approx(chance, abs=5.1e-9)


@given(st.lists(strata(), min_size=1, max_size=6))
def test_models_that_change_places_differ_as_much_the_other_way(some: list[Stratum]) -> None:
    turned = [Stratum(one.second_passes, one.second_n, one.first_passes, one.first_n) for one in some]
    assert permutation_test(some, "less") == pytest.approx(permutation_test(turned, "greater"))
    one, other = difference(some), difference(turned)
    if one is None or other is None:
        assert one is other
    else:
        assert (one.effect, one.low, one.high) == pytest.approx((-other.effect, -other.high, -other.low))
        assert one.low <= one.effect + 1e-12
        assert one.effect <= one.high + 1e-12


@pytest.mark.parametrize("stratum", [Stratum(2, 2, 3, 3), Stratum(0, 2, 0, 1), Stratum(1, 2, 0, 0)])
def test_where_exchanging_labels_changes_nothing_there_is_no_evidence(stratum: Stratum) -> None:
    assert permutation_test([stratum]) == 1.0


@pytest.mark.parametrize("counts", [(3, 2, 0, 0), (0, 0, -1, 2), (0, 0, 1, 0)])
def test_what_is_no_rate_is_refused(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="there is no such rate"):
        Stratum(*counts)
