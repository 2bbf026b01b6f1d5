import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.executors import _timeshift

SHOW = """
import datetime, time, sys, pickle, copy
now = datetime.datetime.now(datetime.timezone.utc)
assert time.time() == 1577934245.5 and time.time_ns() == 1577934245500000000
assert now.isoformat() == "2020-01-02T03:04:05.500000+00:00", now
assert datetime.datetime.utcnow().isoformat() == "2020-01-02T03:04:05.500000"
assert datetime.datetime.today() == datetime.datetime.now() == datetime.datetime(2020, 1, 2, 3, 4, 5, 500000)
assert datetime.date.today() == datetime.date(2020, 1, 2)
assert time.gmtime()[:6] == time.localtime()[:6] == (2020, 1, 2, 3, 4, 5)
assert time.gmtime(0)[0] == 1970 and time.localtime(86400 * 366)[0] == 1971
assert time.strftime("%Y-%m-%d") == "2020-01-02" and time.strftime("%Y", time.gmtime(0)) == "1970"
assert time.ctime() == time.asctime() == "Thu Jan  2 03:04:05 2020" and time.ctime(0)[-4:] == "1970"
assert time.asctime(time.gmtime(0))[-4:] == "1970"
assert time.clock_gettime(time.CLOCK_REALTIME) == 1577934245.5
assert time.clock_gettime_ns(time.CLOCK_REALTIME) == 1577934245500000000
assert time.clock_gettime(time.CLOCK_MONOTONIC) <= time.monotonic()
assert time.clock_gettime_ns(time.CLOCK_MONOTONIC) <= time.monotonic_ns()
made = datetime.datetime.fromisoformat("2020-01-01T00:00:00+00:00")
assert isinstance(made, datetime.datetime) and isinstance(now - made, datetime.timedelta)
assert isinstance(now, datetime.date) and not isinstance(3, datetime.datetime)
assert pickle.loads(pickle.dumps(now)) == copy.copy(now) == now
assert repr(made).startswith("datetime.datetime(2020"), repr(made)
assert repr(datetime.date.today()) == "datetime.date(2020, 1, 2)"
print(sys.argv[1:], sys.path[0])
"""


@pytest.mark.parametrize("safe", [False, True])
def test_every_wall_clock_of_the_module_stands_still(tmp_path: Path, *, safe: bool) -> None:
    (tmp_path / "shows.py").write_text(SHOW)
    script = str(Path(_timeshift.__file__))
    argv = [sys.executable, script, "2020-01-02T03:04:05.5+00:00", "shows", "a", "-m"]
    extra = {"PYTHONSAFEPATH": "1", "PYTHONPATH": str(tmp_path)} if safe else {}
    env = {**os.environ, "TZ": "UTC", **extra}
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    expected = str(tmp_path)
    assert done.stdout == f"['a', '-m'] {expected}\n"
