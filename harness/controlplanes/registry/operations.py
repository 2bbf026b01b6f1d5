"""What may be done to a task, and when: the rules of the registry, inside one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, cast

from harness.controlplanes.registry.refusal import Refusal
from harness.controlplanes.registry.store import Rows, Task
from harness.controlplanes.registry.tools import READING, STATUSES, WATCHED
from harness.schema.base import JsonValue, canonical_json

__all__ = ["perform", "perform_once", "state"]

_Arguments = Mapping[str, JsonValue]
_DONE: Final = STATUSES[-1]


def perform(rows: Rows, operation: str, arguments: _Arguments) -> dict[str, JsonValue]:
    """The answer to one operation whose arguments fit its schema. Raises Refusal where a rule forbids it.

    Watchers speak after it: the answer shows the task as the operation left it.
    """
    answer = _OPERATIONS[operation](rows, arguments)
    if operation in WATCHED:
        for after, agent, text in rows.watchers(_text(arguments, "id")):
            if after == operation:
                _comment(rows, {"id": arguments["id"], "agent": agent, "text": text})
    return {"ok": True, **answer}


def perform_once(rows: Rows, key: str, operation: str, arguments: _Arguments) -> dict[str, JsonValue]:
    """The same, once for a key: whoever asks again with it gets the answer of that time, and nothing is done.

    A refusal did nothing, so it is not remembered. Raises Refusal, for a key that something else was asked with too.
    """
    if operation in READING:
        return perform(rows, operation, arguments)
    asked = canonical_json([operation, dict(arguments)])
    before = rows.answered(key)
    if before is None:
        answer = perform(rows, operation, arguments)
        rows.add_answered(key, asked, canonical_json(answer))
        return answer
    if before[0] != asked:
        raise Refusal("key_reused", "something else was asked with this key")
    return cast("dict[str, JsonValue]", json.loads(before[1]))


def state(rows: Rows) -> dict[str, JsonValue]:
    """All that the registry holds: every task by its id, ids by status, who watches what."""
    tasks = rows.tasks()
    watched: dict[str, JsonValue] = {task.id: list(map(list, rows.watchers(task.id))) for task in tasks}
    return {
        "tasks": {task.id: _whole(rows, task) for task in tasks},
        "by_status": {status: [task.id for task in tasks if task.status == status] for status in STATUSES},
        "watchers": {name: those for name, those in watched.items() if those},
    }


def _list(rows: Rows, arguments: _Arguments) -> dict[str, JsonValue]:
    wanted = {name: arguments[name] for name in ("status", "owner") if name in arguments}
    found: list[JsonValue] = [
        _brief(task) for task in rows.tasks() if all(getattr(task, name) == value for name, value in wanted.items())
    ]
    return {"tasks": found}


def _get(rows: Rows, arguments: _Arguments) -> dict[str, JsonValue]:
    return {"task": _whole(rows, _known(rows, _text(arguments, "id")))}


def _create(rows: Rows, arguments: _Arguments) -> dict[str, JsonValue]:
    name = _text(arguments, "id")
    if rows.task(name) is not None:
        raise Refusal("duplicate_task", f"there is a task {name} already")
    task = Task(id=name, title=_text(arguments, "title"), status="open", owner=None, version=1, result=None)
    rows.put(task)
    _depend(rows, name, arguments)
    return {"task": _whole(rows, task)}


def _claim(rows: Rows, arguments: _Arguments) -> dict[str, JsonValue]:
    task, agent = _current(rows, arguments), _text(arguments, "agent")
    if task.owner == agent:
        raise Refusal("already_claimed", "you own it already")
    if arguments.get("force") is not True:
        _free(task, agent)
    _ready(rows, task)
    return _changed(rows, replace(task, owner=agent, status="in_progress"))


def _update(rows: Rows, arguments: _Arguments) -> dict[str, JsonValue]:
    task, agent = _current(rows, arguments), _text(arguments, "agent")
    _free(task, agent)
    status = str(arguments.get("status", task.status))
    if status == "in_progress" and task.owner is None:
        raise Refusal("not_claimed", "claim it to start it")
    _depend(rows, task.id, arguments)
    owner = None if status == "open" else task.owner
    return _changed(rows, replace(task, title=str(arguments.get("title", task.title)), status=status, owner=owner))


def _complete(rows: Rows, arguments: _Arguments) -> dict[str, JsonValue]:
    task, agent = _current(rows, arguments), _text(arguments, "agent")
    _free(task, agent)
    if task.owner is None:
        raise Refusal("not_claimed", "claim it first")
    _ready(rows, task)
    return _changed(rows, replace(task, status=_DONE, result=_text(arguments, "result")))


def _comment(rows: Rows, arguments: _Arguments) -> dict[str, JsonValue]:
    task = _known(rows, _text(arguments, "id"))
    rows.add_comment(task.id, _text(arguments, "agent"), _text(arguments, "text"))
    return _changed(rows, task)


def _watch(rows: Rows, arguments: _Arguments) -> dict[str, JsonValue]:
    task = _known(rows, _text(arguments, "id"))
    rows.add_watcher(task.id, *(_text(arguments, name) for name in ("after", "agent", "text")))
    return {"task": _whole(rows, task)}


_OPERATIONS: Final[dict[str, Callable[[Rows, _Arguments], dict[str, JsonValue]]]] = {
    "list": _list,
    "get": _get,
    "create": _create,
    "claim": _claim,
    "update": _update,
    "complete": _complete,
    "comment": _comment,
    "watch": _watch,
}


def _text(arguments: _Arguments, name: str) -> str:
    return cast("str", arguments[name])


def _known(rows: Rows, name: str) -> Task:
    task = rows.task(name)
    if task is None:
        raise Refusal("unknown_task", f"there is no task {name}")
    return task


def _current(rows: Rows, arguments: _Arguments) -> Task:
    """The task that a change is for: as it was read, and not over."""
    task = _known(rows, _text(arguments, "id"))
    if task.version != arguments["version"]:
        raise Refusal("stale_version", "the task was changed since you read it; read it again")
    if task.status == _DONE:
        raise Refusal("already_done", "the task is done; that is final")
    return task


def _free(task: Task, agent: str) -> None:
    if task.owner not in {None, agent}:
        raise Refusal("foreign_owner", f"{task.owner} owns it")


def _ready(rows: Rows, task: Task) -> None:
    waiting = _open_needs(rows, task.id)
    if waiting:
        raise Refusal("dependency_open", f"it waits for {', '.join(waiting)}")


def _open_needs(rows: Rows, name: str) -> list[str]:
    return [needed for needed in rows.needs(name) if _known(rows, needed).status != _DONE]


def _depend(rows: Rows, name: str, arguments: _Arguments) -> None:
    """Set what a task depends on, where that is given: tasks that exist, and no way back to itself."""
    if "depends_on" not in arguments:
        return
    needed = sorted(cast("list[str]", arguments["depends_on"]))
    waiting = [_known(rows, other).id for other in needed]
    seen: set[str] = set()
    while waiting:
        other = waiting.pop()
        if other == name:
            raise Refusal("dependency_cycle", f"{name} would wait for itself")
        if other not in seen:
            seen.add(other)
            waiting += rows.needs(other)
    rows.set_needs(name, needed)


def _changed(rows: Rows, task: Task) -> dict[str, JsonValue]:
    task = replace(task, version=task.version + 1)
    rows.put(task)
    return {"task": _whole(rows, task)}


def _brief(task: Task) -> dict[str, JsonValue]:
    return {"id": task.id, "title": task.title, "status": task.status, "owner": task.owner, "version": task.version}


def _whole(rows: Rows, task: Task) -> dict[str, JsonValue]:
    return {
        **_brief(task),
        "result": task.result,
        "depends_on": list(rows.needs(task.id)),
        "waits_for": list(_open_needs(rows, task.id)),
        "comments": rows.comments(task.id),
    }
