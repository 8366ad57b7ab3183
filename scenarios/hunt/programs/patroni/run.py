#!/usr/bin/python3
"""Patroni with three PostgreSQL servers on one machine, its leader key in a served ensemble, under faults.

    run.py --zksim target/release/zksim --for 60m --seed 1 --out target/patroni

A writer for each node tries an insert every 100 ms, on that node itself. What was acknowledged, and when, decides: two
primaries are two nodes that both go on acknowledging writes; no primary is a time without any. It needs Debian's packages
patroni, postgresql-15 and python3-psycopg2. Everything lies in a temporary folder, and listens on the loopback interface.

The exit status is 0 if neither was seen beyond what Patroni's documentation announces, 1 if it was, 3 if something cannot
be started.
"""

import argparse
import bisect
import json
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import psycopg2

TTL, LOOP_WAIT, RETRY_TIMEOUT = 20, 5, 5
# After the end of a fault: the leader key may last a ttl, then a round of the loop, a promotion and a rewind.
RECOVERY = TTL + LOOP_WAIT + 60
NODES = ["n1", "n2", "n3"]
SCOPE = "/service/hunted"
LEADER = SCOPE + "/leader"
EVERY = 0.1


def now():
    return time.monotonic()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def duration(text):
    for unit, seconds in (("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)):
        number = text.removesuffix(unit)
        if number != text:
            try:
                return float(number) * seconds
            except ValueError:
                continue
    raise argparse.ArgumentTypeError(f"{text!r} is not a duration, such as 10m")


class Ensemble:
    """A served ensemble, and its control API."""

    def __init__(self, zksim, out):
        self.history = os.path.join(out, "history.jsonl")
        self.process = subprocess.Popen(
            [zksim, "serve", "--servers", "3", "--check", "--history", self.history],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=open(os.path.join(out, "serve.log"), "w"),
            text=True,
        )
        self.servers = self.process.stdout.readline().strip()
        control = self.process.stdout.readline().split()
        if len(control) != 2:
            raise SystemExit("the ensemble does not start: serve.log has what it says")
        self.address = control[1]

    def call(self, method, verb, fields=None):
        body = json.dumps(fields or {}).encode() if method == "POST" else None
        request = urllib.request.Request(f"{self.address}/{verb}", data=body, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def do(self, verb, **fields):
        return self.call("POST", verb, fields)

    def owner(self, path):
        """The session that owns an ephemeral, if it is there."""
        for session in self.call("GET", "sessions")["sessions"]:
            if path in session["ephemerals"]:
                return session["session"]
        return None

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode


class Node:
    """Patroni and its PostgreSQL server."""

    def __init__(self, name, folder, servers, user, log):
        self.name, self.user, self.log = name, user, log
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder)
        self.data = os.path.join(self.folder, "data")
        self.port, self.rest = free_port(), free_port()
        self.process = None
        self.config = os.path.join(self.folder, "patroni.yml")
        hosts = ", ".join(f"'{server}'" for server in servers.split(","))
        with open(self.config, "w") as file:
            file.write(f"""
scope: hunted
name: {name}
restapi: {{listen: '127.0.0.1:{self.rest}', connect_address: '127.0.0.1:{self.rest}'}}
zookeeper: {{hosts: [{hosts}]}}
bootstrap:
  dcs:
    ttl: {TTL}
    loop_wait: {LOOP_WAIT}
    retry_timeout: {RETRY_TIMEOUT}
    maximum_lag_on_failover: 104857600
    postgresql: {{use_pg_rewind: true, parameters: {{max_connections: 40, wal_keep_size: 256MB}}}}
  initdb: [{{encoding: UTF8}}, data-checksums, {{auth-local: trust}}, {{auth-host: trust}}]
postgresql:
  listen: 127.0.0.1:{self.port}
  connect_address: 127.0.0.1:{self.port}
  data_dir: {self.data}
  bin_dir: /usr/lib/postgresql/15/bin
  pgpass: {self.folder}/pgpass
  authentication:
    superuser: {{username: postgres, password: none}}
    replication: {{username: replicator, password: none}}
    rewind: {{username: postgres, password: none}}
  parameters: {{unix_socket_directories: '{self.folder}', shared_buffers: 32MB}}
  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
watchdog: {{mode: 'off'}}
""")
        shutil.chown(self.folder, user.pw_uid, user.pw_gid)
        shutil.chown(self.config, user.pw_uid, user.pw_gid)

    def start(self):
        as_user = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        self.process = subprocess.Popen(
            ["/usr/bin/patroni", self.config],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
            env={"PATH": "/usr/bin:/bin", "HOME": self.folder, "LC_ALL": "C.UTF-8"},
            **as_user,
        )

    def postmaster(self):
        try:
            with open(os.path.join(self.data, "postmaster.pid")) as file:
                return int(file.readline())
        except (OSError, ValueError):
            return None

    def postgres(self):
        """The processes of its server. The file that names the first may be left of a former one."""
        first = self.postmaster()
        if first is None or not is_postgres(first, self.data):
            return []
        return [first] + children_of(first)

    def signal_all(self, pids, which):
        for pid in pids:
            try:
                os.kill(pid, which)
            except ProcessLookupError:
                pass

    def end(self):
        if self.process is not None:
            self.signal_all([self.process.pid] if self.process.poll() is None else [], signal.SIGCONT)
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
        self.signal_all(self.postgres(), signal.SIGCONT)
        self.signal_all(self.postgres()[:1], signal.SIGQUIT)
        until = now() + 10
        while self.postgres() and now() < until:
            threading.Event().wait(0.1)
        self.signal_all(self.postgres(), signal.SIGKILL)


def is_postgres(pid, data):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return data.encode() in file.read()
    except OSError:
        return False


def children_of(parent):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    if int(file.read().rsplit(")", 1)[1].split()[1]) == parent:
                        found.append(int(entry))
            except (OSError, IndexError, ValueError):
                continue
    return found


class Writer(threading.Thread):
    """Tries to write on one node, over and over."""

    def __init__(self, node, stop):
        super().__init__(name=f"writer-{node.name}", daemon=True)
        self.node, self.stop = node, stop
        # Of each attempt: its number, begin and end, and whether it was acknowledged.
        self.attempts = []

    def run(self):
        connection, number = None, 0
        while not self.stop.wait(EVERY):
            number += 1
            begin = now()
            try:
                if connection is None or connection.closed:
                    connection = psycopg2.connect(
                        host="127.0.0.1", port=self.node.port, user="postgres", dbname="postgres", connect_timeout=2,
                        options="-c statement_timeout=2000 -c lock_timeout=1000",
                    )
                    connection.autocommit = True
                with connection.cursor() as cursor:
                    cursor.execute("CREATE TABLE IF NOT EXISTS written (node text, number int)"
                                   if number % 50 == 1 and self.creates() else "SELECT 1")
                    cursor.execute("INSERT INTO written VALUES (%s, %s)", (self.node.name, number))
                self.attempts.append((number, begin, now(), True))
            except psycopg2.Error:
                self.attempts.append((number, begin, now(), False))
                if connection is not None and connection.closed:
                    connection = None

    def creates(self):
        return not any(acknowledged for _, _, _, acknowledged in self.attempts[-50:])


def two_primaries(writers):
    """Times at which a node acknowledged a write between two of another that had no failure in between."""
    found = []
    for one in writers:
        others = []
        for other in writers:
            if other is not one:
                others += [(begin, end, other.node.name) for _, begin, end, fine in other.attempts if fine]
        others.sort()
        begins = [begin for begin, _, _ in others]
        for (_, _, end, fine), (_, begin, last, again) in zip(one.attempts, one.attempts[1:]):
            if not (fine and again):
                continue
            for index in range(bisect.bisect_right(begins, end), len(others)):
                if others[index][0] >= begin:
                    break
                if others[index][1] < begin:
                    found.append((end, last, one.node.name, others[index][2]))
    found.sort()
    # Those of the same pair that lie within a second of each other are one time.
    times = []
    for begin, end, one, other in found:
        pair = sorted((one, other))
        if times and times[-1]["nodes"] == pair and begin - times[-1]["until"] < 1:
            times[-1]["until"] = max(times[-1]["until"], end)
            times[-1]["writes"] += 1
        else:
            times.append({"nodes": pair, "from": begin, "until": end, "writes": 1})
    return times


def without_primary(writers, begin, end):
    """The times between acknowledged writes, of any node."""
    acknowledged = sorted(last for writer in writers for _, _, last, fine in writer.attempts if fine and begin <= last <= end)
    edges = [begin] + acknowledged + [end]
    return [(later - earlier, earlier) for earlier, later in zip(edges, edges[1:])]


class Run:
    def __init__(self, options, folder):
        self.options = options
        self.random = random.Random(options.seed)
        self.folder = folder
        self.begin = now()
        self.faults = []
        self.nodes, self.writers = [], []
        self.ensemble = None
        self.stop = threading.Event()
        self.beliefs = None

    def at(self, moment):
        return round(moment - self.begin, 3)

    def say(self, text):
        print(f"{self.at(now()):9.3f}  {text}", flush=True)

    def start(self):
        user = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        os.chmod(self.folder, 0o755)
        self.ensemble = Ensemble(self.options.zksim, self.options.out)
        log = open(os.path.join(self.options.out, "patroni.log"), "w")
        for name in NODES:
            self.nodes.append(Node(name, self.folder, self.ensemble.servers, user, log))
        self.nodes[0].start()
        self.writers = [Writer(node, self.stop) for node in self.nodes]
        for writer in self.writers:
            writer.start()
        if not self.until_written(120):
            raise SystemExit("no primary after 120 s: patroni.log has what Patroni says")
        for node in self.nodes[1:]:
            node.start()
        until = now() + 120
        while self.roles() != ["primary", "standby", "standby"] and now() < until:
            self.stop.wait(1)
        if self.roles() != ["primary", "standby", "standby"]:
            raise SystemExit("no two standbys after 120 s: patroni.log has what Patroni says")

    def roles(self):
        roles = []
        for node in self.nodes:
            try:
                connection = psycopg2.connect(host="127.0.0.1", port=node.port, user="postgres", dbname="postgres",
                                              connect_timeout=2)
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_is_in_recovery()")
                    roles.append("standby" if cursor.fetchone()[0] else "primary")
                connection.close()
            except psycopg2.Error:
                roles.append("down")
        return sorted(roles)

    def until_written(self, seconds):
        """Waits for a write that begins from now on and is acknowledged."""
        since, until = now(), now() + seconds
        while now() < until:
            for writer in self.writers:
                if any(fine and begin >= since for _, begin, _, fine in writer.attempts[-20:]):
                    return True
            if self.stop.wait(0.2):
                return True
        return False

    def leader(self):
        """The node that owns the leader key, if there is one."""
        session = self.ensemble.owner(LEADER)
        for node in self.nodes:
            if session is not None and self.ensemble.owner(f"{SCOPE}/members/{node.name}") == session:
                return node, session
        return self.random.choice(self.nodes), session

    def wait(self, seconds):
        self.stop.wait(seconds)

    # Each fault returns how long it lasts, and whose Patroni did not get to run: only a watchdog saves from that.

    def fault_lost_reply(self):
        op = self.random.choice(["create", "set", "delete", "multi"])
        path = self.random.choice([LEADER, SCOPE])
        self.ensemble.do("lose-reply", op=op, path=path)
        return f"the reply to the next {op} below {path} is lost", 10, None

    def fault_expiry(self):
        node, session = self.leader()
        if session is None:
            return None
        self.ensemble.do("expire", client=session)
        return f"the session of the leader {node.name} expires", 0, None

    def link(self, verb):
        node, session = self.leader()
        if session is None:
            return None
        seconds = self.random.randint(3, 35)
        self.ensemble.do(verb, client=session, **{"for": f"{seconds}s"})
        return f"{verb} of the leader {node.name}, {seconds} s", seconds, None

    def fault_partition(self):
        return self.link("partition")

    def fault_deafen(self):
        return self.link("deafen")

    def fault_mute(self):
        return self.link("mute")

    def server(self, verb, seconds):
        server = self.random.randrange(3)
        self.ensemble.do(verb, server=server, **{"for": f"{seconds}s"})
        return f"{verb} of server {server}, {seconds} s", seconds, None

    def fault_server_crash(self):
        return self.server("crash", self.random.randint(2, 30))

    def fault_server_pause(self):
        return self.server("pause", self.random.randint(2, 30))

    def fault_server_cut(self):
        return self.server("cut", self.random.randint(2, 30))

    def fault_election(self):
        self.ensemble.do("elect")
        return "the leader of the ensemble crashes", 0, None

    def stopped(self, what, pids, node, seconds, shielded):
        node.signal_all(pids, signal.SIGSTOP)
        self.wait(seconds)
        node.signal_all(pids, signal.SIGCONT)
        return f"{what} of {node.name} stopped, {seconds} s", 0, shielded

    def fault_patroni_stopped(self):
        node, _ = self.leader()
        return self.stopped("Patroni", [node.process.pid], node, self.random.randint(3, 40), node)

    def fault_postgres_stopped(self):
        node, _ = self.leader()
        return self.stopped("PostgreSQL", node.postgres(), node, self.random.randint(3, 40), None)

    def fault_node_stopped(self):
        node, _ = self.leader()
        pids = [node.process.pid] + node.postgres()
        return self.stopped("Patroni and PostgreSQL", pids, node, self.random.randint(3, 40), node)

    def fault_patroni_killed(self):
        node, _ = self.leader()
        seconds = self.random.randint(2, 40)
        node.process.kill()
        node.process.wait()
        self.wait(seconds)
        node.start()
        return f"Patroni of {node.name} killed, started again after {seconds} s", 0, node

    def fault_postgres_killed(self):
        node, _ = self.leader()
        node.signal_all(node.postgres()[:1], signal.SIGKILL)
        return f"PostgreSQL of {node.name} killed", 0, None

    def strike(self, name):
        begin = now()
        struck = getattr(self, "fault_" + name)()
        if struck is None:
            return
        text, lasts, shielded = struck
        self.say(text)
        self.wait(max(0, begin + lasts - now()))
        self.ensemble.do("heal")
        end = now()
        recovered = self.until_written(RECOVERY)
        self.faults.append({
            "kind": name.replace("_", " "), "text": text, "from": self.at(begin), "until": self.at(end),
            "needs_watchdog": shielded.name if shielded else None,
            "recovered_after": self.at(now()) - self.at(end) if recovered else None,
        })
        if not recovered:
            self.say(f"no primary within {RECOVERY} s")

    def hostile(self):
        names = sorted(name.removeprefix("fault_") for name in dir(self) if name.startswith("fault_"))
        if self.options.only:
            names = [name for name in names if name.replace("_", "-") in self.options.only]
        until = now() + self.options.lasts
        while now() < until and not self.stop.is_set():
            round_ = names[:]
            self.random.shuffle(round_)
            for name in round_:
                if now() >= until or self.stop.is_set():
                    break
                self.strike(name)
                # The standbys follow again before the next one, at best.
                quiet = now() + 30
                while self.roles() != ["primary", "standby", "standby"] and now() < quiet and not self.stop.is_set():
                    self.wait(1)
                self.wait(self.random.randint(2, 8))

    def cause(self, moment):
        """The faults that may have led to something at that time."""
        return [fault for fault in self.faults if fault["from"] <= moment <= fault["until"] + RECOVERY]

    def verdict(self, began, ended):
        pairs = two_primaries(self.writers)
        told, announced = [], []
        for pair in pairs:
            moment = self.at(pair["from"])
            causes = self.cause(moment)[-2:]
            entry = {"nodes": pair["nodes"], "from": moment, "seconds": round(pair["until"] - pair["from"], 3),
                     "writes": pair["writes"], "faults": [fault["text"] for fault in causes]}
            excused = any(fault["needs_watchdog"] in pair["nodes"] for fault in causes)
            (announced if excused else told).append(entry)
        gaps = sorted(without_primary(self.writers, began, ended), reverse=True)
        acknowledged = {(writer.node.name, number) for writer in self.writers for number, _, _, fine in writer.attempts if fine}
        kept = self.kept()
        kinds = {}
        for fault in self.faults:
            kinds[fault["kind"]] = kinds.get(fault["kind"], 0) + 1
        return {
            "program": "Patroni", "version": self.version(), "seed": self.options.seed,
            "settings": {"ttl": TTL, "loop_wait": LOOP_WAIT, "retry_timeout": RETRY_TIMEOUT, "watchdog": "off",
                         "replication": "asynchronous"},
            "seconds": round(ended - began), "faults": len(self.faults), "faults_by_kind": kinds,
            "writes_tried": sum(len(writer.attempts) for writer in self.writers),
            "writes_acknowledged": len(acknowledged),
            "two_primaries": told, "two_primaries_announced": announced,
            "never_recovered": [fault["text"] for fault in self.faults if fault["recovered_after"] is None],
            "slowest_recovery": max((fault["recovered_after"] or 0 for fault in self.faults), default=None),
            "longest_without_primary": round(gaps[0][0], 3), "at": self.at(gaps[0][1]),
            "acknowledged_and_lost": None if kept is None else len(acknowledged - kept),
        }

    def version(self):
        return subprocess.run(["/usr/bin/patroni", "--version"], capture_output=True, text=True).stdout.split()[-1]

    def kept(self):
        """The writes that the primary has in the end."""
        for node in self.nodes:
            try:
                connection = psycopg2.connect(host="127.0.0.1", port=node.port, user="postgres", dbname="postgres",
                                              connect_timeout=5)
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_is_in_recovery()")
                    if not cursor.fetchone()[0]:
                        cursor.execute("SELECT node, number FROM written")
                        return set(cursor.fetchall())
            except psycopg2.Error:
                continue
        return None

    def end(self):
        self.stop.set()
        for node in self.nodes:
            node.end()
        if self.ensemble is not None:
            return self.ensemble.end()
        return None


def main():
    parser = argparse.ArgumentParser(description="Patroni with three PostgreSQL servers, under faults")
    parser.add_argument("--zksim", default="target/release/zksim", help="the program that serves the ensemble")
    parser.add_argument("--for", dest="lasts", type=duration, default="10m", help="how long faults strike, such as 60m")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="target/patroni", help="folder of logs, history and result.json")
    parser.add_argument("--only", nargs="*", help="kinds of fault, such as lost-reply expiry; default: all")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="hunted-patroni-")
    run = Run(options, folder)
    for which in (signal.SIGINT, signal.SIGTERM):
        signal.signal(which, lambda *_: run.stop.set())
    try:
        run.start()
        run.say("a primary and two standbys")
        began = now()
        run.hostile()
        run.ensemble.do("heal")
        run.until_written(RECOVERY)
        result = run.verdict(began, now())
    finally:
        status = run.end()
        shutil.rmtree(folder, ignore_errors=True)
    result["ensemble"] = {0: "no promise of ZooKeeper was broken"}.get(status, f"judged with exit status {status}: see serve.log")
    with open(os.path.join(options.out, "result.json"), "w") as file:
        json.dump({**result, "every_fault": run.faults}, file, indent=1)
    print(json.dumps(result, indent=1))
    return 1 if result["two_primaries"] or result["never_recovered"] else 0


if __name__ == "__main__":
    sys.exit(main())
