"""The task registry: its rules against a plain model, its file, and what it answers when it cannot."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from jsonschema import Draft202012Validator

from harness import catalog
from harness.controlplanes.registry import IDENTITY, OPERATIONS, RegistryPlane, open_plane
from harness.errors import ControlPlaneError, MachineError
from harness.ports import OperationPlane
from harness.schema.base import JsonValue
from harness.workspace import Fingerprinter

IDS = ("a", "b", "c")
AGENTS = ("north", "south")


def said(plane: RegistryPlane, operation: str, **arguments: JsonValue) -> dict[str, JsonValue]:
    """What it answers."""
    return plane.call(operation, arguments, timeout_s=0.05).document


def task(plane: RegistryPlane, operation: str, **arguments: JsonValue) -> dict[str, JsonValue]:
    """The task that an operation which is done answers with."""
    document = said(plane, operation, **arguments)
    assert document["ok"] is True, document
    return cast("dict[str, JsonValue]", document["task"])


def refused(plane: RegistryPlane, operation: str, **arguments: JsonValue) -> str:
    """The code of a refusal, which changes nothing."""
    before = plane.snapshot()
    answer = plane.call(operation, arguments, timeout_s=0.05)
    assert plane.snapshot() == before
    assert answer.error is not None, answer
    error = cast("dict[str, JsonValue]", answer.document["error"])
    assert (answer.document["ok"], error["code"]) == (False, answer.error)
    return answer.error


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[RegistryPlane]:
    opened = open_plane(tmp_path)
    task(opened, "create", id="a", title="First")
    task(opened, "create", id="b", title="Second", depends_on=["a"])
    yield opened
    opened.close()


def test_a_task_goes_from_open_to_done_with_a_version_for_each_change(plane: RegistryPlane) -> None:
    claimed = task(plane, "claim", id="a", agent="north", version=1)
    assert (claimed["status"], claimed["owner"], claimed["version"]) == ("in_progress", "north", 2)
    assert task(plane, "update", id="a", agent="north", version=2, title="Better")["title"] == "Better"
    assert task(plane, "comment", id="a", agent="south", text="Nice.")["version"] == 4
    done = task(plane, "complete", id="a", agent="north", version=4, result="ok")
    assert (done["status"], done["result"], done["comments"]) == ("done", "ok", [{"agent": "south", "text": "Nice."}])
    assert task(plane, "get", id="b")["waits_for"] == []


def test_a_change_of_what_was_changed_meanwhile_is_recoverable_and_not_done(plane: RegistryPlane) -> None:
    task(plane, "comment", id="a", agent="south", text="Look.")
    assert refused(plane, "claim", id="a", agent="north", version=1) == "stale_version"
    error = cast("dict[str, JsonValue]", said(plane, "claim", id="a", agent="north", version=1)["error"])
    assert error["recoverable"] is True
    assert task(plane, "claim", id="a", agent="north", version=2)["owner"] == "north"


def test_what_waits_for_another_task_can_be_neither_claimed_nor_finished(plane: RegistryPlane) -> None:
    assert refused(plane, "claim", id="b", agent="north", version=1) == "dependency_open"
    task(plane, "create", id="c", title="Third")
    task(plane, "claim", id="c", agent="north", version=1)
    task(plane, "update", id="c", agent="north", version=2, depends_on=["a"])
    assert refused(plane, "complete", id="c", agent="north", version=3, result="ok") == "dependency_open"


def test_another_agents_task_is_only_taken_by_force(plane: RegistryPlane) -> None:
    task(plane, "claim", id="a", agent="south", version=1)
    assert refused(plane, "claim", id="a", agent="north", version=2) == "foreign_owner"
    assert refused(plane, "update", id="a", agent="north", version=2, title="Mine") == "foreign_owner"
    assert refused(plane, "complete", id="a", agent="north", version=2, result="ok") == "foreign_owner"
    assert task(plane, "claim", id="a", agent="north", version=2, force=True)["owner"] == "north"


def test_done_is_final(plane: RegistryPlane) -> None:
    task(plane, "claim", id="a", agent="north", version=1)
    task(plane, "complete", id="a", agent="north", version=2, result="ok")
    for operation, more in (("claim", {}), ("update", {"title": "No"}), ("complete", {"result": "twice"})):
        assert refused(plane, operation, id="a", agent="north", version=3, **more) == "already_done"


def test_a_task_is_claimed_before_it_is_started_or_finished_and_once(plane: RegistryPlane) -> None:
    assert refused(plane, "complete", id="a", agent="north", version=1, result="ok") == "not_claimed"
    assert refused(plane, "update", id="a", agent="north", version=1, status="in_progress") == "not_claimed"
    task(plane, "claim", id="a", agent="north", version=1)
    assert refused(plane, "claim", id="a", agent="north", version=2) == "already_claimed"
    assert task(plane, "update", id="a", agent="north", version=2, status="open")["owner"] is None


def test_tasks_that_do_not_exist_are_unknown_wherever_they_are_named(plane: RegistryPlane) -> None:
    assert refused(plane, "get", id="x") == "unknown_task"
    assert refused(plane, "claim", id="x", agent="north", version=1) == "unknown_task"
    assert refused(plane, "create", id="c", title="Third", depends_on=["x"]) == "unknown_task"
    assert refused(plane, "create", id="a", title="Again") == "duplicate_task"


def test_no_task_waits_for_itself(plane: RegistryPlane) -> None:
    assert refused(plane, "create", id="c", title="Third", depends_on=["c"]) in {"dependency_cycle", "unknown_task"}
    assert refused(plane, "update", id="a", agent="north", version=1, depends_on=["b"]) == "dependency_cycle"


def test_a_watcher_comments_after_the_answer_so_that_it_is_old_at_once(plane: RegistryPlane) -> None:
    task(plane, "watch", id="a", agent="build", after="claim", text="Seen.")
    assert task(plane, "claim", id="a", agent="north", version=1)["version"] == 2
    assert refused(plane, "complete", id="a", agent="north", version=2, result="ok") == "stale_version"
    now = task(plane, "get", id="a")
    assert (now["version"], now["comments"]) == (3, [{"agent": "build", "text": "Seen."}])


def test_lists_are_narrowed_by_status_and_owner(plane: RegistryPlane) -> None:
    task(plane, "claim", id="a", agent="north", version=1)
    for wanted, ids in (({"status": "open"}, ["b"]), ({"owner": "north"}, ["a"]), ({}, ["a", "b"])):
        rows = cast("list[dict[str, JsonValue]]", said(plane, "list", **cast("dict[str, JsonValue]", wanted))["tasks"])
        assert [row["id"] for row in rows] == ids


@pytest.mark.parametrize(
    ("operation", "arguments", "code"),
    [
        ("get", {}, "invalid_arguments"),
        ("get", {"id": "No Name"}, "invalid_arguments"),
        ("get", {"id": "a", "more": 1}, "invalid_arguments"),
        ("claim", {"id": "a", "agent": "north", "version": 0}, "invalid_arguments"),
        ("claim", {"id": "a", "agent": "north", "version": 2**60}, "invalid_arguments"),
        ("comment", {"id": "a", "agent": "north", "text": "\ud800"}, "invalid_arguments"),
        ("drop", {}, "unknown_operation"),
    ],
)
def test_what_fits_no_operation_changes_nothing(
    plane: RegistryPlane, operation: str, arguments: dict[str, JsonValue], code: str
) -> None:
    assert refused(plane, operation, **arguments) == code


def test_a_registry_that_somebody_else_holds_is_locked_and_recoverable(plane: RegistryPlane) -> None:
    with closing(sqlite3.connect(plane.store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        answer = plane.call("get", {"id": "a"}, timeout_s=0.01)
        assert answer.error == "registry_locked"
        assert cast("dict[str, JsonValue]", answer.document["error"])["recoverable"] is True
        with pytest.raises(ControlPlaneError, match="cannot be read"):
            plane.snapshot()
        other.execute("ROLLBACK")
    assert task(plane, "get", id="a")["version"] == 1


def test_a_file_that_is_no_registry_is_a_broken_control_plane(tmp_path: Path) -> None:
    (tmp_path / "registry.sqlite").write_text("not a database, by far\n" * 50)
    with pytest.raises(ControlPlaneError, match="the registry cannot be used"):
        open_plane(tmp_path)


def test_a_registry_that_is_damaged_later_answers_nothing(plane: RegistryPlane) -> None:
    plane.store.write_bytes(b"x" * 8192)
    with pytest.raises(ControlPlaneError, match="the registry cannot be used"):
        plane.call("get", {"id": "a"}, timeout_s=1.0)


def test_a_registry_that_is_locked_when_it_is_opened_cannot_be_opened(plane: RegistryPlane, tmp_path: Path) -> None:
    with closing(sqlite3.connect(plane.store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ControlPlaneError, match="cannot be opened: somebody else is writing"):
            open_plane(tmp_path)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR | 3 << 8])
def test_a_full_disc_is_the_machines_fault(plane: RegistryPlane, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def full(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = code
        raise error

    monkeypatch.setattr(sqlite3, "connect", full)
    with pytest.raises(MachineError, match="the registry cannot be written: database or disk is full"):
        plane.call("get", {"id": "a"}, timeout_s=1.0)


def test_a_folder_that_is_gone_is_the_machines_fault(plane: RegistryPlane, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="unable to open"):
        open_plane(tmp_path / "gone")


def test_a_closed_registry_does_nothing(plane: RegistryPlane) -> None:
    plane.close()
    plane.close()
    with pytest.raises(ControlPlaneError, match="closed"):
        plane.call("get", {"id": "a"}, timeout_s=1.0)


def test_scenarios_call_it_with_arguments_in_json(plane: RegistryPlane) -> None:
    done = plane.invoke(["get", '{"id": "a"}'], timeout_s=1.0, output_bytes=10_000)
    assert (done.exit_code, json.loads(done.stdout)["task"]["id"], done.stderr) == (0, "a", b"")
    wrong = plane.invoke(["get", '{"id": "x"}'], timeout_s=1.0, output_bytes=3)
    assert (wrong.exit_code, wrong.stderr, wrong.stderr_seen) == (1, b"unk", len("unknown_task\n"))
    assert len(wrong.stdout) == 3 < wrong.stdout_seen
    for args in (["get", "{"], ["get", "[]"], ["get", "{}", "{}"]):
        assert plane.invoke(args, timeout_s=1.0, output_bytes=99).stderr == b"invalid_arguments\n"
    assert plane.invoke([], timeout_s=1.0, output_bytes=99).stderr == b"unknown_operation\n"


def test_of_agents_that_claim_at_once_one_wins_and_the_others_are_told(plane: RegistryPlane) -> None:
    def claims(number: int) -> str | None:
        arguments: dict[str, JsonValue] = {"id": "a", "agent": f"agent-{number}", "version": 1}
        return plane.call("claim", arguments, timeout_s=1.0).error

    with ThreadPoolExecutor(4) as pool:
        errors = list(pool.map(claims, range(4)))
    assert sorted(error or "" for error in errors) == ["", *["stale_version"] * 3]


def test_nothing_lies_beside_its_file(plane: RegistryPlane) -> None:
    said(plane, "claim", id="a", agent="north", version=1)
    assert [path.name for path in plane.store.parent.iterdir()] == ["registry.sqlite"]


def test_its_fingerprint_is_what_it_holds_and_not_how_it_is_stored(plane: RegistryPlane, tmp_path: Path) -> None:
    seen = Fingerprinter(meanings={plane.store: plane.snapshot})
    before, stored = seen.take(tmp_path), plane.store.read_bytes()
    with closing(sqlite3.connect(plane.store)) as connection:
        connection.execute("PRAGMA user_version = 7")
        connection.execute("VACUUM")
    assert plane.store.read_bytes() != stored
    assert seen.take(tmp_path) == before
    task(plane, "comment", id="a", agent="north", text="New.")
    assert seen.take(tmp_path) != before


def test_it_is_a_plane_whose_operations_are_tools_and_knows_its_own_version(plane: RegistryPlane) -> None:
    assert isinstance(plane, OperationPlane)
    assert not hasattr(catalog.module("controlplanes", "loopx"), "OPERATIONS")
    assert (plane.identity, IDENTITY.ref, plane.confined_to_fixture) == (IDENTITY, "registry", True)
    assert IDENTITY.version.startswith("1+")
    for spec in OPERATIONS.values():
        Draft202012Validator.check_schema(spec.parameters)


WRITES: dict[str, dict[str, JsonValue]] = {
    "create": {"id": "c", "title": "Third"},
    "claim": {"id": "a", "agent": "north", "version": 1},
    "update": {"id": "a", "agent": "north", "version": 1, "title": "New"},
    "comment": {"id": "a", "agent": "north", "text": "Here."},
    "watch": {"id": "a", "after": "claim", "agent": "north", "text": "Seen."},
}


@pytest.mark.parametrize("operation", WRITES)
def test_the_same_key_has_one_effect_and_one_answer(plane: RegistryPlane, operation: str) -> None:
    assert operation in plane.idempotent
    first = plane.call(operation, WRITES[operation], timeout_s=1.0, key="k")
    after = plane.snapshot()
    again = open_plane(plane.store.parent).call(operation, WRITES[operation], timeout_s=1.0, key="k")
    assert (first.error, again, plane.snapshot()) == (None, first, after)
    assert plane.call(operation, WRITES[operation], timeout_s=1.0, key="other") != first or plane.snapshot() != after


def test_a_key_is_for_one_request_and_a_refusal_is_not_remembered(plane: RegistryPlane) -> None:
    early = plane.call("comment", {**WRITES["comment"], "id": "c"}, timeout_s=1.0, key="k")
    assert early.error == "unknown_task"
    task(plane, "create", **WRITES["create"])
    late = plane.call("comment", {**WRITES["comment"], "id": "c"}, timeout_s=1.0, key="k")
    assert late.error is None
    before = plane.snapshot()
    assert plane.call("comment", WRITES["comment"], timeout_s=1.0, key="k").error == "key_reused"
    assert plane.snapshot() == before


def test_what_is_only_read_is_read_anew_with_any_key(plane: RegistryPlane) -> None:
    before = plane.call("get", {"id": "a"}, timeout_s=1.0, key="k")
    stored = plane.snapshot()
    assert plane.call("list", {}, timeout_s=1.0, key="k").error is None
    assert plane.snapshot() == stored
    task(plane, "comment", **WRITES["comment"])
    assert plane.call("get", {"id": "a"}, timeout_s=1.0, key="k") != before


def test_its_log_tells_every_call_and_what_it_refused_and_one_made_again_once(plane: RegistryPlane) -> None:
    before = len(plane.received())
    for key in ("k", "k", "other"):
        plane.call("comment", WRITES["comment"], timeout_s=1.0, key=key)
    plane.call("claim", {**WRITES["claim"], "version": 9}, timeout_s=1.0)
    plane.call("get", {"id": "a", "odd": 1}, timeout_s=1.0)
    told = [(one.operation, one.arguments, one.error) for one in plane.received()[before:]]
    assert told == [
        ("comment", WRITES["comment"], None),
        ("comment", WRITES["comment"], None),
        ("claim", {**WRITES["claim"], "version": 9}, "stale_version"),
        ("get", {"id": "a", "odd": 1}, "invalid_arguments"),
    ]


def test_a_call_made_again_is_in_the_log_with_what_it_came_to_at_last(plane: RegistryPlane) -> None:
    asked = {**WRITES["comment"], "id": "c"}
    assert plane.call("comment", asked, timeout_s=1.0, key="k").error == "unknown_task"
    task(plane, "create", **WRITES["create"])
    assert plane.call("comment", asked, timeout_s=1.0, key="k").error is None
    assert [one.error for one in plane.received() if one.operation == "comment"] == [None]


class Against(RuleBasedStateMachine):
    """Every operation in any order, beside a dict that keeps the same rules."""

    @initialize()
    def opened(self) -> None:
        """An empty registry."""
        self.folder = TemporaryDirectory()
        self.plane = open_plane(Path(self.folder.name))
        self.tasks: dict[str, dict[str, JsonValue]] = {}
        self.needs: dict[str, set[str]] = {}

    def teardown(self) -> None:
        """No folder stays."""
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def waits(self, name: str) -> bool:
        """Whether something it depends on is not done."""
        return any(self.tasks[other]["status"] != "done" for other in self.needs[name])

    def expect(self, operation: str, code: str | None, arguments: dict[str, JsonValue]) -> None:
        """The answer has this code."""
        assert self.plane.call(operation, arguments, timeout_s=1.0).error == code

    def common(self, name: str, version: int) -> str | None:
        """Why a change is refused whoever asks for it."""
        if name not in self.tasks:
            return "unknown_task"
        if self.tasks[name]["version"] != version:
            return "stale_version"
        return "already_done" if self.tasks[name]["status"] == "done" else None

    def changed(self, name: str, **values: JsonValue) -> None:
        """The model's row after a change."""
        row = self.tasks[name]
        self.tasks[name] = {**row, **values, "version": cast("int", row["version"]) + 1}

    @rule(name=st.sampled_from(IDS), needed=st.sets(st.sampled_from(IDS), max_size=2))
    def create(self, name: str, needed: set[str]) -> None:
        """Add one, after what exists."""
        code = None
        if name in self.tasks:
            code = "duplicate_task"
        elif not needed - {name} <= self.tasks.keys():
            code = "unknown_task"
        elif name in needed:
            code = "dependency_cycle"
        if code is None:
            self.tasks[name] = {"status": "open", "owner": None, "version": 1, "result": None}
            self.needs[name] = needed
        self.expect("create", code, {"id": name, "title": "T", "depends_on": list(needed)})

    @rule(name=st.sampled_from(IDS), agent=st.sampled_from(AGENTS), version=st.integers(1, 6), force=st.booleans())
    def claim(self, name: str, agent: str, version: int, *, force: bool) -> None:
        """Take one."""
        code = self.common(name, version)
        if code is None:
            owner = self.tasks[name]["owner"]
            if owner == agent:
                code = "already_claimed"
            elif owner is not None and not force:
                code = "foreign_owner"
            elif self.waits(name):
                code = "dependency_open"
            else:
                self.changed(name, owner=agent, status="in_progress")
        self.expect("claim", code, {"id": name, "agent": agent, "version": version, "force": force})

    @rule(
        name=st.sampled_from(IDS),
        agent=st.sampled_from(AGENTS),
        version=st.integers(1, 6),
        status=st.sampled_from(["open", "in_progress", "blocked"]),
    )
    def update(self, name: str, agent: str, version: int, status: str) -> None:
        """Give back, block, go on."""
        code = self.common(name, version)
        if code is None:
            owner = self.tasks[name]["owner"]
            if owner not in {None, agent}:
                code = "foreign_owner"
            elif status == "in_progress" and owner is None:
                code = "not_claimed"
            else:
                self.changed(name, status=status, owner=None if status == "open" else owner)
        self.expect("update", code, {"id": name, "agent": agent, "version": version, "status": status})

    @rule(name=st.sampled_from(IDS), agent=st.sampled_from(AGENTS), version=st.integers(1, 6))
    def complete(self, name: str, agent: str, version: int) -> None:
        """Finish one."""
        code = self.common(name, version)
        if code is None:
            owner = self.tasks[name]["owner"]
            if owner is None:
                code = "not_claimed"
            elif owner != agent:
                code = "foreign_owner"
            elif self.waits(name):
                code = "dependency_open"
            else:
                self.changed(name, status="done", result="ok")
        self.expect("complete", code, {"id": name, "agent": agent, "version": version, "result": "ok"})

    @rule(name=st.sampled_from(IDS))
    def comment(self, name: str) -> None:
        """Anybody may."""
        code = None if name in self.tasks else "unknown_task"
        if code is None:
            self.changed(name)
        self.expect("comment", code, {"id": name, "agent": "north", "text": "Hm."})

    @invariant()
    def holds_the_same(self) -> None:
        """What it tells of itself is the model."""
        if not hasattr(self, "plane"):
            return
        told = cast("dict[str, dict[str, JsonValue]]", self.plane.snapshot()["tasks"])
        assert {name: {key: row[key] for key in self.tasks[name]} for name, row in told.items()} == self.tasks
        assert {name: set(cast("list[str]", row["depends_on"])) for name, row in told.items()} == self.needs


TestAgainstAModel = Against.TestCase
TestAgainstAModel.settings = settings(max_examples=25, stateful_step_count=20)


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_is_not_followed_out_of_the_workspace(tmp_path: Path, linked: str) -> None:
    folder, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    registry = open_plane(folder)
    (folder / "registry.sqlite").unlink()
    if linked == "file":
        (folder / "registry.sqlite").symlink_to(elsewhere / "registry.sqlite")
    else:
        folder.rmdir()
        folder.symlink_to(elsewhere)
    with pytest.raises(ControlPlaneError, match="has become a link"):
        registry.snapshot()
    assert list(elsewhere.iterdir()) == []
