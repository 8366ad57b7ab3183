"""A client of Kazoo's recipes."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from hunt_driver import Adding, Cached, Driver, Hold, Member, RaisedBarrier, main  # noqa: E402
from kazoo.client import KazooClient, KazooState  # noqa: E402
from kazoo.exceptions import KazooException, LockTimeout, NoNodeError, NodeExistsError  # noqa: E402


class Kazoo(Driver):
    """Tells its sessions, and knows when the connection is lost: Kazoo's documentation asks for such a listener."""

    def connect(self):
        self.disconnected = threading.Event()
        # Set when the session is lost, and cleared by those whom that concerns.
        self.lost = threading.Event()
        self.client = KazooClient(hosts=self.connect_string, timeout=self.timeout)
        self.client.add_listener(self._listen)
        self.client.start(timeout=30)
        self.session(self.client.client_id[0])

    def _listen(self, state):
        if state == KazooState.CONNECTED:
            self.disconnected.clear()
            if self.client.client_id:
                self.session(self.client.client_id[0])
        else:
            if state == KazooState.LOST:
                self.lost.set()
            self.disconnected.set()
            self.on_loss()

    def on_loss(self):
        """The connection or the session is lost. Called in the thread that handles it."""

    def close(self):
        self.client.stop()
        self.client.close()

    def waits(self, call):
        """Calls something that may wait for others: once this client rests they may not come."""
        outcome = {}

        def calls():
            try:
                outcome["value"] = call()
            except BaseException as error:
                outcome["error"] = error

        thread = threading.Thread(target=calls, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.05)
            if self.resting.is_set():
                thread.join(1.5)
                break
        if thread.is_alive():
            return None
        if "error" in outcome:
            raise outcome["error"]
        return outcome


class Lock(Hold, Kazoo):
    def begin(self):
        self.lock = self.make()

    def make(self):
        return self.client.Lock(self.object, self.name)

    def take(self):
        return self.lock.acquire()

    def give(self):
        self.lock.release()


class LimitedLock(Lock):
    """Each round has a lock object of its own, and the first client waits for 300 ms at most."""

    def take(self):
        self.lock = self.make()
        if self.name != "a":
            return self.lock.acquire()
        try:
            return self.lock.acquire(timeout=0.3)
        except LockTimeout:
            return False


class TryLock(Lock):
    """Each round has a lock object of its own, and the first client does not wait."""

    def take(self):
        self.lock = self.make()
        return self.lock.acquire(blocking=self.name != "a")


class LockAgain(Lock):
    """When the session is lost, so is the lock, for certain: it is not released, and acquired again."""

    def take(self):
        self.lost.clear()
        return self.lock.acquire()

    def give(self):
        if self.disconnected.is_set():
            # Whether the session is lost is known once there is a connection again.
            while self.disconnected.is_set():
                threading.Event().wait(0.01)
        if not self.lost.is_set():
            self.lock.release()


class ReadWriteLock(Lock):
    kind = "shared_lock"

    def round(self):
        self.item = self.random.choice(["read", "write"])
        make = self.client.ReadLock if self.item == "read" else self.client.WriteLock
        self.lock = make(self.object, self.name)
        super().round()


class Semaphore(Lock):
    kind = "semaphore"
    LEASES = 2

    def begin(self):
        super().begin()
        self.report("limit", self.LEASES)

    def make(self):
        return self.client.Semaphore(self.object, self.name, max_leases=self.LEASES)


class Election(Lock):
    kind = "election"
    begins, ends = "leader", "deposed"

    def make(self):
        return self.client.Election(self.object, self.name)

    def round(self):
        self.report("asks")
        self.has_led = False
        try:
            self.lock.run(self.leads)
        finally:
            self.let_go()
            if not self.has_led:
                self.report("refused")

    def leads(self):
        self.has_led = True
        with self.holding:
            self.is_holding = True
            self.report("leader")
            if self.disconnected.is_set():
                self.is_holding = False
                self.report("deposed")
        self.works(self.disconnected)
        self.let_go()


class LastingElection(Election):
    """Leads until it rests. Each candidacy has an object of its own: that of the last one may wait for ever after its
    session."""

    def round(self):
        self.lock = self.make()
        super().round()

    def works(self, until=None):
        while not (self.resting.is_set() or until.is_set()):
            until.wait(0.01)

    def close(self):
        self.resting.set()
        self.let_go()
        super().close()


class Barrier(RaisedBarrier, Kazoo):
    def begin(self):
        self.barrier = self.client.Barrier(self.object)

    def wait(self):
        return self.barrier.wait()

    def raise_(self):
        self.barrier.create()

    def lower(self):
        self.barrier.remove()


class DoubleBarrier(Kazoo):
    kind = "double_barrier"

    def begin(self):
        self.report("size", self.clients)
        self.barrier = self.client.DoubleBarrier(self.object, self.clients, self.name)

    def round(self):
        self.report("enters")
        entered = self.waits(self.barrier.enter)
        if entered is None and not self.others_are_there():
            self.report("refused")
            return
        if entered is None:
            threading.Event().wait()
        # The call swallows errors; what it leaves behind is this.
        if not self.barrier.participating:
            self.report("refused")
            return
        self.report("entered")
        self.works()
        self.report("leaves")
        self.barrier.leave()
        self.report("left")

    def others_are_there(self):
        """Whether all have a znode at the barrier, so that nobody waits for one who rests."""
        try:
            names = set(self.client.get_children(self.object)) - {"ready"}
        except KazooException:
            return False
        return len(names) >= self.clients


class Queue(Kazoo):
    """Puts an item, and gets one."""

    kind = "queue"

    def begin(self):
        self.queue = self.client.Queue(self.object)

    def round(self):
        item = self.unique()
        self.report("puts", item)
        self.reported(lambda: self.queue.put(item.encode()), "unknown", item)
        self.report("put", item)
        self.pauses()
        self.get()

    def get(self):
        self.report("takes")
        taken = self.reported(self.queue.get, "failed")
        if taken is None:
            self.report("empty")
            return False
        self.report("took", taken.decode())
        return True

    def rest(self):
        while self.get():
            pass


class LockingQueue(Queue):
    """Puts an item, gets one, and consumes it."""

    def begin(self):
        self.queue = self.client.LockingQueue(self.object)

    def get(self):
        self.report("takes")
        try:
            taken = self.queue.get(timeout=1)
            if taken is None:
                self.report("empty")
                return False
            if not self.queue.consume():
                # Its lock is lost: another client has it, or will.
                self.queue = self.client.LockingQueue(self.object)
                self.report("empty")
                return True
        except BaseException:
            # Whether it was consumed is not known; this object may have it still.
            self.report("failed")
            self.queue = self.client.LockingQueue(self.object)
            raise
        self.report("took", taken.decode())
        return True


class Counter(Adding, Kazoo):
    def begin(self):
        self.counter = self.client.Counter(self.object)

    def add(self):
        self.counter += 1

    def audit(self):
        self.report("counts", self.client.retry(lambda: self.client.Counter(self.object).value))


class Party(Member, Kazoo):
    def begin(self):
        self.party = self.client.Party(self.object, self.name)

    def join(self):
        self.party.join()

    def leave(self):
        self.party.leave()

    def members(self):
        return self.party


class SetPartitioner(Kazoo):
    """Shares six parts out, as the loop of the documentation does. One client leaves and comes back."""

    kind = "partition"
    PARTS = ["p1", "p2", "p3", "p4", "p5", "p6"]

    def begin(self):
        self.report("whole", ",".join(self.PARTS))
        self.owned = []
        self.stop = threading.Event()
        self.leave = threading.Event()
        threading.Thread(target=self.shares, daemon=True).start()

    def make(self):
        return self.client.SetPartitioner(
            self.object, set=self.PARTS, identifier=self.name, time_boundary=0.3, max_reaction_time=0.5
        )

    def disown(self):
        for part in self.owned:
            self.report("disowns", part)
        self.owned = []

    def shares(self):
        partitioner = None
        while True:
            try:
                if partitioner is None:
                    partitioner = self.make()
                if self.leave.is_set():
                    self.leave.clear()
                    self.disown()
                    partitioner.finish()
                    partitioner = None
                elif partitioner.failed:
                    self.disown()
                    partitioner = None
                elif partitioner.release:
                    self.disown()
                    partitioner.release_set()
                elif partitioner.acquired:
                    parts = [str(part) for part in partitioner]
                    if not self.owned:
                        self.owned = parts
                        for part in parts:
                            self.report("owns", part)
                    threading.Event().wait(0.005)
                else:
                    partitioner.wait_for_acquire(1)
            except Exception as error:
                self.trouble(error)
                self.disown()
                partitioner = None
                threading.Event().wait(0.1)

    def round(self):
        threading.Event().wait(self.random.uniform(1, 2))
        if self.name == "c":
            self.leave.set()


class Cache(Cached, Kazoo):
    missed = (NoNodeError, NodeExistsError)

    def begin(self):
        self.client.ensure_path(self.object)
        self.start()

    def start(self):
        raise NotImplementedError

    def delete(self, path):
        self.client.delete(path)

    def exists(self, path):
        return self.client.exists(path)

    def set(self, path, data):
        self.client.set(path, data)

    def create(self, path, data):
        self.client.create(path, data)


class TreeCache(Cache):
    def start(self):
        from kazoo.recipe.cache import TreeCache as Recipe

        self.cache = Recipe(self.client, self.object)
        self.cache.start()

    def shown(self):
        names = self.cache.get_children(self.object, [])
        found = {f"{self.object}/{name}": self.cache.get_data(f"{self.object}/{name}") for name in names}
        return {path: node.data for path, node in found.items() if node is not None}


class Watches(Cache):
    """A watch of the children, and one of the data of each."""

    def start(self):
        self.data = {}
        self.names = set()
        self.watched = set()
        self.client.ChildrenWatch(self.object, self.children)

    def children(self, names):
        self.names = set(names)
        for name in names:
            if name not in self.watched:
                self.watched.add(name)
                self.client.DataWatch(f"{self.object}/{name}", self.one(name))

    def one(self, name):
        def seen(data, stat):
            self.data[name] = data

        return seen

    def shown(self):
        shown = {name: self.data.get(name) for name in self.names}
        return {f"{self.object}/{name}": data for name, data in shown.items() if data is not None}


if __name__ == "__main__":
    main(
        {
            "lock": Lock,
            "limited-lock": LimitedLock,
            "try-lock": TryLock,
            "lock-again": LockAgain,
            "read-write-lock": ReadWriteLock,
            "semaphore": Semaphore,
            "election": Election,
            "lasting-election": LastingElection,
            "barrier": Barrier,
            "double-barrier": DoubleBarrier,
            "queue": Queue,
            "locking-queue": LockingQueue,
            "counter": Counter,
            "party": Party,
            "set-partitioner": SetPartitioner,
            "tree-cache": TreeCache,
            "watches": Watches,
        }
    )
