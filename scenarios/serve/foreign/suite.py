"""Runs the test suite of a Python client, unmodified, against simulated ensembles.

The client's source package comes from the package index into a temporary folder, with a virtual environment of its own. Nothing of it
stays. Tests that are left out have a reason each, which is printed.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "fixtures" / "python"

sys.path.insert(0, str(PACKAGE))


class Suite:
    """The source package of a client, unpacked beside a virtual environment that has it installed."""

    def __init__(self, name, version, needs):
        self.name, self.version, self.needs = name, version, needs
        self._folder = tempfile.TemporaryDirectory(prefix=f"zksim-{name}-")

    def __enter__(self):
        root = Path(self._folder.name)
        self._python = root / "venv" / "bin" / "python"
        venv.create(root / "venv", with_pip=True)
        self._pip("install", *self.needs)
        self._pip("download", "--no-binary", self.name, "--no-deps", "--dest", str(root), f"{self.name}=={self.version}")
        archive = next(root.glob(f"{self.name}-{self.version}.tar.gz"))
        with tarfile.open(archive) as packed:
            packed.extractall(root, filter="data")
        self.source = root / f"{self.name}-{self.version}"
        self._pip("install", str(self.source))
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def run(self, tests, plugins, left_out, environment, arguments=()):
        """Runs the tests. Returns what came of each, and what was found in the histories that the plugins judged."""
        outcomes = Path(self._folder.name) / "outcomes.json"
        command = [str(self._python), "-m", "pytest", "-q", "-p", "outcomes"]
        for plugin in plugins:
            command += ["-p", plugin]
        path = os.pathsep.join([str(HERE), str(PACKAGE)])
        variables = {"PYTHONPATH": path, "ZKSIM_OUTCOMES": str(outcomes), "ZKSIM_LEFT_OUT": json.dumps(left_out)}
        subprocess.run(
            [*command, *arguments, *tests],
            cwd=self.source,
            env={**os.environ, **variables, **environment},
            stdout=sys.stderr,
            check=False,
        )
        noted = json.loads(outcomes.read_text(encoding="utf-8"))
        return noted["tests"], noted["findings"]

    def _pip(self, verb, *arguments):
        command = [str(self._python), "-m", "pip", "--disable-pip-version-check", "-q", verb, *arguments]
        subprocess.run(command, check=True, stdout=sys.stderr)


def by_rule(findings):
    """The texts of findings, by their rule and the test after which they were found."""
    texts = {}
    for finding in findings:
        texts.setdefault((finding["rule"], finding["test"]), []).append(" ".join(finding["text"].split()))
    return texts


def summarise(name, version, outcomes, findings):
    """Prints a line for each test that did not pass and each finding, and the totals. Returns the exit status of the program."""
    groups = {"passed": [], "failed": [], "left out": []}
    for test, came in sorted(outcomes.items()):
        groups[came["outcome"]].append((test, came["reason"]))
    for group in ("left out", "failed"):
        for test, reason in groups[group]:
            print(f"{group}  {test}: {reason.removeprefix('Skipped: ').removeprefix('left out: ')}")
    for (rule, test), texts in by_rule(findings).items():
        more = f" ({len(texts)} of them)" if len(texts) > 1 else ""
        print(f"broken  {rule}  {test}: {texts[0]}{more}")
    counts = ", ".join(f"{len(tests)} {group}" for group, tests in groups.items())
    print(f"{name} {version}: {counts}")
    return 1 if groups["failed"] or findings or not groups["passed"] else 0
