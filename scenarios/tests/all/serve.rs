//! `zksim serve`, as it is called: what it prints, and that a socket changes no answer of the simulation.

use crate::cases::{PIPELINE, WATCH, conformance, file, said};
use crate::refusals;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};

/// A running `zksim serve`, which ends with this value.
struct Served {
    process: Child,
    addresses: Vec<String>,
}

impl Served {
    fn start(arguments: &[&str]) -> Served {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zksim"));
        command.arg("serve").args(["--tick", "500ms"]).args(arguments);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let addresses = line.trim_end().split(',').map(str::to_owned).collect();
        Served { process, addresses }
    }

    /// What a member answers to raw bytes, up to the end of the connection.
    fn answer(&self, member: usize, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.addresses[member]).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn recorded_cases_show_no_difference_over_the_socket() {
    let served = Served::start(&[]);
    let (_folder, path) = file(&[WATCH, PIPELINE]);
    let output = conformance(&[&path, "--connect", &served.addresses[0]]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("2 of 2 cases pass"), "{}", said(&output));
}

#[test]
fn every_member_has_a_port_and_answers_to_four_letter_words() {
    let served = Served::start(&["--servers", "3"]);
    assert_eq!(served.addresses.len(), 3);
    let mut modes = Vec::new();
    for member in 0..3 {
        assert_eq!(served.answer(member, b"ruok"), "imok");
        let told = served.answer(member, b"srvr");
        modes.extend(told.lines().filter_map(|line| line.strip_prefix("Mode: ")).map(str::to_owned));
        assert!(served.answer(member, b"mntr").contains("zk_watch_count\t0\n"));
        assert!(served.answer(member, b"cons").contains("[1](queued=0,recved=0,sent=0)\n"));
        assert!(served.answer(member, b"stat").contains("Clients:\n /127.0.0.1:"));
        assert!(served.answer(member, b"wchs").ends_with("Total watches:0\n"));
    }
    modes.sort();
    assert_eq!(modes, ["follower", "follower", "leader"]);
    assert_eq!(served.answer(0, b"conf"), "conf is not executed because it is not in the whitelist.\n");
    assert_eq!(served.answer(0, b"isro"), "rw");
    // No word, but the length of a frame that is too long.
    assert_eq!(served.answer(0, b"kill"), "");
}

#[test]
fn authentication_that_cannot_be_is_refused_as_by_a_real_server() {
    let served = Served::start(&["--servers", "3"]);
    for address in &served.addresses {
        for (name, frames, answers) in refusals::table() {
            assert_eq!(refusals::answers(address, &frames), answers, "{name}, at {address}");
        }
    }
}

#[test]
fn a_member_without_a_quorum_hangs_up_on_every_client() {
    let served = zk_serve::Server::start(&zk_serve::Options { servers: 3, ..Default::default() }).unwrap();
    for server in [1, 2] {
        served.perform("crash", serde_json::json!({ "server": server })).unwrap();
    }
    let survivor = served.addresses()[0].to_string();
    // It loses its quorum within a tick; each question takes a connection.
    let is_alone = (0..1_000_000).any(|_| refusals::word(&survivor, "isro") == "null");
    assert!(is_alone, "a member without a quorum does not serve");
    refusals::does_not_serve(&survivor);
}

#[test]
fn every_member_tells_the_addresses_of_all() {
    let served = Served::start(&["--servers", "3"]);
    let port = |member: usize| served.addresses[member].rsplit_once(':').unwrap().1;
    let lines = [
        format!("server.1=127.0.0.1:2888:3888:participant;127.0.0.1:{}", port(0)),
        format!("server.2=127.0.0.1:2889:3889:participant;127.0.0.1:{}", port(1)),
        format!("server.3=127.0.0.1:2890:3890:participant;127.0.0.1:{}", port(2)),
        "version=0".to_owned(),
    ];
    for address in &served.addresses {
        let (data, stat) = refusals::data_and_stat(address, "/zookeeper/config");
        assert_eq!(data, lines.join("\n"));
        assert_eq!((stat.version, stat.czxid, stat.mzxid, stat.aversion), (-1, 0, 0, -1));
    }
    let alone = Served::start(&[]);
    assert_eq!(refusals::data_and_stat(&alone.addresses[0], "/zookeeper/config").0, "");
}

#[test]
fn nonsense_closes_its_own_connection_and_no_other() {
    let served = Served::start(&[]);
    let mut half = TcpStream::connect(&served.addresses[0]).unwrap();
    half.write_all(&[0, 0, 0]).unwrap();
    for nonsense in [&[0x7f, 0xff, 0xff, 0xff][..], &[0, 0, 0, 0], &[0, 0, 0, 3, 1, 2, 3]] {
        assert_eq!(served.answer(0, nonsense), "");
    }
    assert_eq!(served.answer(0, b"ruok"), "imok");
    half.shutdown(Shutdown::Write).unwrap();
    let mut rest = Vec::new();
    assert_eq!(half.read_to_end(&mut rest).unwrap(), 0, "a client that hangs up is hung up on");
}

#[test]
fn a_port_in_use_gets_one_sentence() {
    let served = Served::start(&[]);
    let (_, port) = served.addresses[0].rsplit_once(':').unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_zksim")).args(["serve", "--port", port]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.starts_with(&format!("error: cannot listen on 127.0.0.1:{port}: ")), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}
