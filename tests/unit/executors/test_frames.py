import os

from hypothesis import given
from hypothesis import strategies as st

from harness.executors._frames import frame, split, write_all

HEADERS = st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(), st.lists(st.text())), max_size=4)


@given(st.lists(st.tuples(HEADERS, st.binary(max_size=200)), max_size=5), st.integers(1, 50))
def test_frames_come_out_as_they_went_in_however_they_are_cut(
    frames: list[tuple[dict[str, int | str | list[str]], bytes]], step: int
) -> None:
    import json

    sent = b"".join(frame({**header}, body) for header, body in frames)
    buffer, got = bytearray(), []
    for start in range(0, len(sent), step):
        buffer += sent[start : start + step]
        while (taken := split(buffer)) is not None:
            got.append((json.loads(taken[0]), taken[1]))
    assert got == frames
    assert not buffer


def test_everything_is_written_to_a_pipe_that_takes_little_at_a_time() -> None:
    from threading import Thread

    reader, writer = os.pipe()
    data = bytes(range(256)) * 4096

    def send() -> None:
        write_all(writer, data)
        os.close(writer)

    thread = Thread(target=send)
    thread.start()
    with os.fdopen(reader, "rb") as source:
        assert source.read() == data
    thread.join()
