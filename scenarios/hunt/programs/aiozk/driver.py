"""A client of aiozk's recipes."""

import asyncio
import datetime
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import aiozk  # noqa: E402
from aiozk.states import States  # noqa: E402
from hunt_driver import Adding, Cached, Driver, Hold, Member, RaisedBarrier, main  # noqa: E402


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
            if self.session(self.client.session.session_id):
                self.lost.set()

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


class Party(Member, Aiozk):
    def join(self):
        self.party = self.client.recipes.Party(self.object, self.name)
        self.run_(self.party.join())

    def leave(self):
        self.run_(self.party.leave())

    def members(self):
        return self.party.members


class TreeCache(Cached, Aiozk):
    missed = (aiozk.exc.NoNode, aiozk.exc.NodeExists)

    def begin(self):
        self.run_(self.client.ensure_path(self.object))
        self.cache = self.client.recipes.TreeCache(self.object)
        self.run_(self.cache.start())

    def delete(self, path):
        self.run_(self.client.delete(path, force=True))

    def exists(self, path):
        return self.run_(self.client.exists(path))

    def set(self, path, data):
        self.run_(self.client.set_data(path, data, force=True))

    def create(self, path, data):
        self.run_(self.client.create(path, data))

    def shown(self):
        return {f"{self.object}/{name}": child.data for name, child in self.cache.root.children.items()}


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
