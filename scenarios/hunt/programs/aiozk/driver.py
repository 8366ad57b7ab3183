"""A client of aiozk's recipes."""

import asyncio
import datetime
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import aiozk  # noqa: E402
from aiozk.states import States  # noqa: E402
from hunt_driver import Adding, Driver, Hold, RaisedBarrier, main  # noqa: E402


class Aiozk(Driver):
    """The library's loop has a thread of its own."""

    def connect(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.disconnected = threading.Event()
        # Set when there is another session, and cleared by those whom that concerns.
        self.lost = threading.Event()
        self.run_(self.starts())

    def run_(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    async def starts(self):
        self.client = aiozk.ZKClient(self.connect_string, session_timeout=self.timeout, read_timeout=self.timeout)
        await self.client.start()
        self.last_session = self.client.session.session_id
        self.session(self.client.session.session_id)
        self.watching = asyncio.ensure_future(self.watches())

    async def watches(self):
        """Follows the state of the session: what is held is given up as soon as the connection is lost."""
        while True:
            await self.client.session.state.wait_for(States.SUSPENDED, States.LOST)
            self.disconnected.set()
            self.on_loss()
            await self.client.session.state.wait_for(States.CONNECTED)
            self.disconnected.clear()
            if self.client.session.session_id != self.last_session:
                self.last_session = self.client.session.session_id
                self.lost.set()
            self.session(self.client.session.session_id)

    def on_loss(self):
        pass


class Lock(Hold, Aiozk):
    def begin(self):
        self.lock = self.client.recipes.Lock(self.object)

    def take(self):
        self.run_(self.lock.acquire())
        return True

    def give(self):
        self.run_(self.lock.release())


class SharedLock(Hold, Aiozk):
    """Readers and writers."""

    kind = "shared_lock"

    def begin(self):
        self.lock = self.client.recipes.SharedLock(self.object)

    def round(self):
        self.item = self.random.choice(["read", "write"])
        super().round()

    def part(self):
        return self.lock.reader_lock if self.item == "read" else self.lock.writer_lock

    def take(self):
        self.run_(self.part().acquire())
        return True

    def give(self):
        self.run_(self.part().release())


class Lease(Hold, Aiozk):
    """Asks for one of two leases, for longer than a run lasts, and gives it back."""

    kind = "semaphore"
    LEASES = 2

    def begin(self):
        self.report("limit", self.LEASES)
        self.run_(self.client.ensure_path(self.object))

    def take(self):
        self.lease = self.client.recipes.Lease(self.object, self.LEASES)
        return self.run_(self.lease.obtain(datetime.timedelta(seconds=60)))

    def give(self):
        self.run_(self.lease.release())


class Election(Hold, Aiozk):
    """Volunteers, leads, resigns. What the library knows of a lost session it does not say: the state of the session does."""

    kind = "election"
    begins, ends = "leader", "deposed"

    def take(self):
        self.election = self.client.recipes.LeaderElection(self.object)
        self.run_(self.election.volunteer())
        self.run_(self.election.wait_for_leadership())
        return True

    def give(self):
        self.run_(self.election.resign())


class Barrier(RaisedBarrier, Aiozk):
    def begin(self):
        self.barrier = self.client.recipes.Barrier(self.object)

    def wait(self):
        self.run_(self.barrier.wait())
        return True

    def raise_(self):
        self.run_(self.barrier.create())

    def lower(self):
        self.run_(self.barrier.lift())


class DoubleBarrier(Aiozk):
    """Enters with the others, for at most 5 s, works, and leaves with them."""

    kind = "double_barrier"

    def begin(self):
        self.report("size", self.clients)

    def round(self):
        barrier = self.client.recipes.DoubleBarrier(self.object, self.clients)
        self.report("enters")
        self.reported(lambda: self.run_(barrier.enter(timeout=5)), "refused")
        self.report("entered")
        self.works()
        self.report("leaves")
        self.reported(lambda: self.run_(barrier.leave()), "refused")
        self.report("left")


class Party(Aiozk):
    """A member that comes and goes. It joins again when there is another session."""

    kind = "group"

    def begin(self):
        self.is_asking = False

    def joins(self):
        self.lost.clear()
        if not self.is_asking:
            self.is_asking = True
            self.report("joins", self.name)
        self.party = self.client.recipes.Party(self.object, self.name)
        self.run_(self.party.join())
        self.is_asking = False
        self.report("joined", self.name)

    def round(self):
        self.joins()
        self.works(self.lost)
        self.report("leaves", self.name)
        if not self.lost.is_set():
            self.run_(self.party.leave())

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
        self.report("members", ",".join(sorted(set(self.party.members))) or "-")


class TreeCache(Aiozk):
    """Writes below the object, and keeps a TreeCache of it."""

    kind = "cache"

    def begin(self):
        self.run_(self.client.ensure_path(self.object))
        self.cache = self.client.recipes.TreeCache(self.object)
        self.run_(self.cache.start())

    def round(self):
        path = f"{self.object}/{self.random.choice('uvwxyz')}"
        try:
            if self.random.random() < 0.3:
                self.run_(self.client.delete(path, force=True))
            elif self.run_(self.client.exists(path)):
                self.run_(self.client.set_data(path, self.unique().encode(), force=True))
            else:
                self.run_(self.client.create(path, self.unique().encode()))
        except (aiozk.exc.NoNode, aiozk.exc.NodeExists):
            pass

    def audit(self):
        threading.Event().wait(0.5)
        for name, child in sorted(self.cache.root.children.items()):
            data = child.data.decode() if isinstance(child.data, bytes) else child.data
            self.report("sees", f"{self.object}/{name} {data or '-'}")
        self.report("seen")


class Counter(Adding, Aiozk):
    def begin(self):
        self.counter = self.client.recipes.Counter(self.object)
        self.run_(self.counter.start())

    def add(self):
        self.run_(self.counter.incr())

    def audit(self):
        self.report("counts", self.run_(self.counter.get_value()))


if __name__ == "__main__":
    main(
        {
            "lock": Lock,
            "shared-lock": SharedLock,
            "lease": Lease,
            "election": Election,
            "barrier": Barrier,
            "double-barrier": DoubleBarrier,
            "counter": Counter,
            "party": Party,
            "tree-cache": TreeCache,
        }
    )
