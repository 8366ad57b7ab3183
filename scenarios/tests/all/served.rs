//! A running `zksim serve`, for the tests of the command line.

use crate::command::{Running, said, signal};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use zk_client::{Client, Options};

/// The program under test.
pub fn zksim() -> Command {
    Command::new(env!("CARGO_BIN_EXE_zksim"))
}

/// The status and the body of the control API's answer.
pub fn answered(mut stream: TcpStream) -> (u16, Value) {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}"));
    (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap())
}

/// A running `zksim serve`, which ends with this value.
pub struct Served {
    pub process: Running,
    pub addresses: Vec<String>,
    pub control: String,
}

impl Served {
    pub fn start(arguments: &[&str]) -> Served {
        let mut command = zksim();
        command.arg("serve").args(["--tick", "500ms"]).args(arguments).stdin(Stdio::piped());
        let mut process = Running::start(&mut command);
        let lines = process.first_lines(2);
        assert_eq!(lines.len(), 2, "{:?}", (lines.is_empty()).then(|| process.output()));
        let addresses = lines[0].split(',').map(str::to_owned).collect();
        let control = lines[1].strip_prefix("control ").unwrap().to_owned();
        Served { process, addresses, control }
    }

    /// What a member answers to raw bytes, up to the end of the connection.
    pub fn answer(&self, member: usize, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.addresses[member]).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Calls `zksim control` with this ensemble's address.
    pub fn control(&self, arguments: &[&str]) -> Output {
        zksim().args(["control", &self.control]).args(arguments).output().unwrap()
    }

    /// The same, which must succeed: what it prints.
    #[track_caller]
    pub fn told(&self, arguments: &[&str]) -> String {
        let output = self.control(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Sends a verb to the control API, whose answer is read later: in one packet, and without another process.
    pub fn ask(&self, verb: &str, fields: &Value) -> TcpStream {
        let address = self.control.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let body = fields.to_string();
        let length = body.len();
        write!(
            stream,
            "POST /{verb} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        stream
    }

    /// A client with a session.
    pub async fn client(&self) -> Client {
        Client::open(&self.addresses.join(","), Options::new(Duration::from_secs(10))).await.unwrap()
    }

    /// Sends SIGTERM and waits for the end.
    pub fn terminate(mut self) -> Output {
        signal("TERM", self.process.id());
        self.process.output()
    }
}
