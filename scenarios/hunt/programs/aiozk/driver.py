"""A client of aiozk's recipes."""

import asyncio
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import aiozk  # noqa: E402
from aiozk.states import States  # noqa: E402
from hunt_driver import Driver, main  # noqa: E402


class Aiozk(Driver):
    """The library's loop has a thread of its own."""

    def connect(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
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
            self.lost.set()
            self.on_loss()
            await self.client.session.state.wait_for(States.CONNECTED)
            self.lost.clear()
            self.session(self.client.session.session_id)

    def on_loss(self):
        pass


class Lock(Aiozk):
    kind = "lock"

    def begin(self):
        self.holding = threading.Lock()
        self.is_holding = False
        self.lock = self.client.recipes.Lock(self.object)

    def on_loss(self):
        self.let_go()

    def let_go(self):
        if hasattr(self, "holding"):
            with self.holding:
                if self.is_holding:
                    self.is_holding = False
                    self.report("released")

    def round(self):
        self.report("asks")
        try:
            self.run_(self.lock.acquire())
        except BaseException:
            self.report("refused")
            raise
        with self.holding:
            if self.lost.is_set():
                self.report("refused")
            else:
                self.is_holding = True
                self.report("acquired")
        self.works(self.lost)
        self.let_go()
        self.run_(self.lock.release())


class Election(Lock):
    """Volunteers, leads, resigns. What the library knows of a lost session it does not say: the state of the session does."""

    kind = "election"

    def begin(self):
        self.holding = threading.Lock()
        self.is_holding = False

    def let_go(self):
        if hasattr(self, "holding"):
            with self.holding:
                if self.is_holding:
                    self.is_holding = False
                    self.report("deposed")

    def round(self):
        election = self.client.recipes.LeaderElection(self.object)
        self.report("asks")
        try:
            self.run_(election.volunteer())
            self.run_(election.wait_for_leadership())
        except BaseException:
            self.report("refused")
            raise
        with self.holding:
            if self.lost.is_set():
                self.report("refused")
            else:
                self.is_holding = True
                self.report("leader")
        self.works(self.lost)
        self.let_go()
        self.run_(election.resign())


class Barrier(Aiozk):
    """The first client raises and lifts the barrier, the others wait."""

    kind = "barrier"

    def begin(self):
        self.barrier = self.client.recipes.Barrier(self.object)
        self.may_be_raised = False
        self.is_lowering = False

    def round(self):
        if self.name != "a":
            self.report("waits")
            try:
                self.run_(self.barrier.wait())
            except BaseException:
                self.report("refused")
                raise
            self.report("passed")
            return
        self.lower()
        self.may_be_raised = True
        self.run_(self.barrier.create())
        self.report("raised")
        self.works()

    def lower(self):
        if self.may_be_raised:
            if not self.is_lowering:
                self.is_lowering = True
                self.report("lowers")
            self.run_(self.barrier.lift())
            self.is_lowering = False
            self.may_be_raised = False
            self.report("lowered")
            self.pauses()

    def rest(self):
        if self.name == "a":
            self.lower()


class Counter(Aiozk):
    kind = "counter"

    def begin(self):
        self.counter = self.client.recipes.Counter(self.object)
        self.run_(self.counter.start())

    def round(self):
        self.report("adds", 1)
        try:
            self.run_(self.counter.incr())
        except BaseException:
            self.report("unknown", 1)
            raise
        self.report("added", 1)

    def audit(self):
        self.report("counts", self.run_(self.counter.get_value()))


if __name__ == "__main__":
    main({"lock": Lock, "election": Election, "barrier": Barrier, "counter": Counter})
