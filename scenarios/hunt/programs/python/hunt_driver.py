"""The lines of a driver: what it is told, and what it says.

A driver is a class with a method `round`, which is called over and over in a thread of its own, and may have `begin`,
`rest` and `audit`.
"""

import os
import random
import sys
import threading
import time


class Driver:
    """One client. Subclasses say the kind of object, and do a round."""

    kind = ""
    # The longest work under a hold and the longest pause between two rounds, in seconds.
    work = 0.03
    pause = 0.02

    def __init__(self):
        environment = os.environ
        self.name = environment["HUNT_CLIENT"]
        self.clients = int(environment["HUNT_CLIENTS"])
        self.connect_string = environment["HUNT_CONNECT"]
        self.timeout = int(environment["HUNT_TIMEOUT_MS"]) / 1000
        self.object = environment["HUNT_OBJECT"]
        self.random = random.Random(f"{environment['HUNT_SEED']} {self.name}")
        self.resting = threading.Event()
        self._going = threading.Event()
        self._told_session = None
        self._writing = threading.Lock()

    # What it says: each line with one write.

    def say(self, *words):
        line = " ".join([self.name, *(str(word) for word in words)])
        data = (line.replace("\n", " ") + "\n").encode()
        with self._writing:
            os.write(1, data)

    def report(self, event, item=None):
        self.say(event, self.kind, self.object, *([] if item is None else [item]))

    def trouble(self, error):
        self.say("trouble", type(error).__name__, str(error)[:200])

    def session(self, number):
        """The session from now on, by its number. Returns whether it is another one than before."""
        if not number or number == self._told_session:
            return False
        self._told_session = number
        self.say("session", f"{number & 0xFFFFFFFFFFFFFFFF:#x}")
        return True

    # Times.

    def works(self, until=None):
        """Works for a while, or until an event is set."""
        return (until or threading.Event()).wait(self.random.uniform(self.work / 5, self.work))

    def pauses(self):
        threading.Event().wait(self.random.uniform(self.pause / 5, self.pause))

    def reported(self, call, failed, item=None):
        """The outcome of a call; when it fails, a report says so."""
        try:
            return call()
        except BaseException:
            self.report(failed, item)
            raise

    def unique(self):
        self._items = getattr(self, "_items", 0) + 1
        return f"{self.name}-{os.getpid()}-{self._items}"

    # What subclasses do.

    def connect(self):
        raise NotImplementedError

    def begin(self):
        pass

    def round(self):
        raise NotImplementedError

    def rest(self):
        pass

    def audit(self):
        pass

    def close(self):
        pass

    def _rounds(self):
        self._going.wait()
        for begin in (self.begin, self.round):
            while True:
                try:
                    begin()
                    if begin == self.begin or self.resting.is_set():
                        break
                except Exception as error:
                    self.trouble(error)
                    time.sleep(0.05)
                    if self.resting.is_set() and begin == self.round:
                        break
                    continue
                self.pauses()
        while True:
            try:
                self.rest()
                break
            except Exception as error:
                self.trouble(error)
                time.sleep(0.05)
        self.say("resting")

    def run(self):
        """Lives until the end of input."""
        self.connect()
        self.say("ready")
        threading.Thread(target=self._rounds, daemon=True).start()
        for line in sys.stdin:
            word = line.strip()
            if word == "go":
                self._going.set()
            elif word == "rest":
                self.resting.set()
            elif word == "audit":
                try:
                    self.audit()
                except Exception as error:
                    self.trouble(error)
                self.say("audited")
        try:
            self.close()
        finally:
            os._exit(0)


class Hold:
    """Something that is held: the end of a hold is told once, at once when the connection is lost.

    For a driver that calls `on_loss` then, and whose event `disconnected` is set for as long as there is no connection.
    It makes `take`, whose outcome says whether it is held, and `give`.
    """

    kind = "lock"
    begins, ends = "acquired", "released"
    item = None

    def __init__(self):
        super().__init__()
        self.holding = threading.Lock()
        self.is_holding = False

    def take(self):
        raise NotImplementedError

    def give(self):
        raise NotImplementedError

    def on_loss(self):
        self.let_go()

    def let_go(self):
        with self.holding:
            if self.is_holding:
                self.is_holding = False
                self.report(self.ends, self.item)

    def holds(self):
        """It is held from now on, unless the connection is lost: then it is another session's."""
        with self.holding:
            if self.disconnected.is_set():
                self.report("refused", self.item)
            else:
                self.is_holding = True
                self.report(self.begins, self.item)
        self.works(self.disconnected)
        self.let_go()

    def round(self):
        self.report("asks", self.item)
        if not self.reported(self.take, "refused", self.item):
            self.report("refused", self.item)
            return
        self.holds()
        self.give()


class RaisedBarrier:
    """The first client raises and lowers the barrier, the others wait. The driver makes `raise_`, `wait` and `lower`."""

    kind = "barrier"
    may_be_raised = False
    is_lowering = False

    def round(self):
        if self.name != "a":
            self.report("waits")
            self.report("passed" if self.reported(self.wait, "refused") else "refused")
            return
        self.rest()
        self.may_be_raised = True
        self.raise_()
        self.report("raised")
        self.works()

    def rest(self):
        if not self.may_be_raised:
            return
        if not self.is_lowering:
            self.is_lowering = True
            self.report("lowers")
        self.lower()
        self.is_lowering = False
        self.may_be_raised = False
        self.report("lowered")
        self.pauses()


class Adding:
    """Adds 1 in each round. The driver makes `add`."""

    kind = "counter"

    def round(self):
        self.report("adds", 1)
        self.reported(self.add, "unknown", 1)
        self.report("added", 1)


class Member:
    """Comes and goes, and joins again when its session was lost. The driver makes `join`, `leave` and `members`, and sets
    the event `lost` then."""

    kind = "group"
    is_asking = False

    def joins(self):
        self.lost.clear()
        if not self.is_asking:
            self.is_asking = True
            self.report("joins", self.name)
        self.join()
        self.is_asking = False
        self.report("joined", self.name)

    def round(self):
        self.joins()
        self.works(self.lost)
        self.report("leaves", self.name)
        if not self.lost.is_set():
            self.leave()

    def rest(self):
        self.joins()
        threading.Thread(target=self.stays, daemon=True).start()

    def stays(self):
        while True:
            self.lost.wait()
            self.report("leaves", self.name)
            try:
                self.joins()
            except Exception as error:
                self.trouble(error)
                self.lost.set()
                self.pauses()

    def audit(self):
        self.report("members", ",".join(sorted(set(self.members()))) or "-")


class Cached:
    """Writes below the object, and says what a cache of it shows. The driver makes `delete`, `exists`, `set`, `create` and
    `shown`; `missed` are the errors by which others came first."""

    kind = "cache"
    missed = ()

    def round(self):
        path = f"{self.object}/{self.random.choice('uvwxyz')}"
        data = self.unique().encode()
        try:
            if self.random.random() < 0.3:
                self.delete(path)
            elif self.exists(path):
                self.set(path, data)
            else:
                self.create(path, data)
        except self.missed:
            pass

    def audit(self):
        threading.Event().wait(0.5)
        for path, data in sorted(self.shown().items()):
            self.report("sees", f"{path} {data.decode() if data else '-'}")
        self.report("seen")


def main(scenarios):
    """Runs the scenario that the command line names."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in scenarios:
        sys.exit(f"there is no scenario {name!r}; there are {', '.join(scenarios)}")
    scenarios[name]().run()
