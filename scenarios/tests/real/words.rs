//! Four-letter words: a real server and a served one answer each in the same form, and with the same counts.

use crate::common;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::{frame, number};
use zk_serve::{Options, Server};

const TICK: Duration = Duration::from_millis(2000);

/// The answer of a server to a word.
fn word(address: &str, word: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(word.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A session whose requests are counted: nothing pings, and nothing is sent behind its back.
struct Session {
    stream: TcpStream,
    xid: i32,
}

impl Session {
    fn open(address: &str) -> Session {
        let mut session = Session { stream: TcpStream::connect(address).unwrap(), xid: 0 };
        session.send(Out::default().int(0).long(0).int(30_000).long(0).buffer(Some(&[0; 16])).bool(false));
        session.frame();
        session
    }

    fn send(&mut self, body: &Out) {
        self.stream.write_all(&frame::of(body.as_bytes())).unwrap();
    }

    fn frame(&mut self) -> Vec<u8> {
        frame::read(&mut self.stream).unwrap()
    }

    /// Asks, and waits for the answer behind all notifications: its code.
    fn ask(&mut self, op: i32, body: &[u8]) -> i32 {
        self.xid += 1;
        let request = [Out::default().int(self.xid).int(op).as_bytes(), body].concat();
        self.stream.write_all(&frame::of(&request)).unwrap();
        loop {
            let frame = self.frame();
            let mut from = In::new(&frame);
            if from.int() == Some(self.xid) {
                from.long().unwrap();
                return from.int().unwrap();
            }
        }
    }

    /// Closes the session, and waits until the server has closed the connection, which it forgets before that.
    fn closes(mut self) {
        self.ask(number::CLOSE_SESSION, &[]);
        assert_eq!(self.stream.read(&mut [0]).unwrap(), 0, "nothing comes behind the last answer");
    }

    fn create(&mut self, path: &str, flags: i32) {
        let mut body = Out::default();
        body.text(path).buffer(Some(b"x")).int(1).int(31).text("world").text("anyone").int(flags);
        assert_eq!(self.ask(number::CREATE, body.as_bytes()), 0);
    }

    fn watches(&mut self, op: i32, path: &str) {
        self.ask(op, Out::default().text(path).bool(true).as_bytes());
    }

    fn change(&mut self, path: &str) {
        assert_eq!(
            self.ask(number::SET_DATA, Out::default().text(path).buffer(Some(b"y")).int(-1).as_bytes()),
            0
        );
    }
}

/// Runs of digits become `N`, hexadecimal numbers `X`, dates `D`: the form. Lines between which there is no order are in one.
fn form(answer: &str, has_order: bool) -> Vec<String> {
    let line = |line: &str| {
        let line = match line.split_once(" expire at ") {
            Some((count, _)) => format!("{count} expire at D"),
            None => line.to_owned(),
        };
        if line.starts_with("Zookeeper version:") {
            return "Zookeeper version:".to_owned();
        }
        let mut form = String::new();
        for part in line.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let rest = &part[word.len()..];
            form += match word {
                _ if word.starts_with("0x") => "X",
                _ if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) => "N",
                word => word,
            };
            form += rest;
        }
        form
    };
    let mut lines: Vec<String> = answer.lines().map(line).collect();
    if !has_order {
        lines.sort_unstable();
        // How many sets there are depends on the time, and a real server tells empty ones as well.
        lines.dedup_by(|line, next| line == next && line.ends_with("expire at D"));
    }
    lines
}

/// The values of `mntr` by their names.
fn figures(address: &str) -> BTreeMap<String, String> {
    let told = word(address, "mntr");
    let pair = |line: &str| line.split_once('\t').map(|(name, value)| (name.to_owned(), value.to_owned()));
    told.lines().filter_map(pair).collect()
}

/// Words whose forms are the same, and whether their lines have an order.
const FORMS: [(&str, bool); 15] = [
    ("cons", false),
    ("stat", false),
    ("srvr", true),
    ("dump", false),
    ("wchs", true),
    ("wchc", false),
    ("wchp", false),
    ("dirs", true),
    ("gtmk", true),
    ("isro", true),
    ("ruok", true),
    ("crst", true),
    ("cons", false),
    ("srst", true),
    ("srvr", true),
];

/// Words that are told exactly: they have counts alone.
const EXACT: [&str; 6] = ["wchs", "gtmk", "isro", "ruok", "crst", "srst"];

/// Figures of `mntr` that depend on what clients did, and on nothing else.
const COUNTED: [&str; 10] = [
    "zk_server_state",
    "zk_ephemerals_count",
    "zk_num_alive_connections",
    "zk_outstanding_requests",
    "zk_znode_count",
    "zk_global_sessions",
    "zk_watch_count",
    "zk_approximate_data_size",
    "zk_packets_received",
    "zk_packets_sent",
];

/// What both must tell, step by step.
fn told(address: &str) -> Vec<(String, Vec<String>)> {
    let mut told = Vec::new();
    let mut tell = |when: &str| {
        for (name, has_order) in FORMS {
            let answer = word(address, name);
            let form = if EXACT.contains(&name) { vec![answer] } else { form(&answer, has_order) };
            told.push((format!("{name}, {when}"), form));
        }
        let figures = figures(address);
        let counted = COUNTED.map(|name| format!("{name} {}", figures.get(name).map_or("", String::as_str)));
        told.push((format!("mntr, {when}"), counted.to_vec()));
        let names = word(address, "conf");
        let names = names.lines().map(|line| line.split('=').next().unwrap_or_default().to_owned());
        told.push((format!("conf, {when}"), names.collect()));
    };
    word(address, "srst");
    tell("at first");
    let (mut a, mut b) = (Session::open(address), Session::open(address));
    a.create("/e", 1);
    a.create("/p", 0);
    b.create("/f", 1);
    tell("with two sessions");
    a.watches(number::GET_DATA, "/p");
    b.watches(number::GET_DATA, "/p");
    b.watches(number::EXISTS, "/none");
    a.watches(number::GET_CHILDREN, "/");
    tell("with watches");
    a.change("/p");
    b.create("/none", 0);
    tell("after they have fired");
    a.closes();
    tell("after a session has ended");
    drop(b);
    told
}

#[test]
fn words_have_the_form_and_the_counts_of_a_real_server() {
    let Some(real) = common::server(TICK) else { return };
    let served = Server::start(&Options { tick: TICK, ..Options::default() }).unwrap();
    let (ours, theirs) = (told(&served.connect_string()), told(&real.address()));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs, "served, and real");
    }
    let (ours, theirs) = (figures(&served.connect_string()), figures(&real.address()));
    let only_ours: Vec<_> = ours.keys().filter(|name| !theirs.contains_key(*name)).collect();
    assert!(only_ours.is_empty(), "{only_ours:?}");
}

#[test]
fn a_null_path_is_answered_alike_in_requests_about_watches() {
    const NULL: [u8; 4] = [0xff; 4];
    let answers = |address: &str| {
        let mut session = Session::open(address);
        let mut ask = |op: i32, kind: i32| session.ask(op, &[&NULL[..], &kind.to_be_bytes()].concat());
        let (remove, check, add) = (number::REMOVE_WATCHES, number::CHECK_WATCHES, number::ADD_WATCH);
        let asked = [
            (remove, 3),
            (remove, 1),
            (remove, 2),
            (remove, 7),
            (check, 3),
            (add, 0),
            (remove, 3),
            (remove, 3),
            (remove, 3),
            (add, 1),
            (remove, 1),
            (remove, 2),
            (remove, 2),
        ];
        asked.map(|(op, kind)| (op, kind, ask(op, kind)))
    };
    let served = Server::start(&Options { tick: TICK, ..Options::default() }).unwrap();
    let ours = answers(&served.connect_string());
    assert_eq!(ours[0], (number::REMOVE_WATCHES, 3, -121));
    let Some(real) = common::server(TICK) else { return };
    assert_eq!(ours, answers(&real.address()));
}
