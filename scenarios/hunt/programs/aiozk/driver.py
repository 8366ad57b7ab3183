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
    main({"lock": Lock, "counter": Counter})
