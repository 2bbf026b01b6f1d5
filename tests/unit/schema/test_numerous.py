"""Values of which a run holds very many are small, and else like any other."""

from __future__ import annotations

import copy
import pickle

from harness.schema.run import PlannedEpisode

ONE = PlannedEpisode(scenario="a/b", actor="script", plane="toy==1", trial=1)


def test_which_fields_were_given_is_remembered_once_for_all() -> None:
    other = PlannedEpisode(scenario="a/c", actor="script", plane="toy==1", trial=2, provenance=None)
    assert ONE.model_fields_set is other.model_fields_set
    assert ONE.model_fields_set == set(PlannedEpisode.model_fields)


def test_it_is_copied_pickled_and_compared_as_ever() -> None:
    changed = ONE.model_copy(update={"trial": 3})
    assert changed != ONE
    assert changed.trial == 3
    assert pickle.loads(pickle.dumps(ONE)) == ONE == copy.deepcopy(ONE)  # noqa: S301  (our own)
    assert PlannedEpisode.model_validate_json(ONE.model_dump_json()) == ONE
    assert ONE.model_fields_set == set(PlannedEpisode.model_fields)
