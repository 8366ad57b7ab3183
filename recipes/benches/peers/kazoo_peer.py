"""One peer: the recipes of Kazoo, as its documentation shows them. How a peer is spoken to stands in src/peer.rs."""

import json
import logging
import os
import queue
import sys
import threading
import time

from kazoo.client import KazooClient

logging.basicConfig(level=logging.CRITICAL)
threading.stack_size(512 * 1024)

# A queue of Kazoo has no call that waits: how long a consumer that finds nothing pauses.
POLL_SECONDS = 0.001
LOOK_SECONDS = 0.005

WORDS = dict(word.split("=", 1) for word in sys.argv[1:])
ROOT, RECIPE = WORDS.get("root"), WORDS.get("recipe")
SESSION_SECONDS = float(WORDS.get("session_ms", 30000)) / 1e3
now = time.perf_counter
printing = threading.Lock()


def number(key):
    return int(WORDS.get(key, 0))


def say(**line):
    with printing:
        print(json.dumps(line), flush=True)


def next_order():
    """Says that the peer is ready; returns how many operations it shall make, or None at the end."""
    say(ready=True)
    words = sys.stdin.readline().split()
    return int(words[1]) if words[:1] == ["go"] else None


def report(ops, seconds, violations=0, **micros):
    """Reports what a run measured, and waits until its requests are counted."""
    named = {name.replace("_", "-"): values for name, values in micros.items()}
    say(ops=ops, seconds=seconds, micros=named, violations=violations)
    sys.stdin.readline()


def report_latencies(ops, name, latencies, violations=0, **more):
    """The rate over the sum of these latencies, in seconds."""
    seconds = sum(latencies) * ops / len(latencies) if latencies else 0.0
    steps = {name: latencies, **more}
    report(ops, seconds, violations, **{step: [each * 1e6 for each in of] for step, of in steps.items()})


def fail(cause):
    say(error=repr(cause))
    os._exit(1)


def start(work, *arguments):
    def guarded():
        try:
            work(*arguments)
        except BaseException as cause:
            fail(cause)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    return thread


def join(threads):
    for thread in threads:
        thread.join()


def clients(count, address="connect"):
    started = [KazooClient(hosts=WORDS[address], timeout=SESSION_SECONDS) for _ in range(count)]
    for connected in [client.start_async() for client in started]:
        if not connected.wait(30):
            raise RuntimeError("no connection")
    return started


def until_children(observer, count):
    """Waits until so many children stand there, over a session that is not measured."""
    while True:
        stat = observer.exists(ROOT)
        if stat is not None and stat.numChildren >= count:
            return
        time.sleep(LOOK_SECONDS)


def serve(rounds):
    """`rounds` makes that many operations and returns what reports them."""
    if number("warm"):
        rounds(number("warm"))
    while (ops := next_order()) is not None:
        rounds(ops)()


def requests():
    (client,) = clients(1)
    client.ensure_path(ROOT)

    def rounds(count):
        begun = now()
        for _ in range(count):
            path = client.create(ROOT + "/n-", b"", ephemeral=True, sequence=True)
            client.get_children(ROOT)
            client.delete(path)
        seconds = now() - begun
        return lambda: report(count, seconds)

    serve(rounds)


def lock():
    (client,) = clients(1)
    own = client.Lock(ROOT)

    def rounds(count):
        acquires, whole = [], []
        for _ in range(count):
            begun = now()
            own.acquire()
            acquires.append(now() - begun)
            own.release()
            whole.append(now() - begun)
        return lambda: report_latencies(count, "whole", whole, acquire=acquires)

    serve(rounds)


class HandOvers:
    """Hand-overs of a lock: from the call of a release until the next holder has it."""

    def __init__(self):
        self.inside = self.violations = 0
        self.released = None
        self.latencies = []

    def entered(self):
        at = now()
        self.inside += 1
        if self.inside > 1:
            self.violations += 1
        if self.released is not None:
            self.latencies.append(at - self.released)
        self.released = None

    def leaving(self):
        self.inside -= 1
        self.released = now()


def hand_over():
    hold = number("hold_ms") / 1e3
    locks = [client.Lock(ROOT) for client in clients(number("clients"))]

    def rounds(count):
        each = -(-count // len(locks))
        hand_overs = HandOvers()

        def contend(own):
            for _ in range(each):
                own.acquire()
                hand_overs.entered()
                if hold:
                    time.sleep(hold)
                hand_overs.leaving()
                own.release()

        join([start(contend, own) for own in locks])
        ops = each * len(locks)
        return lambda: report_latencies(ops, "hand_over", hand_overs.latencies, hand_overs.violations)

    serve(rounds)


def shared_lock():
    readers, settle = number("clients"), number("settle_ms") / 1e3
    (writing,), (observer,) = clients(1), clients(1, "direct")
    writer = writing.WriteLock(ROOT)
    locks = [client.ReadLock(ROOT) for client in clients(readers)]

    def rounds(count):
        latencies = []
        for _ in range(count):
            writer.acquire()
            times, together = [], threading.Barrier(readers)

            def read(own):
                own.acquire()
                times.append(now())
                together.wait()
                own.release()

            threads = [start(read, own) for own in locks]
            until_children(observer, readers + 1)
            time.sleep(settle)
            begun = now()
            writer.release()
            join(threads)
            latencies.append(max(times) - begun)
        return lambda: report_latencies(count, "readers in", latencies)

    serve(rounds)


def election():
    candidates, settle = number("clients"), number("settle_ms") / 1e3
    (observer,) = clients(1, "direct")
    leaders = queue.Queue()

    def stand(client):
        over = threading.Event()

        def lead():
            leaders.put((client, over, now()))
            over.wait()

        try:
            client.Election(ROOT).run(lead)
        except Exception:
            # A leader whose session was closed cannot resign.
            if not over.is_set():
                raise

    standing, leader = 0, None
    while True:
        for client in clients(candidates - standing):
            start(stand, client)
        until_children(observer, candidates)
        standing = candidates
        leader = leader or leaders.get()
        time.sleep(settle)
        ops = next_order()
        if ops is None:
            return
        latencies = []
        for _ in range(ops):
            client, over, _ = leader
            begun = now()
            over_soon = over.set
            start(lambda client=client, over_soon=over_soon: (client.stop(), over_soon()))
            leader = leaders.get()
            latencies.append(leader[2] - begun)
            standing -= 1
            time.sleep(settle)
        report_latencies(ops, "fail_over", latencies)


def barrier():
    participants = number("clients")
    all_clients = clients(participants)
    all_clients[0].ensure_path(ROOT)
    made = [0]

    def rounds(count):
        first = made[0]
        made[0] += count
        enters, leaves = [0.0] * count, [0.0] * count
        together = threading.Barrier(participants)

        def participate(client):
            for at in range(count):
                own = client.DoubleBarrier("%s/%d" % (ROOT, first + at), participants)
                together.wait()
                begun = now()
                own.enter()
                enters[at] = max(enters[at], now() - begun)
                together.wait()
                begun = now()
                own.leave()
                leaves[at] = max(leaves[at], now() - begun)

        join([start(participate, client) for client in all_clients])
        whole = [enter + leave for enter, leave in zip(enters, leaves)]
        return lambda: report_latencies(count, "whole", whole, enter=enters, leave=leaves)

    serve(rounds)


def item(index):
    return b"%-20d" % index


def queues():
    batch, made = number("batch"), [0]
    taken = queue.Queue()
    is_locking = RECIPE == "LockingQueue"

    def of(client):
        return client.LockingQueue(ROOT) if is_locking else client.Queue(ROOT)

    producers = [of(client) for client in clients(number("producers"))]
    # The first use of a queue makes its directories, which two clients cannot do at the same time.
    consumers = [of(client) for client in clients(number("consumers"))]
    work_left = threading.Semaphore(0)

    def put(own, first, count):
        for index in range(first, first + count, batch):
            if batch > 1:
                own.put_all([item(each) for each in range(index, min(index + batch, first + count))])
            else:
                own.put(item(index))

    def take(own):
        while True:
            if is_locking:
                got = own.get()
                own.consume()
                taken.put(got)
                continue
            work_left.acquire()
            while (got := own.get()) is None:
                time.sleep(POLL_SECONDS)
            taken.put(got)

    def rounds(count):
        each = -(-count // len(producers))
        ops = each * len(producers)
        begun = now()
        work_left.release(ops)
        threads = []
        for own in producers:
            threads.append(start(put, own, made[0], each))
            made[0] += each
        distinct = {taken.get() for _ in range(ops)}
        seconds = now() - begun
        join(threads)
        return lambda: report(ops, seconds, ops - len(distinct))

    put(producers[0], 0, 1)
    for own in consumers[:1]:
        start(take, own)
    work_left.release()
    taken.get()
    for own in consumers[1:]:
        start(take, own)
    serve(rounds)


def counter():
    (observer,) = clients(1, "direct")
    counters = [client.Counter(ROOT) for client in clients(number("clients"))]

    def rounds(count):
        each = -(-count // len(counters))
        ops = each * len(counters)
        before = observer.Counter(ROOT).value
        adds = []

        def add(own):
            for _ in range(each):
                begun = now()
                # A change that is refused is repeated, after 100 ms and then longer, until it is done.
                own += 1
                adds.append((now() - begun) * 1e6)

        begun = now()
        join([start(add, own) for own in counters])
        seconds = now() - begun
        added = observer.Counter(ROOT).value - before
        return lambda: report(ops, seconds, abs(added - ops), add=adds)

    serve(rounds)


def semaphore():
    permits = number("permits")
    semaphores = [client.Semaphore(ROOT, permits) for client in clients(number("clients"))]
    counting = threading.Lock()

    def rounds(count):
        each = -(-count // len(semaphores))
        held, violations, whole = [0], [0], []

        def contend(own):
            for _ in range(each):
                begun = now()
                own.acquire()
                with counting:
                    violations[0] += held[0] >= permits
                    held[0] += 1
                with counting:
                    held[0] -= 1
                own.release()
                whole.append((now() - begun) * 1e6)

        begun = now()
        join([start(contend, own) for own in semaphores])
        seconds = now() - begun
        return lambda: report(each * len(semaphores), seconds, violations[0], whole=whole)

    serve(rounds)


def idle():
    (holding,), (client,) = clients(1, "direct"), clients(1)
    held = holding.Lock(ROOT)
    held.acquire()
    waiters = next_order()
    if waiters is None:
        return

    def wait():
        own = client.Lock(ROOT)
        own.acquire()
        own.release()

    begun = now()
    threads = [start(wait) for _ in range(waiters)]
    until_children(holding, waiters + 1)
    report(waiters, now() - begun)
    if next_order() is None:
        return
    begun = now()
    held.release()
    join(threads)
    report(waiters, now() - begun)
    next_order()


class Contender:
    """A contender for a lock."""

    def __init__(self, client, name, kind, path):
        make = {"lock": client.Lock, "read": client.ReadLock, "write": client.WriteLock}[kind]
        self.client, self.lock, self.inside = client, make(path, name), path + "-inside"
        self.prefix = self.inside + ("/read-" if kind == "read" else "/write-")

    def enter(self):
        self.lock.acquire()
        self.own = self.client.create(self.prefix, ephemeral=True, sequence=True)
        names = self.client.get_children(self.inside)
        if len(names) > 1 and any(name.startswith("write-") for name in names):
            raise RuntimeError("it is not alone: %s" % names)

    def leave(self):
        self.client.delete(self.own)
        self.lock.release()


def session():
    """Contends for locks on request: src/interop/theirs.rs has the orders."""
    (client,) = clients(1)
    contenders = {}

    def does(event, name, *steps):
        for step in steps:
            step()
        say(event=event, id=name)

    say(ready=True)
    for line in sys.stdin:
        order, *words = line.split()
        if order == "acquire":
            contenders[words[0]] = Contender(client, *words)
            start(does, "acquired", words[0], contenders[words[0]].enter)
        elif order == "release":
            start(does, "released", words[0], contenders.pop(words[0]).leave)
        elif order == "turns":
            one = Contender(client, *words[:3])
            start(does, "turned", words[0], *[one.enter, one.leave] * int(words[3]))
        else:
            say(event="pong", id="")


WORKLOADS = {
    "requests": requests,
    "lock": lock,
    "hand-over": hand_over,
    "shared-lock": shared_lock,
    "election": election,
    "barrier": barrier,
    "queue": queues,
    "counter": counter,
    "semaphore": semaphore,
    "idle": idle,
    "session": session,
}

if __name__ == "__main__":
    try:
        WORKLOADS[WORDS["workload"]]()
    except BaseException as failure:
        fail(failure)
    # Sessions end with the process.
    os._exit(0)
