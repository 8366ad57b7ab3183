"""A client of aiozk's recipes."""

import asyncio
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


class Counter(Adding, Aiozk):
    def begin(self):
        self.counter = self.client.recipes.Counter(self.object)
        self.run_(self.counter.start())

    def add(self):
        self.run_(self.counter.incr())

    def audit(self):
        self.report("counts", self.run_(self.counter.get_value()))


if __name__ == "__main__":
    main({"lock": Lock, "election": Election, "barrier": Barrier, "counter": Counter})
