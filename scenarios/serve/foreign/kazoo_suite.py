#!/usr/bin/env python3
"""Runs the tests of Kazoo 2.11.0 against simulated ensembles of three servers.

    ZKSIM=target/debug/zksim scenarios/serve/foreign/kazoo_suite.py [PYTEST ARGUMENTS]
"""

import sys

from suite import Suite, summarise

#: The tests that cannot work on a simulated ensemble, and why.
LEFT_OUT = {
    "test_sasl.py*": "the simulation has no SASL",
    "::TestSSLClient::*": "the simulation has no TLS",
    "::TestReadOnlyMode::*": "the simulation has no read-only mode",
    "::TestReconfig::*": "the simulation has no reconfiguration",
    "::TestBuildEnvironment::*": "the simulation does not answer the four-letter word envi",
}


def main():
    """Downloads, runs, prints."""
    needs = ["pytest", "pytest-timeout", "gevent", "eventlet", "objgraph"]
    with Suite("kazoo", "2.11.0", needs) as kazoo:
        # With CI set, the suite takes the version of the servers from here instead of asking them.
        environment = {"CI": "1", "ZOOKEEPER_VERSION": "3.8.0"}
        arguments = ["-o", "log_cli=false", *sys.argv[1:]]
        outcomes, findings = kazoo.run(["kazoo/tests"], ["kazoo_cluster"], LEFT_OUT, environment, arguments)
    return summarise("Kazoo", "2.11.0", outcomes, findings)


if __name__ == "__main__":
    sys.exit(main())
