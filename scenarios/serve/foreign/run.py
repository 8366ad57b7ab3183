#!/usr/bin/env python3
"""Runs clients of other languages against three served members, and against three Apache ZooKeeper servers.

    run.py sim CLIENT…      against `zksim serve`, the binary that ZKSIM names or the one on PATH
    run.py real CLIENT…     against three servers of the installed Apache ZooKeeper (Debian's package, or ZOOKEEPER_HOME)
    run.py both CLIENT…     against both; every line in which their outputs differ is printed
    run.py server sim|real PROPERTY…    one server with those system properties; it prints its address, and ends with its input

Without a client all of them run. A client is a program that is given a connect string and the address of the control API. It prints
one line for each thing that it has checked, and ends with status 0, or with the line that failed. The real ensemble has a control
API too, with the two requests that the clients make: `POST /restart` and `GET /status`.

The status is 0 if every client passed everywhere, 1 if one failed, 2 if something is missing on this machine.
"""

import contextlib
import difflib
import glob
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TICK_MS = 500
START_LIMIT_S = 60
CLIENT_LIMIT_S = 240
PAUSE_S = 0.02
# What a library prints by itself, among the lines of its program.
NOISE = ("yield:",)


class Missing(Exception):
    """Something that is not installed."""


# --- Clients: how each is built into a temporary folder, and the command that runs it there. ---


def c(folder):
    need("gcc")
    if not os.path.exists("/usr/include/zookeeper/zookeeper.h"):
        raise Missing("the C client: install the package libzookeeper-mt-dev")
    program = folder / "c-client"
    build(["gcc", "-Wall", "-O1", "-DTHREADED", "-o", program, HERE / "c_client.c", "-lzookeeper_mt", "-lpthread"])
    return [program]


def go(folder):
    need("go")
    if not os.path.isdir("/usr/share/gocode/src/github.com/samuel/go-zookeeper"):
        raise Missing("the Go client: install the package golang-github-samuel-go-zookeeper-dev")
    program = folder / "go-client"
    # Debian keeps the sources of packages under GOPATH: nothing is downloaded.
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "-mod=mod"}
    environment["GOCACHE"] = str(folder / "go-cache")
    build(["go", "build", "-o", program, HERE / "go_client.go"], env=environment)
    return [program]


def node(folder):
    need("npm")
    need("node")
    download(["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, "node-zookeeper-client@1.1.3"])
    return ["env", f"NODE_PATH={folder / 'node_modules'}", "node", HERE / "node_client.js"]


def node_native(folder):
    """Compiles the C client and its binding, which takes minutes: it is kept for the next run."""
    need("npm")
    need("node")
    home = pathlib.Path(shutil.which("node")).resolve().parent.parent
    if not (home / "include" / "node").is_dir():
        raise Missing("the headers of Node.js, beside its program")
    place = target() / "node-native"
    if not (place / "node_modules" / "zookeeper" / "build" / "Release" / "zookeeper.node").exists():
        options = ["--no-audit", "--no-fund", "--prefix", place]
        environment = {**os.environ, "npm_config_nodedir": str(home)}
        download(["npm", "install", "--ignore-scripts", *options, "zookeeper@7.3.0"])
        build(["npm", "rebuild", *options, "zookeeper"], env=environment)
    return ["env", f"NODE_PATH={place / 'node_modules'}", "node", HERE / "node_native_client.js"]


def rust(name):
    """A program of the Cargo project beside this file, built outside of it, where no settings of the workspace are found."""

    def made(folder):
        need("cargo")
        project = folder / "rust"
        shutil.copytree(HERE / "rust", project)
        download(["cargo", "fetch", "--quiet"], cwd=project)
        build(["cargo", "build", "--quiet", "--bin", name], cwd=project, env=cargo_environment())
        return [target() / "debug" / name]

    return made


def target():
    """Where crates are built, and kept for the next run."""
    return HERE.parents[2] / "target" / "foreign"


def cargo_environment(**more):
    return {**os.environ, "CARGO_TARGET_DIR": str(target()), **more}


# --- A test suite that starts servers of its own: the crate zookeeper-client's. ---

SUITE = "zookeeper-client"
SUITE_VERSION = "0.11.0"
SUITE_LIMIT_S = 480
LEFT_OUT = {
    # By what they need of a server. A real server of version 3.8 fails those of the second and third group as well.
    "configuration files and networks of containers": [
        "test_auth_failed", "test_readonly_plaintext", "test_update_ensemble",
    ],
    "the stat that 3.9 answers to a create in a multi": [
        "test_check_writer", "test_lock_curator::", "test_lock_custom::", "test_lock_shared::", "test_multi::",
    ],
    "the watches of 3.9, and the zxid of its notifications": ["test_watcher_coexist_on_same_path"],
    "a notification that arrives later than the client's next request leaves": ["test_watcher_remove_no_watcher"],
}


def suite(folder):
    """The suite's own sources, unmodified, with our crate `testcontainers` in the place of the original."""
    need("cargo")
    finder = folder / "finder"
    (finder / "src").mkdir(parents=True)
    (finder / "src" / "lib.rs").write_text("")
    (finder / "Cargo.toml").write_text(
        f'[package]\nname = "finder"\nedition = "2021"\n[dependencies]\n{SUITE} = "={SUITE_VERSION}"\n'
    )
    command = ["cargo", "metadata", "--format-version", "1", "--quiet"]
    told = download(command, cwd=finder)
    manifest = next(each["manifest_path"] for each in json.loads(told)["packages"] if each["name"] == SUITE)
    sources = folder / SUITE
    shutil.copytree(pathlib.Path(manifest).parent, sources)
    (sources / "Cargo.lock").unlink(missing_ok=True)
    with open(sources / "Cargo.toml", "a") as cargo:
        cargo.write(f'\n[workspace]\n\n[dev-dependencies.testcontainers]\npath = "{HERE / "testcontainers"}"\n')
    settings = {"CARGO_PROFILE_DEV_LTO": "off", "CARGO_PROFILE_DEV_DEBUG": "0"}
    environment = cargo_environment(**settings)
    download(["cargo", "fetch", "--quiet"], cwd=sources)
    build(["cargo", "test", "--quiet", "--lib", "--test", "zookeeper", "--no-run"], cwd=sources, env=environment)
    return sources, environment


def run_suite(sources, environment, place):
    """Runs the suite. Returns whether it passed, and a line for each test, in the order of their names."""
    command = ["cargo", "test", "--lib", "--test", "zookeeper", "--no-fail-fast", "--", "--test-threads=4"]
    command += [word for names in LEFT_OUT.values() for name in names for word in ("--skip", name)]
    environment = {**environment, "FOREIGN_SERVER": f"{sys.executable} {pathlib.Path(__file__).resolve()} server {place}"}
    begin = time.monotonic()
    with subprocess.Popen(
        command, cwd=sources, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    ) as tests:
        try:
            output, _ = tests.communicate(timeout=SUITE_LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(tests.pid, signal.SIGKILL)
            output = tests.communicate()[0] + f"test all ... FAILED: still running after {SUITE_LIMIT_S} s\n"
    lines = sorted(line for line in output.splitlines() if line.startswith("test ") and " ... " in line)
    print(f"{SUITE} on {place}: {sum(line.endswith('ok') for line in lines)} of {len(lines)} tests passed, "
          f"{time.monotonic() - begin:.1f} s", flush=True)
    if tests.returncode:
        print(output[-4000:])
    return tests.returncode == 0, lines


CLIENTS = {
    "c": c,
    "go": go,
    "node": node,
    "node-native": node_native,
    "zookeeper-async": rust("zookeeper-async"),
    "tokio-zookeeper": rust("tokio-zookeeper"),
    SUITE: suite,
}


def need(program):
    if not shutil.which(program):
        raise Missing(f"the program {program}")


def download(command, **options):
    """What comes from a package registry is missing where none is reached."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        raise Missing(f"{' '.join(map(str, command))}: {done.stderr.strip()[-500:]}")
    return done.stdout


def build(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout}")


# --- Ensembles: a connect string and the address of a control API. ---


@contextlib.contextmanager
def simulated(folder, properties=("-Dzookeeper.extendedTypesEnabled=true",), members=3, tick_ms=TICK_MS):
    program = os.environ.get("ZKSIM") or shutil.which("zksim")
    if not program:
        raise Missing("zksim: set ZKSIM, or put it on PATH")
    command = [program, "serve", "--servers", str(members), "--tick", f"{tick_ms}ms", *options_of(properties)]
    with open(folder / "zksim.log", "w") as log, subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=log, text=True
    ) as server:
        try:
            connect = server.stdout.readline().strip()
            control = server.stdout.readline().strip()
            if not control.startswith("control "):
                raise RuntimeError(f"zksim printed {connect!r} and {control!r}")
            yield connect, control.removeprefix("control ")
        finally:
            server.terminate()
            server.wait(timeout=10)


def options_of(properties):
    """System properties of a server as options of `zksim serve`. Those that have no counterpart are left out."""
    options = {
        "zookeeper.extendedTypesEnabled": lambda value: ["--extended-types"] if value == "true" else [],
        "zookeeper.DigestAuthenticationProvider.superDigest": lambda value: ["--super-digest", value],
        "znode.container.checkIntervalMs": lambda value: ["--reap-every", f"{value}ms"],
    }
    pairs = [each.removeprefix("-D").split("=", 1) for each in properties]
    return [word for name, value in pairs for word in options.get(name, lambda _: [])(value)]


class RealServer:
    """One member of an ensemble of Apache ZooKeeper."""

    def __init__(self, number, ports, folder, properties, tick_ms):
        self.port = ports[number][0]
        self.properties = properties
        self.folder = folder / f"server-{number}"
        data = self.folder / "data"
        data.mkdir(parents=True)
        (data / "myid").write_text(str(number + 1))
        settings = [
            f"tickTime={tick_ms}", "initLimit=10", "syncLimit=5", f"dataDir={data}", f"clientPort={self.port}",
            "clientPortAddress=127.0.0.1", "maxClientCnxns=0", "admin.enableServer=false", "4lw.commands.whitelist=*",
        ]
        if len(ports) > 1:
            settings += ["standaloneEnabled=false", "reconfigEnabled=false"]
            settings += [f"server.{n + 1}=127.0.0.1:{quorum}:{vote}" for n, (_, quorum, vote) in enumerate(ports)]
        (self.folder / "zoo.cfg").write_text("\n".join(settings) + "\n")
        self.process = None

    def start(self):
        java = pathlib.Path(os.environ["JAVA_HOME"], "bin/java") if os.environ.get("JAVA_HOME") else "java"
        command = [
            java, "-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-Dzookeeper.jmx.log4j.disable=true", "-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=4096",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", *self.properties,
            "-cp", class_path(), "org.apache.zookeeper.server.quorum.QuorumPeerMain", self.folder / "zoo.cfg",
        ]
        with open(self.folder / "server.log", "a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def state(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as stream:
                stream.settimeout(2)
                stream.sendall(b"srvr")
                answer = b""
                while more := stream.recv(4096):
                    answer += more
        except OSError:
            return "down"
        modes = [line.split()[1] for line in answer.decode().splitlines() if line.startswith("Mode:")]
        return modes[0] if modes else "looking"


def class_path():
    home = os.environ.get("ZOOKEEPER_HOME")
    if home:
        return ":".join(glob.glob(f"{home}/*.jar") + glob.glob(f"{home}/lib/*.jar"))
    jar = "/usr/share/java/zookeeper.jar"
    if not os.path.exists(jar):
        raise Missing("Apache ZooKeeper: install the package zookeeper, or set ZOOKEEPER_HOME")
    return f"{jar}:/usr/share/java/slf4j-simple.jar"


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextlib.contextmanager
def real(folder, properties=("-Dzookeeper.extendedTypesEnabled=true",), members=3, tick_ms=TICK_MS):
    need("java")
    class_path()
    flat = free_ports(3 * members)
    ports = [tuple(flat[3 * n : 3 * n + 3]) for n in range(members)]
    servers = [RealServer(number, ports, folder, properties, tick_ms) for number in range(members)]
    control = control_of(servers)
    try:
        for server in servers:
            server.start()
        deadline = time.monotonic() + START_LIMIT_S
        while any(server.state() in ("down", "looking") for server in servers):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the real ensemble does not serve after {START_LIMIT_S} s")
            time.sleep(PAUSE_S)
        yield ",".join(f"127.0.0.1:{server.port}" for server in servers), control
    finally:
        for server in servers:
            server.kill()


def control_of(servers):
    """The part of the control API that the clients need, for real servers."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            if self.path != "/restart":
                return self.answer(404, {"error": f"{self.path} is not known"})
            server = servers[body["server"]]
            server.kill()
            server.start()
            return self.answer(200, {"fault": 1})

        def do_GET(self):
            states = [{"server": n, "state": server.state()} for n, server in enumerate(servers)]
            self.answer(200, {"servers": states})

        def answer(self, status, value):
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    api = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=api.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{api.server_address[1]}"


ENSEMBLES = {"sim": simulated, "real": real}

# --- Runs. ---


def run(name, command, place, folder):
    """Runs one client on a fresh ensemble. Returns whether it passed, and its lines."""
    with ENSEMBLES[place](folder) as (connect, control), subprocess.Popen(
        [*command, connect, control],
        stdout=subprocess.PIPE,
        stderr=open(folder / f"{name}.log", "w"),
        text=True,
        start_new_session=True,
    ) as client:
        begin = time.monotonic()
        try:
            output, _ = client.communicate(timeout=CLIENT_LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(client.pid, signal.SIGKILL)
            output = client.communicate()[0] + f"FAILED: still running after {CLIENT_LIMIT_S} s\n"
        seconds = time.monotonic() - begin
    lines = [line for line in output.splitlines() if not line.startswith(NOISE)]
    passed = client.returncode == 0
    print(f"{name} on {place}: {'passed' if passed else 'FAILED'}, {len(lines)} lines, {seconds:.1f} s", flush=True)
    if not passed:
        print("\n".join(lines[-5:]))
        print((folder / f"{name}.log").read_text()[-2000:])
    return passed, lines


def serve_one(place, properties):
    """One server, for a test suite that starts its own. The tick is the one of a server that is not configured."""
    with tempfile.TemporaryDirectory(prefix="foreign-") as folder:
        with ENSEMBLES[place](pathlib.Path(folder), properties, members=1, tick_ms=2000) as (connect, _):
            print(connect, flush=True)
            sys.stdin.read()


def main():
    if sys.argv[1:2] == ["server"]:
        return serve_one(sys.argv[2], sys.argv[3:])
    places = {"sim": ["sim"], "real": ["real"], "both": ["sim", "real"]}.get(sys.argv[1] if len(sys.argv) > 1 else "")
    names = sys.argv[2:] or list(CLIENTS)
    if not places or any(name not in CLIENTS for name in names):
        sys.exit(f"{__doc__}\nClients: {' '.join(CLIENTS)}")
    failed = False
    for name in names:
        outputs = {}
        with tempfile.TemporaryDirectory(prefix="foreign-") as folder:
            folder = pathlib.Path(folder)
            made = CLIENTS[name](folder)
            for place in places:
                below = folder / place
                below.mkdir()
                if name == SUITE:
                    passed, outputs[place] = run_suite(*made, place)
                else:
                    passed, outputs[place] = run(name, made, place, below)
                failed |= not passed
        if len(places) == 1:
            print("\n".join(outputs[places[0]]))
        else:
            difference = list(difflib.unified_diff(outputs["real"], outputs["sim"], "real", "sim", lineterm="", n=0))
            print("\n".join(difference) or f"{name}: no difference")
            failed |= bool(difference)
    sys.exit(int(failed))


if __name__ == "__main__":
    # A signal ends the servers as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        main()
    except Missing as missing:
        print(f"missing: {missing}", file=sys.stderr)
        sys.exit(2)
