"""One session of Kazoo, told on standard input what to do, with one line of JSON for each thing that happens.

    acquire ID KIND PATH         take it in the background, KIND is lock, read or write: acquired
    release ID                   give it back: released
    turns ID KIND PATH COUNT     take it and give it back so many times, in the background: turned
    ping                         pong

Whoever holds PATH stands in PATH-inside, too, so that two who must not hold together find each other there: clash.
The end of standard input is the end of the process, without a word to the server.
"""

import json
import logging
import os
import sys
import threading

from kazoo.client import KazooClient

logging.basicConfig(level=logging.CRITICAL)
telling = threading.Lock()


def tell(event, one="", what=""):
    with telling:
        print(json.dumps({"event": event, "id": one, "what": what}), flush=True)


class Contender:
    """One who takes the lock."""

    def __init__(self, one, kind, path):
        make = {"lock": client.Lock, "read": client.ReadLock, "write": client.WriteLock}[kind]
        self.one, self.kind, self.path = one, kind, path
        self.lock = make(path, one)

    def enter(self):
        self.lock.acquire()
        inside = self.path + "-inside"
        mine = "/read-" if self.kind == "read" else "/write-"
        self.inside = client.create(inside + mine, ephemeral=True, sequence=True)
        all_inside = client.get_children(inside)
        if len(all_inside) > 1 and any(name.startswith("write-") for name in all_inside):
            tell("clash", self.one, str(all_inside))

    def leave(self):
        client.delete(self.inside)
        self.lock.release()

    def acquire(self):
        self.enter()
        tell("acquired", self.one)

    def release(self):
        self.leave()
        tell("released", self.one)

    def turns(self, count):
        for _ in range(count):
            self.enter()
            self.leave()
        tell("turned", self.one)


def start(one, work, *arguments):
    def run():
        try:
            work(*arguments)
        except BaseException as error:
            tell("error", one, repr(error))

    threading.Thread(target=run, daemon=True).start()


client = KazooClient(hosts=sys.argv[1], timeout=int(sys.argv[2]) / 1000)
client.start(60)
tell("ready")
contenders = {}
for line in sys.stdin:
    words = line.split()
    if words[0] == "acquire":
        contenders[words[1]] = Contender(*words[1:4])
        start(words[1], contenders[words[1]].acquire)
    elif words[0] == "release":
        start(words[1], contenders.pop(words[1]).release)
    elif words[0] == "turns":
        start(words[1], Contender(*words[1:4]).turns, int(words[4]))
    else:
        tell("pong")
os._exit(0)
