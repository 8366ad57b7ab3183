#!/usr/bin/env python3
"""Measures a served member beside a standalone Apache ZooKeeper, in one run: starts, memory, requests, lock cycles.

    ZKSIM=target/release/zksim scenarios/serve/foreign/speed.py [PART…]

The parts are start, requests, kazoo, curator, crowd; without one all of them run. The real server keeps its data in memory (/dev/shm) and compiles
with all tiers. Each pair of figures is measured in turns, and the median of the turns is printed, with the ratio. `crowd` is about the served member
alone: a thousand connections, ten thousand sessions, clients that do not read or send nonsense, and one whose requests are timed beside them.
"""

import contextlib
import os
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

import run

HERE = pathlib.Path(__file__).resolve().parent
REAL = ("-XX:TieredStopAtLevel=4", "-Xmx1g")
TURNS = 5
SECONDS = 3.0
CLIENTS = (1, 32)


class Raw:
    """A session without a library: frames that are made before the clock runs."""

    def __init__(self, address, timeout_ms=10_000):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send(struct.pack(">iqiqi16sB", 0, 0, timeout_ms, 0, 16, b"", 0))
        self.read = self.socket.makefile("rb", 1 << 20)
        self.frame()

    def send(self, body):
        self.socket.sendall(struct.pack(">i", len(body)) + body)

    def frame(self):
        (length,) = struct.unpack(">i", self.read.read(4))
        return self.read.read(length)

    def rate(self, frames):
        """Sends all frames, at most a thousand ahead of the answers. Returns the requests per second."""
        begin = time.perf_counter()
        ahead = threading.Semaphore(10)

        def send():
            for at in range(0, len(frames), 100):
                ahead.acquire()
                self.socket.sendall(b"".join(frames[at : at + 100]))

        sender = threading.Thread(target=send)
        sender.start()
        for at in range(len(frames)):
            (length,) = struct.unpack(">i", self.read.read(4))
            self.read.read(length)
            if at % 100 == 99:
                ahead.release()
        sender.join()
        return len(frames) / (time.perf_counter() - begin)

    def close(self):
        self.socket.close()


def text(value):
    data = value.encode()
    return struct.pack(">i", len(data)) + data


def request(xid, op, body):
    return struct.pack(">iii", 8 + len(body), xid, op) + body


def exists(xid):
    return request(xid, 3, text("/") + b"\0")


def create(path):
    acl = struct.pack(">ii", 1, 31) + text("world") + text("anyone")
    return lambda xid: request(xid, 1, text(f"{path}{xid}") + struct.pack(">i", 100) + b"x" * 100 + acl + struct.pack(">i", 0))


def get(path):
    return lambda xid: request(xid, 4, text(path) + b"\0")


def write(path):
    return lambda xid: request(xid, 5, text(path) + struct.pack(">i", 100) + b"y" * 100 + struct.pack(">i", -1))


@contextlib.contextmanager
def member(place):
    with tempfile.TemporaryDirectory(prefix="speed-", dir="/dev/shm") as folder:
        properties = REAL if place == "real" else ()
        with run.ENSEMBLES[place](pathlib.Path(folder), properties, members=1, tick_ms=2000) as (connect, control):
            yield connect, control


def memory_of_children():
    """The resident memory of the process that was started last, in MB."""
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    status = pathlib.Path(f"/proc/{children[-1]}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024


def ready():
    """The time from the start of the program to its answer to `ruok`, in milliseconds."""
    begin = time.perf_counter()
    with subprocess.Popen([os.environ["ZKSIM"], "serve"], stdout=subprocess.PIPE, text=True) as server:
        host, port = server.stdout.readline().strip().rsplit(":", 1)
        with socket.create_connection((host, int(port))) as stream:
            stream.sendall(b"ruok")
            assert stream.recv(4) == b"imok"
        took = (time.perf_counter() - begin) * 1000
        server.terminate()
        server.wait()
    return took


def start():
    print(f"ready: {statistics.median(ready() for _ in range(21)):.1f} ms, the median of 21 starts")
    for place in ("sim", "real"):
        begin = time.perf_counter()
        with member(place) as (connect, _):
            took = time.perf_counter() - begin
            Raw(connect).close()
            print(f"{place}: {took * 1000:.0f} ms until it serves, {memory_of_children():.1f} MB when idle")


def compare(name, measure):
    """Prints the medians of both places, and how many times faster the served one is."""
    with member("sim") as (sim, _), member("real") as (real, _):
        for address in (sim, real):
            measure(address)
        rates = [(measure(sim), measure(real)) for _ in range(TURNS)]
    ours, theirs = (statistics.median(each) for each in zip(*rates))
    ratio = statistics.median(a / b for a, b in rates)
    print(f"{name:<28} {ours:>10,.0f}/s {theirs:>10,.0f}/s {ratio:>6.2f} x", flush=True)


def requests(count=20_000):
    def of(make, before=()):
        names = iter(range(1, 1 << 30))

        def measure(address):
            raw = Raw(address)
            for frame in before:
                raw.socket.sendall(frame(next(names)))
                raw.frame()
            frames = [make(next(names)) for _ in range(count)]
            rate = raw.rate(frames)
            raw.close()
            return rate

        return measure

    print("requests of one client that pipelines: served, real, ratio")
    compare("exists", of(exists))
    compare("get of 100 bytes", of(get("/read0"), [lambda xid: create("/read")(0)]))
    compare("set of 100 bytes", of(write("/written0"), [lambda xid: create("/written")(0)]))
    compare("create of 100 bytes", of(create("/made")))


def kazoo():
    from kazoo.client import KazooClient

    def of(count):
        def measure(address):
            clients = [KazooClient(address, timeout=20) for _ in range(count)]
            for client in clients:
                client.start()
            cycles, end = [0] * count, time.perf_counter() + SECONDS

            def turn(number):
                lock = clients[number].Lock("/lock", str(number))
                while time.perf_counter() < end:
                    with lock:
                        cycles[number] += 1

            threads = [threading.Thread(target=turn, args=(number,)) for number in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for client in clients:
                client.stop()
                client.close()
            return sum(cycles) / SECONDS

        return measure

    print("cycles of one lock of Kazoo: served, real, ratio")
    for count in CLIENTS:
        compare(f"{count} clients", of(count))


def curator():
    jars = [
        "curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute", "guava", "slf4j-api", "netty-all",
    ]
    paths = ":".join(f"/usr/share/java/{jar}.jar" for jar in jars)
    with tempfile.TemporaryDirectory(prefix="speed-") as folder:
        run.build(["javac", "-cp", paths, "-d", folder, HERE / "CuratorLocks.java"])

        def of(count):
            def measure(address):
                command = ["java", "-cp", f"{folder}:{paths}", "CuratorLocks", address, str(count), str(SECONDS)]
                return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

            return measure

        print("cycles of one lock of Curator: served, real, ratio")
        for count in CLIENTS:
            compare(f"{count} clients", of(count))


def crowd():
    with member("sim") as (address, _):
        host, port = address.rsplit(":", 1)
        raw = Raw(address)
        alone = raw.rate([exists(xid) for xid in range(1, 20_001)])
        begin = time.perf_counter()
        connected = [Raw(address, 40_000) for _ in range(1000)]
        print(f"1,000 connections in {time.perf_counter() - begin:.2f} s, {memory_of_children():.1f} MB")
        begin = time.perf_counter()
        for _ in range(9000):
            Raw(address, 40_000).close()
        print(f"10,000 sessions in {time.perf_counter() - begin:.2f} s, {memory_of_children():.1f} MB")
        raw.socket.sendall(create("/big")(0))
        raw.frame()
        deaf = [socket.create_connection((host, int(port))) for _ in range(10)]
        for stream in deaf:
            stream.settimeout(1)
            with contextlib.suppress(OSError):
                stream.sendall(struct.pack(">iiqiqi16sB", 45, 0, 0, 10_000, 0, 16, b"", 0))
                stream.sendall(b"".join(get("/big0")(xid) for xid in range(50_000)))
        half_open = [socket.create_connection((host, int(port))) for _ in range(100)]
        for stream in half_open:
            stream.sendall(b"\0\0")
        for at in range(100):
            with socket.create_connection((host, int(port))) as stream:
                stream.sendall(os.urandom(64))
        frames = [exists(xid) for xid in range(1, 20_001)]
        busy = raw.rate(frames)
        beside = raw.rate(frames)
        print(f"exists: {alone:,.0f}/s alone, {busy:,.0f}/s while half a million other requests are answered, {beside:,.0f}/s beside their")
        print(f"clients, which do not read; {memory_of_children():.1f} MB")
        for each in [*connected, raw]:
            each.close()
        for stream in [*deaf, *half_open]:
            stream.close()


PARTS = {"start": start, "requests": requests, "kazoo": kazoo, "curator": curator, "crowd": crowd}

if __name__ == "__main__":
    wanted = sys.argv[1:] or list(PARTS)
    if any(name not in PARTS for name in wanted) or "ZKSIM" not in os.environ:
        sys.exit(f"{__doc__}\nParts: {' '.join(PARTS)}; ZKSIM names the program")
    for name in wanted:
        PARTS[name]()
