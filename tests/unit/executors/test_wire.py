import contextlib
import os
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ControlPlaneError, MachineError
from harness.executors._wire import completed, read_answer
from harness.schema.process import Completed

FINE = {"id": 1, "status": 0, "timed_out": False, "out": 2, "err": 1, "out_seen": 2, "err_seen": 1, "note": {}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 70_000) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["problem", "x"]), inner, max_size=2),
    max_leaves=4,
)


def test_answer_is_what_a_process_did() -> None:
    assert completed((dict(FINE), b"abc")) == Completed(
        exit_code=0, stdout=b"ab", stderr=b"c", stdout_seen=2, stderr_seen=1
    )
    killed = completed(({**FINE, "status": int(signal.SIGKILL)}, b"abc"))
    assert (killed.exit_code, killed.signal) == (None, signal.SIGKILL)


@given(change=st.dictionaries(st.sampled_from(sorted(FINE)), JSON), body=st.binary(max_size=4))
def test_any_header_is_an_answer_or_one_clear_line(change: dict[str, object], body: bytes) -> None:
    try:
        told = f"{completed(({**FINE, **change}, body)).exit_code}"
    except (ControlPlaneError, MachineError) as error:
        told = str(error)
    assert "\n" not in told


@pytest.mark.parametrize("missing", sorted(set(FINE) - {"id", "note", "status"}))
def test_header_that_lacks_a_part_is_no_answer(missing: str) -> None:
    with pytest.raises(ControlPlaneError, match="something that is no answer"):
        completed(({name: value for name, value in FINE.items() if name != missing}, b"abc"))


@pytest.mark.parametrize(
    "problem", [["start"], ["say words of its own", "2"], ["start", "a\nb"], ["start", 2], 7, [], "x"]
)
def test_words_of_a_server_are_never_passed_on(problem: object) -> None:
    with pytest.raises(ControlPlaneError, match="something that is no answer"):
        completed(({"problem": problem}, b""))


def test_lengths_that_are_not_the_bodys_are_no_answer() -> None:
    with pytest.raises(ControlPlaneError, match="something that is no answer"):
        completed((dict(FINE), b"abcd"))


@pytest.mark.parametrize(("number", "kind"), [(2, ControlPlaneError), (24, MachineError), (28, MachineError)])
def test_problem_is_the_machines_where_the_system_says_so(number: int, kind: type[Exception]) -> None:
    told: dict[str, object] = {"problem": ["start", str(number)]}
    headers: list[dict[str, object]] = [told, {"note": told}]
    for header in headers:
        with pytest.raises(kind, match=rf"^the command could not start: {os.strerror(number)}$") as caught:
            completed((header, b""))
        assert type(caught.value) is kind


@given(st.binary(max_size=40))
def test_header_is_read_or_refused_as_a_value_error(head: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(read_answer(head, b"")[0], dict)
