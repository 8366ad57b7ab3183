//! A session of another library in a process of its own: told by lines, and telling by lines of JSON.

use crate::common::command::{class_path, succeeds};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long something may take that nobody prevents. Java on a busy machine is slow.
const LIMIT: Duration = Duration::from_secs(60);

/// What Curator needs, by Debian's names.
const CURATOR: [&str; 10] = [
    "curator-recipes",
    "curator-framework",
    "curator-client",
    "zookeeper",
    "zookeeper-jute",
    "guava",
    "slf4j-api",
    "jackson-databind",
    "jackson-core",
    "jackson-annotations",
];

/// Another library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    Curator,
    Kazoo,
}

impl Library {
    /// The command that is one session of it, or what is missing for that.
    pub fn command(self) -> Result<Command, String> {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/interop");
        match self {
            Library::Curator => {
                // Those that come with Curator's own packages: the others are what these depend on.
                let class_path = class_path(&CURATOR, &CURATOR[..3]).map_err(|missing| {
                    format!(
                        "no Curator: {} is missing (packages libcurator-{{recipes,framework,client}}-java)",
                        missing.display()
                    )
                })?;
                if !succeeds(Command::new("javac").arg("-version")) {
                    return Err(
                        "no javac to compile Curator's part (package default-jdk-headless)".to_owned()
                    );
                }
                let mut command = Command::new("java");
                command.args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]);
                command.arg(class_path);
                command.arg(programs.join("Curator.java"));
                Ok(command)
            }
            Library::Kazoo => {
                let python = std::env::var_os("ZK_PYTHON").unwrap_or_else(|| "python3".into());
                if !succeeds(Command::new(&python).args(["-c", "import kazoo"])) {
                    return Err(format!(
                        "no Kazoo: {} cannot import it (pip install kazoo; ZK_PYTHON names another python)",
                        python.display()
                    ));
                }
                let mut command = Command::new(python);
                command.arg(programs.join("kazoo_peer.py"));
                Ok(command)
            }
        }
    }
}

/// One session of another library. Dropping it kills the process: the server then waits for the end of the session.
pub struct Peer {
    process: Child,
    told: Receiver<Value>,
}

impl Peer {
    /// Starts it, and waits until it is connected.
    pub fn start(mut command: Command, address: &str, timeout: Duration) -> Peer {
        let mut process = command
            .arg(address)
            .arg(timeout.as_millis().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it was found a moment ago");
        let lines = BufReader::new(process.stdout.take().expect("it is a pipe")).lines();
        let (tell, told) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if tell.send(event).is_err() {
                    return;
                }
            }
        });
        let mut peer = Peer { process, told };
        peer.expect("ready", "");
        peer
    }

    /// Tells it what to do.
    pub fn tell(&mut self, line: &str) {
        let pipe = self.process.stdin.as_mut().expect("it is a pipe");
        writeln!(pipe, "{line}").expect("it listens");
    }

    /// The next thing that happens there must be that.
    pub fn expect(&mut self, event: &str, id: &str) {
        let told = self.next();
        assert_eq!((told["event"].as_str(), told["id"].as_str()), (Some(event), Some(id)), "it told {told}");
    }

    /// All of these happen there, in any order, and nothing else.
    pub fn expect_all(&mut self, event: &str, ids: &[String]) {
        let mut missing: Vec<&str> = ids.iter().map(String::as_str).collect();
        while !missing.is_empty() {
            let told = self.next();
            let at = missing.iter().position(|id| told["event"] == event && told["id"] == *id);
            missing.remove(at.unwrap_or_else(|| panic!("{missing:?} should be {event}, and it told {told}")));
        }
    }

    /// Nothing has happened there that was not expected.
    pub fn is_quiet(&mut self) {
        self.tell("ping");
        self.expect("pong", "");
    }

    fn next(&self) -> Value {
        match self.told.recv_timeout(LIMIT) {
            Ok(told) => told,
            Err(RecvTimeoutError::Timeout) => panic!("nothing happens there within {} s", LIMIT.as_secs()),
            Err(RecvTimeoutError::Disconnected) => panic!("the other process is gone"),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // If it has ended by itself there is nothing to kill.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
