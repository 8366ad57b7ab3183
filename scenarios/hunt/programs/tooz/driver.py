"""A client of tooz on ZooKeeper."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from hunt_driver import Driver, Hold, main  # noqa: E402
from kazoo.client import KazooState  # noqa: E402
from tooz import coordination  # noqa: E402


class Tooz(Driver):
    """A coordinator that beats, as its documentation shows. The state of its connection tells when what is held may be lost."""

    def connect(self):
        self.disconnected = threading.Event()
        first, *others = self.connect_string.split(",")
        others = "".join(f"&hosts={other}" for other in others)
        url = f"zookeeper://{first}?timeout={int(self.timeout)}{others}"
        self.coordinator = coordination.get_coordinator(url, self.name.encode())
        self.coordinator.start(start_heart=True)
        self.coordinator._coord.add_listener(self._listen)
        self.session(self.coordinator._coord.client_id[0])

    def _listen(self, state):
        if state == KazooState.CONNECTED:
            self.disconnected.clear()
            self.session(self.coordinator._coord.client_id[0])
        else:
            self.disconnected.set()
            self.on_loss()

    def on_loss(self):
        pass

    def own_name(self):
        """The name of the object among the library's own ones."""
        return self.object.rsplit("/", 1)[1].encode()

    def makes_group(self):
        self.group = self.own_name()
        try:
            self.coordinator.create_group(self.group).get()
        except coordination.GroupAlreadyExist:
            pass


class Lock(Hold, Tooz):
    def begin(self):
        self.lock = self.coordinator.get_lock(self.own_name())

    def take(self):
        return self.lock.acquire()

    def give(self):
        self.lock.release()


class Group(Tooz):
    """Joins a group, and stays."""

    kind = "group"

    def begin(self):
        self.makes_group()
        self.report("joins", self.name)
        self.coordinator.join_group(self.group).get()
        self.report("joined", self.name)

    def round(self):
        self.coordinator.get_members(self.group).get()
        self.works()

    def audit(self):
        members = self.coordinator.get_members(self.group).get()
        names = sorted(member.decode() if isinstance(member, bytes) else member for member in members)
        self.report("members", ",".join(names) or "-")


class Leader(Hold, Tooz):
    """Joins a group, stands for its leadership, leads, and stands down."""

    kind = "election"
    begins, ends = "leader", "deposed"

    def begin(self):
        self.makes_group()
        self.coordinator.join_group(self.group).get()
        self.elected = threading.Event()
        self.coordinator.watch_elected_as_leader(self.group, lambda event: self.elected.set())
        self.asked = False

    def round(self):
        if not self.asked:
            self.asked = True
            self.elected.clear()
            self.report("asks")
        self.coordinator.run_watchers()
        self.coordinator.run_elect_coordinator()
        if not self.elected.is_set():
            self.pauses()
            if self.resting.is_set():
                self.asked = False
                self.report("refused")
            return
        self.asked = False
        self.holds()
        self.coordinator.stand_down_group_leader(self.group)


if __name__ == "__main__":
    main({"lock": Lock, "group": Group, "leader": Leader})
