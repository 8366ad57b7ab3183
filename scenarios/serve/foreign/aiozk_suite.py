#!/usr/bin/env python3
"""Runs the tests of aiozk 0.32.0 against a simulated server.

    ZKSIM=target/debug/zksim scenarios/serve/foreign/aiozk_suite.py [PYTEST ARGUMENTS]
"""

import sys

import zksim
from suite import Suite, summarise


def main():
    """Downloads, starts a server, runs, prints."""
    needs = ["pytest", "pytest-asyncio", "pytest-cov", "pytest-timeout"]
    with Suite("aiozk", "0.32.0", needs) as aiozk, zksim.Ensemble(1, tick="2s", check=False) as zk:
        host, port = zk.addresses[0]
        environment = {"ZK_HOST": host, "ZK_PORT": str(port)}
        arguments = ["--timeout", "120", *sys.argv[1:]]
        outcomes, _ = aiozk.run(["aiozk/test"], [], {}, environment, arguments)
        findings = [{"test": "the whole suite", **finding} for finding in zk.verdict().findings]
    return summarise("aiozk", "0.32.0", outcomes, findings)


if __name__ == "__main__":
    sys.exit(main())
