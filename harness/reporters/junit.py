"""JUnit XML for build servers: a suite per scenario, a case per actor and trial.

``fail`` is a failure, ``not_judged`` an error (it says nothing about the actor). Skipped are ``pending``, places of the
plan that were not run, attempts that another one followed, what did not pass in quarantine, and stale recordings of a
run that was told to go on: nothing drops out of the count.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from harness.ports import Reporter
from harness.reporters._evidence import ending, evidence, told
from harness.reporters._rows import Episode, episodes, not_run, plain, planned_who, steps_in_short
from harness.reporters._spending import cost_line
from harness.reporters._stale import proves_nothing, to_do, tolerated
from harness.schema.run import PlannedEpisode, RunView
from harness.schema.verdict import Verdict

__all__ = ["JunitReporter", "build"]


class JunitReporter:
    """One XML file."""

    name = "junit"
    filename = "junit.xml"

    def render(self, view: RunView) -> str:
        """The whole file; well-formed whatever the texts are."""
        rows, empty = episodes(view), not_run(view)
        root = ET.Element("testsuites", name=f"harness {plain(view.manifest.run_id)}")
        names = [place.scenario for place in view.manifest.plan] + [row.receipt.scenario for row in rows]
        for name in dict.fromkeys(names):
            of_scenario = [row for row in rows if row.receipt.scenario == name]
            _suite(root, name, of_scenario, [place for place in empty if place.scenario == name], view)
        _totals(root, rows, empty, quiet=tolerated(view))
        ET.indent(root)
        return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def build() -> Reporter:
    """The entry of this file."""
    return JunitReporter()


def _suite(
    root: ET.Element, name: str, rows: Iterable[Episode], empty: Iterable[PlannedEpisode], view: RunView
) -> None:
    rows, empty = tuple(rows), tuple(empty)
    suite = ET.SubElement(root, "testsuite", name=plain(name), timestamp=plain(view.manifest.created_at))
    quiet, several = tolerated(view), view.manifest.in_versions if empty else frozenset[str]()
    cost = cost_line(view)
    if cost is not None:
        # of the run: what is paid for in vain is of no suite, and build servers show nothing above one
        properties = ET.SubElement(suite, "properties")
        ET.SubElement(properties, "property", name="run", value=cost)
    _totals(suite, rows, empty, quiet=quiet)
    for row in rows:
        _case(suite, row, quiet=quiet)
    for place in empty:
        trial = "" if place.trial == 1 else f", trial {place.trial}"
        case = ET.SubElement(suite, "testcase", name=plain(f"{planned_who(place, several)}{trial}"), time="0.000")
        case.set("classname", _class(place.scenario))
        why = "; ".join(view.manifest.stopped)
        ET.SubElement(case, "skipped", message=plain(f"not run: {why}" if why else "not run"))


def _totals(element: ET.Element, rows: Iterable[Episode], empty: Iterable[PlannedEpisode], *, quiet: bool) -> None:
    rows, skipped = tuple(rows), len(tuple(empty))
    verdicts = [_counted(row, quiet=quiet) for row in rows]
    element.set("tests", str(len(rows) + skipped))
    element.set("failures", str(verdicts.count("fail")))
    element.set("errors", str(verdicts.count("not_judged")))
    element.set("skipped", str(verdicts.count("pending") + skipped))
    element.set("time", f"{sum(row.seconds for row in rows):.3f}")


def _counted(row: Episode, *, quiet: bool) -> Verdict:
    """As build servers shall count it: what the run goes on from, or tried again, breaks no build."""
    aside = row.quarantine is not None and row.receipt.verdict != "pass"
    return "pending" if aside or row.followed or (quiet and row.stale) else row.receipt.verdict


def _case(suite: ET.Element, row: Episode, *, quiet: bool) -> None:
    receipt, verdict = row.receipt, _counted(row, quiet=quiet)
    case = ET.SubElement(suite, "testcase", name=plain(row.actor), time=f"{row.seconds:.3f}")
    case.set("classname", _class(receipt.scenario))
    properties = ET.SubElement(case, "properties")
    for key, value in (
        ("outcome", receipt.outcome.name),
        ("cause", receipt.cause),
        ("steps", steps_in_short(receipt)),
        ("plane", receipt.plane.ref),
        ("attempt", str(receipt.attempt)),
        ("quarantine", None if row.quarantine is None else row.quarantine.terms),
    ):
        if value is not None:
            ET.SubElement(properties, "property", name=key, value=plain(value))
    if receipt.verdict == "pass":
        return
    tag = {"fail": "failure", "not_judged": "error", "pending": "skipped"}[verdict]
    problem = ET.SubElement(case, tag, message=plain(_message(row)))
    if verdict != "pending":
        problem.set("type", receipt.cause or "unknown")
    lines = [line for piece in told(row) for line in evidence(piece)]
    lines += [proves_nothing(1)] if row.stale else []
    lines += [f"to record anew: {line}" for line in to_do([row])]
    lines += [f"not allowed: {change.path}" for change in receipt.boundary.changes if not change.allowed]
    problem.text = "\n".join(plain(line) for line in (ending(receipt), *lines))


def _message(row: Episode) -> str:
    """What a build server shows in its list: the code, and what kind of outage it was."""
    return _code(row) if row.quarantine is None else f"in quarantine until {row.quarantine.expires}: {_code(row)}"


def _code(row: Episode) -> str:
    receipt = row.receipt
    if receipt.failure_code is None:
        return ending(receipt)
    outage = receipt.outcome.detail if receipt.cause == "provider" else None
    return receipt.failure_code if outage is None else f"{receipt.failure_code} ({outage})"


def _class(scenario: str) -> str:
    """Build servers fold cases by the dots in their class names."""
    return plain(scenario).replace("/", ".")
