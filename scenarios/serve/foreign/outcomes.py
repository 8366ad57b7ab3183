"""A pytest plugin for test suites of others: leaves out the tests that have a reason, and writes down what came of each.

Ensembles can be judged, too: `judge` notes the findings of the checker beside the test that has just run.

ZKSIM_LEFT_OUT is a JSON object, from patterns of test names to reasons; ZKSIM_OUTCOMES is the file to write.
"""

import fnmatch
import json
import os

import pytest

LEFT_OUT = json.loads(os.environ.get("ZKSIM_LEFT_OUT", "{}"))
outcomes = {}
findings = []


def judge(ensemble):
    """Notes what the checker finds in the history of an ensemble."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "the end").split(" ")[0]
    for finding in ensemble.verdict().findings:
        findings.append({"test": test, "rule": finding["rule"], "text": finding["text"]})


def pytest_collection_modifyitems(items):
    """Skips the tests that are left out by name."""
    for item in items:
        for pattern, reason in LEFT_OUT.items():
            if fnmatch.fnmatchcase(item.nodeid, "*" + pattern):
                item.add_marker(pytest.mark.skip(reason="left out: " + reason))


def pytest_runtest_logreport(report):
    """Notes the worst outcome of setup, call and teardown."""
    if report.failed:
        outcomes[report.nodeid] = {"outcome": "failed", "reason": _last_line(report), "text": report.longreprtext[-6000:]}
    elif report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        outcomes.setdefault(report.nodeid, {"outcome": "left out", "reason": reason})
    elif report.when == "call":
        outcomes.setdefault(report.nodeid, {"outcome": "passed", "reason": ""})


def pytest_collectreport(report):
    """A file that cannot be read is a failure, too."""
    if report.failed:
        outcomes[report.nodeid] = {"outcome": "failed", "reason": _last_line(report), "text": report.longreprtext[-6000:]}


def pytest_sessionfinish():
    """Writes the outcomes."""
    with open(os.environ["ZKSIM_OUTCOMES"], "w", encoding="utf-8") as out:
        json.dump({"tests": outcomes, "findings": findings}, out, indent=1)


def _last_line(report):
    lines = [line for line in report.longreprtext.splitlines() if line.startswith("E ")]
    return lines[0][1:].strip() if lines else report.longreprtext.splitlines()[-1]
