import re

import pytest

from harness.errors import ProvisionError
from harness.provision import KNOWN, parse_ref


@pytest.mark.parametrize(
    ("ref", "parsed"),
    [
        ("loopx==0.4.8", ("loopx", "0.4.8")),
        (" LoopX==1.0.5rc1 ", ("loopx", "1.0.5rc1")),
        ("loopx==1.0+local.1", ("loopx", "1.0+local.1")),
    ],
)
def test_reference_is_name_and_version(ref: str, parsed: tuple[str, str]) -> None:
    assert parse_ref(ref) == parsed


@pytest.mark.parametrize(
    "ref", ["", "loopx", "loopx==", "loopx>=0.4", "loopx==../0.4", "loopx==1/2", "loopx==..", "a b==1", "==1"]
)
def test_another_form_is_refused_with_an_example(ref: str) -> None:
    with pytest.raises(ProvisionError, match=r"write NAME==VERSION, for example loopx==0.4.8"):
        parse_ref(ref)


def test_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(ProvisionError, match=r"unknown control plane 'other'; there are: loopx"):
        parse_ref("other==1")


def test_every_pin_is_a_sha256() -> None:
    assert all(re.fullmatch("[0-9a-f]{64}", pin) for versions in KNOWN.values() for pin in versions.values())
